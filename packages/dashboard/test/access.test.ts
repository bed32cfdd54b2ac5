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

describe.skipIf(noBrowser)('every page', { timeout: 180_000 }, () => {
  let pages: Pages
  let browser: Browser
  let ada: Person
  let guest: Person
  let places: readonly Place[]

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages(), openBrowser()])
    ada = await openPerson(browser, pages.url)
    guest = await openPerson(browser, pages.url)
    await signUp(ada, pages.url)
    places = await everyPage(ada, pages, await createApp(ada, 'Portfolio'))
  }, 90_000)
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  const eachPlace = async (
    look: (page: Page) => Promise<readonly string[]>,
  ): Promise<Record<string, readonly string[]>> => {
    const found: Record<string, readonly string[]> = {}
    for (const [person, some] of [
      [guest, guestPages],
      [ada, places],
    ] as const) {
      for (const { name, path } of some) {
        await show(person.page, pages.url + path)
        const faults = await look(person.page)
        if (faults.length > 0) found[name] = faults
      }
    }
    return found
  }

  test('is clean by axe, light and dark', async () => {
    expect(
      await eachPlace(async (page) => {
        const light = await violations(page)
        await colour(page, 'dark')
        const dark = await violations(page)
        await colour(page, 'light')
        return [...light, ...dark]
      }),
    ).toEqual({})
  })

  test('fits on a phone of 360 pixels without a sideways scroll', async () => {
    for (const { page } of [ada, guest]) await page.setViewportSize({ width: 360, height: 740 })
    expect(
      await eachPlace(async (page) => {
        const menu = page.getByRole('button', { name: 'Menu' })
        if (await menu.isVisible()) await menu.click()
        const wide = await width(page)
        return wide === 360 ? [] : [`is ${String(wide)} pixels wide`]
      }),
    ).toEqual({})
    for (const { page } of [ada, guest]) await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('has a title of its own, one heading above all others, and a place to skip to', async () => {
    const titles: string[] = []
    expect(
      await eachPlace(async (page) => {
        titles.push(await page.title())
        const heads = await page.locator('h1').count()
        const mains = await page.locator('main').count()
        return heads === 1 && mains === 1 ? [] : [`${heads} headings, ${mains} main parts`]
      }),
    ).toEqual({})
    for (const title of titles) expect(title).toMatch(/^.+ · Keyrail$/)
    expect(new Set(titles).size).toBeGreaterThan(15)
  })

  test('asks nobody but the service, breaks no rule of its policy, and runs no inline script', async () => {
    await eachPlace(() => Promise.resolve([]))
    expect(ada.faults).toEqual([])
    expect(guest.faults).toEqual([])
    const response = await guest.page.goto(`${pages.url}/log-in`)
    expect(response?.headers()['content-security-policy']).toContain("script-src 'self'; style-src 'self'")
    const html = (await response?.text()) ?? ''
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|javascript:|https?:\/\//i)
    // What is in the page once it runs.
    await show(ada.page, `${pages.url}${places[3]?.path ?? ''}`)
    expect(await ada.page.evaluate('document.querySelectorAll("[style], style, script:not([src])").length')).toBe(0)
  })
})
