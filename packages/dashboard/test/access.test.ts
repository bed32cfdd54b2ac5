import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyPage, guestPages } from './everyPage.ts'
import type { Place } from './everyPage.ts'
import { noBrowser, openBrowser } from './openBrowser.ts'
import { createApp, openPerson, signUp } from './person.ts'
import type { Person } from './person.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as readonly Violation[]
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

async function show(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.locator('h1').waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
}

async function colour(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  // What is seen is what was drawn.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
}

const width = (page: Page): Promise<unknown> => page.evaluate('document.documentElement.scrollWidth')

/** What is wrong with pages, by the page's name. */
type Faults = Record<string, readonly string[]>

describe.skipIf(noBrowser)('every page', { timeout: 60_000 }, () => {
  let pages: Pages
  let browser: Browser
  let ada: Person
  let guest: Person
  let places: readonly Place[]
  const found = { axe: {} as Faults, phone: {} as Faults, heads: {} as Faults, inline: {} as Faults }
  const titles: string[] = []

  const look = async (page: Page, { name, path }: Place): Promise<void> => {
    const note = (kind: keyof typeof found, faults: readonly string[]): void => {
      if (faults.length > 0) found[kind][name] = faults
    }
    await show(page, pages.url + path)
    titles.push(await page.title())
    const [heads, mains] = [await page.locator('h1').count(), await page.locator('main').count()]
    note('heads', heads === 1 && mains === 1 ? [] : [`${heads} headings, ${mains} main parts`])
    const inline = await page.evaluate('document.querySelectorAll("[style], style, script:not([src])").length')
    note('inline', inline === 0 ? [] : [`${String(inline)} inline styles and scripts`])
    const light = await violations(page)
    await colour(page, 'dark')
    note('axe', [...light, ...(await violations(page))])
    await colour(page, 'light')
    await page.setViewportSize({ width: 360, height: 740 })
    const menu = page.getByRole('button', { name: 'Menu' })
    if (await menu.isVisible()) await menu.click()
    const wide = await width(page)
    note('phone', wide === 360 ? [] : [`is ${String(wide)} pixels wide`])
    await page.setViewportSize({ width: 1280, height: 900 })
  }

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages(), openBrowser()])
    ada = await openPerson(browser, pages.url)
    guest = await openPerson(browser, pages.url)
    await signUp(ada, pages.url)
    places = await everyPage(ada, pages, await createApp(ada, 'Portfolio'))
    for (const place of guestPages) await look(guest.page, place)
    for (const place of places) await look(ada.page, place)
  }, 300_000)
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  test('is clean by axe, light and dark', () => {
    expect(titles).toHaveLength(places.length + guestPages.length)
    expect(found.axe).toEqual({})
  })

  test('fits on a phone of 360 pixels without a sideways scroll', () => {
    expect(found.phone).toEqual({})
  })

  test('has a title of its own, one heading above all others, and one main part', () => {
    expect(found.heads).toEqual({})
    for (const title of titles) expect(title).toMatch(/^.+ · Keyrail$/)
    expect(new Set(titles).size).toBeGreaterThan(15)
  })

  test('asks nobody but the service, breaks no rule of its policy, and holds nothing inline', async () => {
    expect(ada.faults).toEqual([])
    expect(guest.faults).toEqual([])
    expect(found.inline).toEqual({})
    const response = await guest.page.goto(`${pages.url}/log-in`)
    expect(response?.headers()['content-security-policy']).toContain("script-src 'self'; style-src 'self'")
    const html = (await response?.text()) ?? ''
    expect(html).toContain('<script')
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|javascript:|https?:\/\//i)
  })
})
