import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { everyPage, showEverything } from './everyPage.ts'
import { addApp, callApi } from './testUser.ts'
import type { TestUser } from './testUser.ts'

/** What the response for a page names: its files, and what its `Link` header preloads. */
const findNamed = (html: string, link: string): readonly string[] => [
  ...[...html.matchAll(/\s(?:src|href)="(\/[^"]+)"/g)]
    .map(([, path = '']) => path)
    .filter((path) => path !== '/icon.svg'),
  ...[...link.matchAll(/<([^>]+)>/g)].map(([, path = '']) => path),
]

/** What depends on the day, on what was loaded before, or on what the page shows. */
const isReadLater = /\?day=|&after=|^\/api\/keys\?$/

/** The path and query of a request. Unlike `URL`, it keeps the `?` of an empty query. */
const toPath = (request: Request): string => request.url().replace(/^\w+:\/\/[^/]+/, '')

/**
 * Loads a page in two round trips: all that its HTML names is held until the browser has requested it, and is then sent. Requests that are sent only
 * then get no response, so the page has to do without them.
 * @returns The late requests, and those that the page has named.
 */
async function loadInTwo({ context }: TestUser, url: string, isComplete: (page: Page) => Promise<unknown>) {
  const page = await context.newPage()
  const held = new Set<string>()
  const late: string[] = []
  let isReleased = false
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/*', async (route) => {
    const request = route.request()
    if (request.isNavigationRequest()) return route.continue()
    const path = toPath(request)
    if (isReleased) return void late.push(path)
    held.add(path)
    await released
    return route.continue()
  })
  const response = await page.goto(url, { waitUntil: 'commit' })
  const named = findNamed((await response?.text()) ?? '', response?.headers()['link'] ?? '')
  await expect.poll(() => named.filter((path) => !held.has(path)), { timeout: 30_000 }).toEqual([])
  isReleased = true
  release()
  await isComplete(page)
  await page.close({ runBeforeUnload: false })
  return { late, named }
}

describePages('the first load of a page', {}, (getFixtures) => {
  test('takes two round trips until the apps are there', async () => {
    const { pages, ada } = getFixtures()
    await addApp(ada, pages.url, 'Portfolio')
    const { late, named } = await loadInTwo(ada, `${pages.url}/apps`, async (page) => {
      await page.getByRole('link', { name: /Portfolio/ }).waitFor()
      await page.getByText('No requests in 24 hours').waitFor()
      await page.getByText('1 of at most').waitFor()
    })
    expect(named).toContain('/api/apps?limit=48&')
    expect(late.filter((path) => named.includes(path))).toEqual([])
  })

  test('takes two round trips until the setup of an app is there', async () => {
    const { pages, ada } = getFixtures()
    const id = await addApp(ada, pages.url, 'Portfolio')
    const { urls } = await callApi<{ urls: { testnet: string } }>(
      ada,
      pages.url,
      ['POST', `/api/apps/${id}/key/reveal`],
      {},
    )
    await callNode(urls.testnet)
    const { late, named } = await loadInTwo(ada, `${pages.url}/apps/${id}/setup`, async (page) => {
      await page.getByRole('heading', { name: 'Portfolio' }).waitFor()
      await page.getByRole('heading', { name: 'Endpoint' }).waitFor()
      await page.getByRole('heading', { name: 'Make a call' }).waitFor()
      await page.getByText('This app: 0% of the daily limit').waitFor()
    })
    expect(named).toContain(`/api/apps/${id}?`)
    expect(late.filter((path) => named.includes(path))).toEqual([])
  })

  test('a page preloads what it reads and nothing else, and loads nothing twice', async () => {
    const { pages, ada } = getFixtures()
    const shown = await showEverything(ada, pages, await addApp(ada, pages.url, 'Portfolio'))
    const page = await ada.context.newPage()
    // The requests of the browser have the preloads, whether the page reads them or not.
    await page.addInitScript(() => {
      const window = globalThis as unknown as { fetch: typeof fetch; reads: unknown[] }
      const send = window.fetch
      window.reads = []
      window.fetch = (input, init) => {
        window.reads.push(input)
        return send(input, init)
      }
    })
    const problems: string[] = []
    for (const { name, path } of everyPage) {
      const requests: string[] = []
      const onRequest = (request: Request): void => void requests.push(toPath(request))
      page.on('request', onRequest)
      const response = await page.goto(pages.url + path(shown))
      await page.locator('#root h1').waitFor()
      await page.waitForLoadState('networkidle')
      page.off('request', onRequest)
      const reads = (await page.evaluate('reads')) as readonly string[]
      const preloaded = findNamed('', response?.headers()['link'] ?? '')
      // A request has no row of preloads.
      const preloadsData = preloaded.some((one) => one.startsWith('/api/'))
      problems.push(
        ...preloaded
          .filter((one) => one.startsWith('/api/') && !reads.includes(one))
          .map((one) => `${name}: ${one} is not read`),
        ...preloaded
          // Scripts are loaded ahead of other pages too.
          .filter((one) => one.startsWith('/api/') && requests.indexOf(one) !== requests.lastIndexOf(one))
          .map((one) => `${name}: ${one} is loaded twice`),
        ...reads
          .filter((one) => preloadsData && !preloaded.includes(one) && !isReadLater.test(one))
          .map((one) => `${name}: ${one} is not preloaded`),
      )
    }
    // Its app is looked for, and not found.
    expect(problems.filter((problem) => !problem.startsWith('no app: '))).toEqual([])
    await page.close()
  })

  test('a session that has expired leads to the log-in, and after it to the page with its data', async () => {
    const { pages, ada } = getFixtures()
    const { page, context } = ada
    await addApp(ada, pages.url, 'Portfolio')
    // The browser still sends the cookie, so the service preloads, and each preload is rejected.
    const cookies = await context.cookies()
    await callApi(ada, pages.url, ['DELETE', '/api/session'])
    await context.addCookies(cookies)
    await page.goto(`${pages.url}/apps`)
    await page.getByLabel('Email address').fill(ada.email)
    await page.getByLabel('Password').fill(ada.password)
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByRole('link', { name: /Portfolio/ }).waitFor()
    expect(page.url()).toBe(`${pages.url}/apps`)
  })

  test('a team gets its own apps, and none that were preloaded', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    await addApp(ada, pages.url, 'Portfolio')
    const { id } = await callApi<{ id: string }>(ada, pages.url, ['POST', '/api/accounts'], { name: 'Acme' })
    await addApp({ ...ada, account: id }, pages.url, 'Shop')
    await page.goto(`${pages.url}/apps`)
    await page.getByRole('link', { name: /Portfolio/ }).waitFor()
    await page.getByLabel('Account').selectOption({ label: 'Acme' })
    await page.getByRole('link', { name: /Shop/ }).waitFor()
    const response = await page.reload()
    await page.getByRole('link', { name: /Shop/ }).waitFor()
    expect(await page.getByRole('link', { name: /Portfolio/ }).count()).toBe(0)
    expect(response?.headers()['link']).not.toContain('/api/')
  })
})
