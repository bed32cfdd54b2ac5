import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { Browser, BrowserContext, Page } from 'playwright-core'

/** A user with a browser. */
export interface TestUser {
  readonly page: Page
  readonly context: BrowserContext
  readonly email: string
  readonly password: string
  /** The account that requests of `callApi` act for. @default the personal one */
  readonly account?: string
  /** Problems of all pages: errors, policy violations, secrets in URLs, and requests to other hosts. */
  readonly problems: string[]
  readonly close: () => Promise<void>
}

/** Keys, tokens, invites and links, and JWTs. */
const secret = /kr(?:_[atm]|[piledm]_)[0-9A-Za-z]{39}|eyJ[\w-]+\./

const credentials = (): Pick<TestUser, 'email' | 'password'> => ({
  email: `${randomBytes(6).toString('hex')}@example.org`,
  password: randomBytes(12).toString('hex'),
})

/** Opens a browser context for a new user. */
export async function openUser(
  browser: Browser,
  url: string,
  options: { readonly width?: number; readonly colorScheme?: 'light' | 'dark' } = {},
): Promise<TestUser> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 900 },
    colorScheme: options.colorScheme ?? 'light',
    reducedMotion: 'reduce',
  })
  // Only catches hangs.
  context.setDefaultTimeout(60_000)
  // All pages of a browser share one clipboard, and test files share the browser: each user gets a clipboard of their own.
  await context.addInitScript(() => {
    let held = ''
    const own = { writeText: async (text: string) => void (held = text), readText: async () => held }
    Object.defineProperty((globalThis as unknown as { navigator: object }).navigator, 'clipboard', {
      value: own,
      configurable: true,
    })
  })
  const problems: string[] = []
  context.on('page', (page) => {
    page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
    page.on('console', (message) => {
      // Error responses are expected. Other errors are not, such as violations of the content security policy.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        problems.push(message.text())
    })
    page.on('request', (request) => {
      if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:'))
        problems.push(`requests ${request.url()}`)
      // The fragment is not sent. Calls that a page runs have the key in their URL, as those of programs do.
      const isCall = request.method() === 'POST' && /\/\w+\/(?:v2\/)?kr_[atm]\w{39}$/.test(request.url())
      if (!isCall && secret.test(request.url().split('#')[0] ?? ''))
        problems.push('a secret is in the URL of a request')
    })
  })
  return {
    page: await context.newPage(),
    context,
    ...credentials(),
    problems,
    close: () => context.close(),
  }
}

/**
 * Reuses a browser context for another user, who is not logged in. A new context for each test would take longer than the tests.
 */
export async function switchUser(browserUser: TestUser): Promise<TestUser> {
  const { page, context, problems } = browserUser
  // First, so that the open page does not notice.
  await page.goto('about:blank')
  await context.clearCookies()
  await page.setViewportSize({ width: 1280, height: 900 })
  problems.length = 0
  return { ...browserUser, ...credentials() }
}

/** Signs up, which leads to the first app. */
export async function signUp({ page, email, password }: TestUser, url: string): Promise<void> {
  await page.goto(`${url}/sign-up`)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
}

/** Signs up through the API. The pages are logged in afterwards. For tests that need an account. */
export async function signUpByApi(user: TestUser, url: string): Promise<void> {
  await callApi(user, url, ['POST', '/api/account'], { email: user.email, password: user.password })
}

/** Logs in on the current page. */
export async function logIn({ page, email, password }: TestUser): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
}

/** Creates an app on the page for it, with the defaults. @returns Its id. */
export async function createApp({ page }: TestUser, name: string): Promise<string> {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Name').press('Enter')
  await page.waitForURL(/\/apps\/app_\w+\/setup/)
  return /app_\w+/.exec(page.url())?.[0] ?? ''
}

/** Creates an app through the API. @returns Its id. */
export async function addApp(user: TestUser, url: string, name: string): Promise<string> {
  const { app } = await callApi<{ app: { id: string } }>(user, url, ['POST', '/api/apps'], {
    name,
    useCase: 'Wallet',
    chain: 'ethereum',
    services: ['Node API'],
  })
  return app.id
}

/** Sends a request to the control API with the session of the user. */
export async function callApi<T>(
  { context, account }: TestUser,
  url: string,
  [method, path]: readonly [method: string, path: string],
  body?: unknown,
): Promise<T> {
  const response = await context.request.fetch(`${url}${path}`, {
    method,
    headers: {
      origin: url,
      'content-type': 'application/json',
      ...(account !== undefined && { 'x-keyrail-account': account }),
    },
    ...(body !== undefined && { data: JSON.stringify(body) }),
  })
  expect(response.status(), `${method} ${path}: ${await response.text()}`).toBeLessThan(300)
  return (await response.json().catch(() => undefined)) as T
}

/** The text on the clipboard. */
export const clipboard = ({ page }: TestUser): Promise<string> =>
  page.evaluate(() => (globalThis as unknown as { navigator: Navigator }).navigator.clipboard.readText())
