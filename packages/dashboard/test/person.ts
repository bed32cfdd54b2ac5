import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { Browser, BrowserContext, Page } from 'playwright-core'

/** Somebody at a browser. */
export interface Person {
  readonly page: Page
  readonly context: BrowserContext
  readonly email: string
  readonly password: string
  /** What went wrong in any of the pages: errors, what the policy forbids, secrets in URLs, and requests that leave the service. */
  readonly faults: string[]
  readonly close: () => Promise<void>
}

/** Keys, tokens, invites and links, and JWTs. */
const secret = /kr(?:_[atm]|[pile]_)[0-9A-Za-z]{39}|eyJ[\w-]+\./

const credentials = (): Pick<Person, 'email' | 'password'> => ({
  email: `${randomBytes(6).toString('hex')}@example.org`,
  password: randomBytes(12).toString('hex'),
})

/** Sits somebody down before a browser of their own. Nothing of it is kept. */
export async function openPerson(
  browser: Browser,
  url: string,
  options: { readonly width?: number; readonly colorScheme?: 'light' | 'dark' } = {},
): Promise<Person> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 900 },
    colorScheme: options.colorScheme ?? 'light',
    reducedMotion: 'reduce',
  })
  // Only catches hangs.
  context.setDefaultTimeout(60_000)
  // All pages of a browser share one clipboard, and test files share the browser: each person gets a clipboard of their own.
  await context.addInitScript(() => {
    let held = ''
    const own = { writeText: async (text: string) => void (held = text), readText: async () => held }
    Object.defineProperty((globalThis as unknown as { navigator: object }).navigator, 'clipboard', {
      value: own,
      configurable: true,
    })
  })
  const faults: string[] = []
  context.on('page', (page) => {
    page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
    page.on('console', (message) => {
      // Error responses are expected. Other errors are not, such as violations of the content security policy.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        faults.push(message.text())
    })
    page.on('request', (request) => {
      if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:'))
        faults.push(`asks ${request.url()}`)
      // The fragment is not sent. Calls that a page runs have the key in their URL, as those of programs do.
      const isCall = request.method() === 'POST' && /\/\w+\/(?:v2\/)?kr_[atm]\w{39}$/.test(request.url())
      if (!isCall && secret.test(request.url().split('#')[0] ?? '')) faults.push('a secret is in the URL of a request')
    })
  })
  return {
    page: await context.newPage(),
    context,
    ...credentials(),
    faults,
    close: () => context.close(),
  }
}

/**
 * Somebody else sits down where somebody sat: nobody is logged in, and nothing is shown. A browser of one's own for each test costs more than
 * all that the tests do in it.
 */
export async function takeSeat(seat: Person): Promise<Person> {
  const { page, context, faults } = seat
  // First of all, so that what was open notices nothing.
  await page.goto('about:blank')
  await context.clearCookies()
  await page.setViewportSize({ width: 1280, height: 900 })
  faults.length = 0
  return { ...seat, ...credentials() }
}

/** Signs up, which leads to the first app. */
export async function signUp({ page, email, password }: Person, url: string): Promise<void> {
  await page.goto(`${url}/sign-up`)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
}

/** Signs up through the API. The pages are logged in afterwards. For tests that need an account. */
export async function enrol(person: Person, url: string): Promise<void> {
  await askApi(person, url, ['POST', '/api/account'], { email: person.email, password: person.password })
}

/** Logs in from wherever one was led to. */
export async function logIn({ page, email, password }: Person): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** Goes through the wizard. @returns The app's id. */
export async function createApp({ page }: Person, name: string): Promise<string> {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Use case').selectOption('Wallet')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByLabel('Find a chain').fill('ether')
  await page.getByLabel('Find a chain').press('Enter')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Create app' }).click()
  await page.waitForURL(/\/apps\/app_\w+\/setup/)
  return /app_\w+/.exec(page.url())?.[0] ?? ''
}

/** Makes an app without the wizard. @returns Its id. */
export async function addApp(person: Person, url: string, name: string): Promise<string> {
  const { app } = await askApi<{ app: { id: string } }>(person, url, ['POST', '/api/apps'], {
    name,
    useCase: 'Wallet',
    chain: 'ethereum',
    services: ['Node API'],
  })
  return app.id
}

/** Asks the control API as the page would. */
export async function askApi<Answer>(
  { context }: Person,
  url: string,
  [method, path]: readonly [method: string, path: string],
  body?: unknown,
): Promise<Answer> {
  const response = await context.request.fetch(`${url}${path}`, {
    method,
    headers: { origin: url, 'content-type': 'application/json' },
    ...(body !== undefined && { data: JSON.stringify(body) }),
  })
  expect(response.status(), `${method} ${path}: ${await response.text()}`).toBeLessThan(300)
  return (await response.json().catch(() => undefined)) as Answer
}

/** What the last copy put on the clipboard. */
export const clipboard = ({ page }: Person): Promise<string> =>
  page.evaluate(() => (globalThis as unknown as { navigator: Navigator }).navigator.clipboard.readText())
