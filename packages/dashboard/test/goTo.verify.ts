import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../scripts/externalPrograms.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { addApp, callApi, clipboard, logIn, openUser, signUpByApi } from './testUser.ts'
import type { TestUser } from './testUser.ts'

describe('the dialog that goes to any page', needs('chromium'), () => {
  let pages: Pages
  let browser: Browser
  let ada: TestUser
  let app: string
  let key: string
  const field = (page: Page) => page.getByRole('combobox', { name: 'An app, an API key, a page or an action' })
  const found = (page: Page) => page.getByRole('dialog').getByRole('option').allInnerTexts()
  const open = async (page: Page): Promise<void> => {
    await page.locator('#root h1').waitFor()
    await page.keyboard.press('Control+k')
    await field(page).waitFor()
  }
  const goTo = async (page: Page, text: string): Promise<void> => {
    await open(page)
    await page.keyboard.type(text)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages(), openBrowser()])
    ada = await openUser(browser, pages.url)
    await signUpByApi(ada, pages.url)
    app = await addApp(ada, pages.url, 'Portfolio')
    await addApp(ada, pages.url, 'Explorer')
    const created = await callApi<{ key: { id: string } }>(ada, pages.url, ['POST', '/api/keys'], {
      name: 'Laptop',
      network: 'testnet',
    })
    key = created.key.id
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  test('goes to apps, API keys and pages by a part of their names, with the keyboard alone', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/apps`)
    for (const [text, path] of [
      ['portf', `/apps/${app}/setup`],
      // The pages of the open app come first.
      ['requests', `/apps/${app}/requests`],
      ['allow', `/apps/${app}/settings/allow-list`],
      ['laptop', `/keys/${key}/setup`],
      ['account audit', '/account/audit'],
      ['create api', '/keys/new'],
    ] as const) {
      await goTo(page, text)
      await expect.poll(() => page.url()).toBe(pages.url + path)
    }
  })

  test('lists what there is at once, and says when nothing matches', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/account/security`)
    await open(page)
    await expect.poll(() => found(page)).toContain('Portfolio App')
    expect((await found(page)).filter((text) => text.startsWith('Operator'))).toEqual([])
    await page.keyboard.type('no such page')
    await page.getByRole('dialog').locator('.search-popup').getByText('Nothing has this in its name.').waitFor()
    await page.keyboard.press('Enter')
    expect(page.url()).toBe(`${pages.url}/account/security`)
  })

  test('one Escape closes it, and the focus returns; the button opens it too', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/account/tokens`)
    const label = page.getByLabel('Label')
    await label.focus()
    await page.keyboard.press('Control+k')
    await field(page).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await label.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.getByRole('button', { name: /^Go to/ }).click()
    await page.getByRole('option', { name: /^Explorer/ }).click()
    await page.waitForURL(/\/apps\/[^/]+\/setup$/)
  })

  test('runs actions: copies the URL of the open app, changes the colors and logs out', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/apps/${app}/setup`)
    await goTo(page, 'copy url sepolia')
    await page.getByText('Copied the URL').waitFor()
    expect(await clipboard(ada)).toMatch(new RegExp(`^${pages.url}/testnet/v2/kr_a\\w{39}$`))
    await page.goto(`${pages.url}/keys/${key}/setup`)
    await goTo(page, 'copy url')
    await page.getByText('Copied the URL').waitFor()
    expect(await clipboard(ada)).toMatch(new RegExp(`^${pages.url}/testnet/kr_t\\w{39}$`))
    await goTo(page, 'dark')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    expect(await page.getByRole('radio', { name: 'Dark' }).isChecked()).toBe(true)
    await goTo(page, 'colors of the system')
    expect(await page.getByRole('radio', { name: 'Auto' }).isChecked()).toBe(true)
    await goTo(page, 'log out')
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await logIn(ada)
    await page.getByRole('heading', { name: 'Apps' }).waitFor()
    expect(ada.problems).toEqual([])
  })

  test('a dialog that asks for something stays in front', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/apps/${app}/settings/advanced`)
    await page.getByRole('button', { name: 'Rotate key' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Control+k')
    expect(await page.getByRole('dialog').count()).toBe(1)
    expect(await field(page).count()).toBe(0)
  })
})
