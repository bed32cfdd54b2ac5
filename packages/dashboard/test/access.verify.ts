import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { colorRules, findViolations, setColorScheme } from './findViolations.ts'
import { everyPage, guestPages, showEverything } from './everyPage.ts'
import type { PageEntry, Shown } from './everyPage.ts'
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

/** Pages without requests to the service, except for the session. */
const withoutRequests: ReadonlySet<string> = new Set(['members', 'no page'])

/** Dialogs, each with the page and the button that opens it. */
const dialogs: readonly { readonly path: (app: string) => string; readonly button: string | RegExp }[] = [
  { path: (app) => `/apps/${app}/settings/advanced`, button: 'Rotate key' },
  { path: (app) => `/apps/${app}/settings/advanced`, button: 'Require JWT' },
  { path: (app) => `/apps/${app}/settings/allow-list`, button: 'Edit label: 127.0.0.0/8' },
  { path: (app) => `/apps/${app}/settings/allow-list`, button: 'Remove 127.0.0.0/8' },
  { path: (app) => `/apps/${app}/settings/jwt-keys`, button: /^Remove / },
  { path: () => '/account/security', button: 'Delete the account' },
  { path: () => '/apps', button: /^Go to/ },
]

describe('every page', needs('chromium'), () => {
  let pages: Pages
  let browser: Browser
  let ada: TestUser
  let guest: TestUser
  let shown: Shown
  const titles: string[] = []

  /**
   * Expects of the current page: one h1 and one main element, nothing inline, no violations of axe, light and dark, and no horizontal
   * scrolling on a phone of 360 pixels.
   */
  const expectAccessible = async (page: Page): Promise<void> => {
    const light = await findViolations(page)
    await setColorScheme(page, 'dark')
    const dark = await findViolations(page, colorRules)
    await setColorScheme(page, 'light')
    const found = {
      heads: await page.locator('h1').count(),
      mains: await page.locator('main').count(),
      inline: await page.evaluate('document.querySelectorAll("[style], style, script:not([src])").length'),
      violations: [...light, ...dark],
    }
    await page.setViewportSize({ width: 360, height: 740 })
    const menu = page.getByRole('button', { name: 'Menu' })
    const isMenuThere = (await menu.isVisible()) && (await page.locator('dialog').count()) === 0
    if (isMenuThere) await menu.click()
    const width = await page.evaluate('document.documentElement.scrollWidth')
    if (isMenuThere) await menu.click()
    await page.setViewportSize({ width: 1280, height: 900 })
    expect({ ...found, width }).toEqual({ heads: 1, mains: 1, inline: 0, violations: [], width: 360 })
  }

  /** Opens a page while the service rejects its requests, and retries once the service accepts them. */
  const recover = async (page: Page, { name, path }: PageEntry): Promise<void> => {
    const isApiRequest = (url: URL): boolean => /^\/api\/(?!session$)/.test(url.pathname)
    await page.route(isApiRequest, (route) =>
      route.fulfill({ status: 429, json: { error: { code: 'too_many_requests', message: 'wait a second' } } }),
    )
    const again = page.getByRole('button', { name: 'Try again' })
    try {
      await page.goto(pages.url + path(shown))
      await waitUntilLoaded(page)
      expect(await page.locator('h1').count()).toBe(1)
      expect((await again.count()) > 0).toBe(!withoutRequests.has(name))
    } finally {
      await page.unroute(isApiRequest)
    }
    if (withoutRequests.has(name)) await page.reload()
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
    shown = await showEverything(ada, pages, await addApp(ada, pages.url, 'Portfolio'))
  }, 120_000)
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  test.each(guestPages)('$name is accessible', async ({ path }) => {
    await guest.page.goto(pages.url + path(shown))
    await waitUntilLoaded(guest.page)
    titles.push(await guest.page.title())
    await expectAccessible(guest.page)
  })

  test.each(everyPage)(
    '$name recovers from a rejected request, is accessible and links to its documentation',
    async (entry) => {
      const { page } = ada
      await recover(page, entry)
      titles.push(await page.title())
      await expectAccessible(page)
      if (entry.name === 'no page') return
      const help = page.locator('.page-title').getByRole('link', { name: /^Documentation: / })
      expect(await help.getAttribute('href')).toMatch(/^https:\/\/docs\.example\/[\w/-]+\.html(?:#[\w-]+)?$/)
    },
  )

  test('the list of networks and the folded fields of "create app" are accessible', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/apps/new`)
    const networks = page.getByRole('combobox', { name: 'Chains and networks' })
    await networks.press('ArrowDown')
    await page.getByRole('listbox', { name: 'Results' }).getByRole('option', { selected: true }).first().waitFor()
    await expectAccessible(page)
    await networks.press('Escape')
    await page.getByText('Description, use case and services').click()
    await page.getByRole('group', { name: 'services', exact: false }).waitFor()
    await expectAccessible(page)
  })

  test.each(dialogs)('the dialog of "$button" is accessible', async ({ path, button }) => {
    const { page } = ada
    await page.goto(pages.url + path(shown.app))
    await page.getByRole('button', { name: button }).click()
    await page.getByRole('dialog').waitFor()
    await expectAccessible(page)
  })

  test.each(everyPage.filter(({ name }) => name.startsWith('setup')))(
    'the response in $name is accessible',
    async ({ path }) => {
      const { page } = ada
      await page.goto(pages.url + path(shown))
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('region', { name: 'Response body' }).waitFor()
      await expectAccessible(page)
    },
  )

  test('has its own title', () => {
    expect(titles).toHaveLength(everyPage.length + guestPages.length)
    for (const title of titles) expect(title).toMatch(/^.+ · Keyrail$/)
    expect(new Set(titles).size).toBeGreaterThan(15)
  })

  test('requests only the service, and violates no content security policy', async () => {
    expect(ada.problems).toEqual([])
    expect(guest.problems).toEqual([])
    const response = await guest.page.goto(`${pages.url}/log-in`)
    expect(response?.headers()['content-security-policy']).toContain("script-src 'self'; style-src 'self'")
    const html = (await response?.text()) ?? ''
    expect(html).toContain('<script')
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|javascript:|https?:\/\//i)
  })
})
