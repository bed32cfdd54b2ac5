import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { noBrowser, openBrowser } from './openBrowser.ts'
import { clipboard, openPerson } from './person.ts'
import type { Person } from './person.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'

/** What has the focus: its role or tag, and its name as it is read out. */
interface Focused {
  readonly name: string
  readonly isSeen: boolean
}

const focused = (page: Page): Promise<Focused> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement
    const labels = 'labels' in element ? [...((element as HTMLInputElement).labels ?? [])] : []
    const name = element.getAttribute('aria-label') ?? labels[0]?.textContent ?? element.textContent ?? ''
    const box = (element.closest('label') ?? element).getBoundingClientRect()
    const style = getComputedStyle(element.closest('label') ?? element)
    const ring = [style, getComputedStyle(element)].some(
      ({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && outlineWidth !== '0px',
    )
    // The parts of a field for a day are the browser's own, and it marks them itself.
    const isDay = element instanceof HTMLInputElement && element.type === 'date'
    return { name: name.trim(), isSeen: isDay || (box.width > 0 && box.height > 0 && ring) }
  })

describe.skipIf(noBrowser)('by keyboard alone', { timeout: 120_000 }, () => {
  let pages: Pages
  let browser: Browser
  let ada: Person

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages(), openBrowser()])
    ada = await openPerson(browser, pages.url)
  }, 60_000)
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  /** Presses Tab until something of that name has the focus, and sees that the focus can be seen all the way. */
  const tabTo = async (name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> => {
    const passed: string[] = []
    for (let presses = 0; presses < 60; presses += 1) {
      await ada.page.keyboard.press(key)
      const at = await focused(ada.page)
      passed.push(at.name)
      // The skip link slides in, and the page's own frame lies outside of it.
      if (at.name !== '' && !at.name.startsWith('Skip'))
        expect(at.isSeen, `the focus on ${at.name} is not seen`).toBe(true)
      if (typeof name === 'string' ? at.name === name : name.test(at.name)) return
    }
    throw new Error(`${String(name)} was not reached: ${passed.join(' | ')}`)
  }

  test('sign up, make an app, copy its address, allow an origin, rotate, and delete it', async () => {
    const { page, mail, password, faults } = ada
    const { keyboard } = page
    await page.goto(`${pages.url}/sign-up`)
    await page.locator('h1').waitFor()
    await tabTo('Mail address')
    await keyboard.type(mail)
    await tabTo('Password')
    await keyboard.type(password)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()

    await tabTo('Name')
    await keyboard.type('Portfolio')
    await tabTo('Use case')
    await keyboard.type('Wal')
    await tabTo('Next')
    await keyboard.press('Enter')
    await page.getByLabel('Find a chain').waitFor()
    expect((await focused(page)).name).toBe('Find a chain')
    await tabTo(/^Ethereum/)
    await keyboard.press('Space')
    await tabTo('Next')
    await keyboard.press('Enter')
    await page.getByRole('checkbox', { name: /Node API/ }).waitFor()
    await tabTo('Create app')
    await keyboard.press('Enter')
    await page.waitForURL(/\/setup/)

    // The first thing that is reached leads past the menu.
    await page.reload()
    await page.locator('pre').waitFor()
    await page.evaluate('document.activeElement.blur()')
    await keyboard.press('Tab')
    expect((await focused(page)).name).toBe('Skip to the page')
    await keyboard.press('Enter')
    await tabTo('Networks')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Ethereum Testnet' }).waitFor()
    await tabTo('Copy: address on Testnet')
    await keyboard.press('Enter')
    await page.getByText('Copied: address on Testnet').waitFor()
    const address = await clipboard(ada)
    expect(await callNode(address, 'eth_chainId')).toMatchObject({ status: 200 })

    await tabTo('Settings', 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'About it' }).waitFor()
    await tabTo('Allow list')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Origins' }).waitFor()
    await tabTo('Origin')
    await keyboard.type('https://app.example.com')
    await keyboard.press('Enter')
    await page.getByRole('row', { name: /https:\/\/app\.example\.com/ }).waitFor()
    await tabTo('Remove https://app.example.com')
    await keyboard.press('Enter')
    await page.getByRole('row', { name: /https:\/\/app\.example\.com/ }).waitFor({ state: 'detached' })

    await tabTo('Advanced configuration', 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'About it' }).waitFor()
    await tabTo('Rotate key')
    await keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Rotate key' })
    await dialog.waitFor()
    // Nothing behind a dialog is reached, and Escape leads back to where one came from.
    for (let presses = 0; presses < 6; presses += 1) {
      await keyboard.press('Tab')
      expect(
        await page.evaluate(
          'document.activeElement === document.body || document.querySelector("dialog").contains(document.activeElement)',
        ),
      ).toBe(true)
    }
    await keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect((await focused(page)).name).toBe('Rotate key')
    await keyboard.press('Enter')
    await dialog.waitFor()
    expect((await focused(page)).name).toBe('The old key works for')
    await keyboard.press('Home')
    await tabTo('Rotate key')
    await keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await callNode(address, 'eth_chainId')).toMatchObject({ status: 401 })

    await tabTo('Delete app', 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByLabel('Name of the app').waitFor()
    await tabTo('Name of the app')
    await keyboard.type('Portfolio')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'No apps yet' }).waitFor()
    expect(faults).toEqual([])
  })
})
