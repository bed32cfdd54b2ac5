import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { colorRules, findViolations, setColorScheme } from './findViolations.ts'
import { everyPage, guestPages } from './everyPage.ts'
import type { PageEntry } from './everyPage.ts'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { addApp, signUpByApi, openUser } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

/** Waits until a page is loaded. */
async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator('#root h1').waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
}

const width = (page: Page): Promise<unknown> => page.evaluate('document.documentElement.scrollWidth')

/** Pages without requests to the service. */
const withoutRequests: ReadonlySet<string> = new Set(['no page'])

/** Problems of pages, by name. */
type Problems = Record<string, readonly string[]>

describe('every page', needs('chromium'), () => {
  let pages: Pages
  let browser: Browser
  let ada: TestUser
  let guest: TestUser
  let entries: readonly PageEntry[]
  const found = {
    axe: {} as Problems,
    phone: {} as Problems,
    heads: {} as Problems,
    inline: {} as Problems,
    failed: {} as Problems,
  }
  const titles: string[] = []

  const note = (kind: keyof typeof found, name: string, problems: readonly string[]): void => {
    if (problems.length > 0) found[kind][name] = problems
  }

  /** Inspects the current page, light and dark, wide and narrow. */
  const inspect = async (page: Page, name: string): Promise<void> => {
    const [heads, mains] = [await page.locator('h1').count(), await page.locator('main').count()]
    note('heads', name, heads === 1 && mains === 1 ? [] : [`${heads} headings, ${mains} main parts`])
    const inline = await page.evaluate('document.querySelectorAll("[style], style, script:not([src])").length')
    note('inline', name, inline === 0 ? [] : [`${String(inline)} inline styles and scripts`])
    const light = await findViolations(page)
    await setColorScheme(page, 'dark')
    note('axe', name, [...light, ...(await findViolations(page, colorRules))])
    await setColorScheme(page, 'light')
    await page.setViewportSize({ width: 360, height: 740 })
    const menu = page.getByRole('button', { name: 'Menu' })
    const isMenuThere = (await menu.isVisible()) && (await page.locator('dialog').count()) === 0
    if (isMenuThere) await menu.click()
    const wide = await width(page)
    note('phone', name, wide === 360 ? [] : [`is ${String(wide)} pixels wide`])
    if (isMenuThere) await menu.click()
    await page.setViewportSize({ width: 1280, height: 900 })
  }

  /** Opens a page while the service rejects its requests, and retries once the service accepts them. */
  const recover = async (page: Page, { name, path }: PageEntry): Promise<void> => {
    const isApiRequest = (url: URL): boolean => /^\/api\/(?!session$)/.test(url.pathname)
    await page.route(isApiRequest, (route) =>
      route.fulfill({ status: 429, json: { error: { code: 'too_many_requests', message: 'wait a second' } } }),
    )
    await page.goto(pages.url + path)
    await waitUntilLoaded(page)
    const again = page.getByRole('button', { name: 'Try again' })
    const [buttons, heads] = [await again.count(), await page.locator('h1').count()]
    note(
      'failed',
      name,
      buttons > 0 === !withoutRequests.has(name) && heads === 1 ? [] : [`${buttons} problems, ${heads} headings`],
    )
    await page.unroute(isApiRequest)
    for (let left = await again.count(); left > 0; left = await again.count()) {
      // A part that retries automatically may have recovered already.
      await again
        .first()
        .click({ timeout: 5_000 })
        .catch(() => undefined)
      await again
        .nth(left - 1)
        .waitFor({ state: 'detached', timeout: 10_000 })
        .catch(() => undefined)
      await waitUntilLoaded(page)
    }
  }

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages({ docsUrl: 'https://docs.example' }), openBrowser()])
    ada = await openUser(browser, pages.url)
    guest = await openUser(browser, pages.url)
    await signUpByApi(ada, pages.url)
    const appId = await addApp(ada, pages.url, 'Portfolio')
    entries = await everyPage(ada, pages, appId)
    for (const { name, path } of guestPages) {
      await guest.page.goto(pages.url + path)
      await waitUntilLoaded(guest.page)
      titles.push(await guest.page.title())
      await inspect(guest.page, name)
    }
    const { page } = ada
    for (const entry of entries) {
      await recover(page, entry)
      titles.push(await page.title())
      await inspect(page, entry.name)
    }
    // Steps and dialogs without their own URL.
    await page.goto(`${pages.url}/apps/new`)
    await page.getByLabel('Name').fill('Second')
    await page.getByLabel('Use case').selectOption('Wallet')
    for (const step of ['networks', 'services']) {
      await page.getByRole('button', { name: 'Next' }).click()
      await page.getByRole('group', { name: step, exact: false }).waitFor()
      await inspect(page, `create app: ${step}`)
      if (step === 'services') break
      await page.getByLabel('Find a chain').press('ArrowDown')
      await page.getByRole('option').first().waitFor()
      await inspect(page, 'create app: search')
      await page.getByLabel('Find a chain').press('Escape')
    }
    for (const [path, button] of [
      [`/apps/${appId}/settings/advanced`, 'Rotate key'],
      [`/apps/${appId}/settings/advanced`, 'Require JWT'],
      [`/apps/${appId}/settings/allow-list`, 'Edit label: 127.0.0.0/8'],
      [`/apps/${appId}/settings/allow-list`, 'Remove 127.0.0.0/8'],
      [`/apps/${appId}/settings/jwt-keys`, /^Remove /],
      ['/account/security', 'Delete the account'],
    ] as const) {
      await page.goto(pages.url + path)
      await page.getByRole('button', { name: button }).click()
      await page.getByRole('dialog').waitFor()
      await inspect(page, `dialog: ${String(button)}`)
    }
    for (const { name, path } of entries.filter((one) => one.name.startsWith('setup'))) {
      await page.goto(pages.url + path)
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('region', { name: 'Response body' }).waitFor()
      await inspect(page, `response in ${name}`)
    }
  }, 300_000)
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  test('passes axe, light and dark', () => {
    expect(titles).toHaveLength(entries.length + guestPages.length)
    expect(found.axe).toEqual({})
  })

  test('shows an error under its heading when the service rejects its request, and recovers', () => {
    expect(found.failed).toEqual({})
  })

  test('fits a phone of 360 pixels without horizontal scrolling', () => {
    expect(found.phone).toEqual({})
  })

  test('has its own title, one h1 and one main element', () => {
    expect(found.heads).toEqual({})
    for (const title of titles) expect(title).toMatch(/^.+ · Keyrail$/)
    expect(new Set(titles).size).toBeGreaterThan(15)
  })

  test('links to its documentation', { timeout: 180_000 }, async () => {
    const { page } = ada
    for (const { path } of entries.filter(({ name }) => name !== 'no page')) {
      await page.goto(pages.url + path)
      const help = page.locator('.page-title').getByRole('link', { name: /^Documentation: / })
      expect(await help.getAttribute('href'), path).toMatch(/^https:\/\/docs\.example\/[\w/-]+\.html(?:#[\w-]+)?$/)
    }
  })

  test('requests only the service, violates no content security policy, and has nothing inline', async () => {
    expect(ada.problems).toEqual([])
    expect(guest.problems).toEqual([])
    expect(found.inline).toEqual({})
    const response = await guest.page.goto(`${pages.url}/log-in`)
    expect(response?.headers()['content-security-policy']).toContain("script-src 'self'; style-src 'self'")
    const html = (await response?.text()) ?? ''
    expect(html).toContain('<script')
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|javascript:|https?:\/\//i)
  })
})
