import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { text as readText } from 'node:stream/consumers'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../scripts/externalPrograms.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { addApp, clipboard, openUser, signUpByApi } from './testUser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const findViolations = async (page: Page): Promise<unknown> => {
  await page.evaluate(axe)
  return page.evaluate("axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)")
}

describe('teams', needs('chromium'), () => {
  let pages: Pages
  let browser: Browser
  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages(), openBrowser()])
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  test.each([1440, 390])('create one, invite, join, change a role, switch and leave, %i pixels wide', async (width) => {
    const [ada, grace] = [await openUser(browser, pages.url, { width }), await openUser(browser, pages.url, { width })]
    for (const user of [ada, grace]) await signUpByApi(user, pages.url)
    await addApp(ada, pages.url, 'Mine')
    const openMenu = async (page: Page): Promise<void> => {
      await page.locator('#root h1').waitFor()
      const menu = page.getByRole('button', { name: 'Menu' })
      if (await menu.isVisible()) await menu.click()
    }
    const check = async (page: Page): Promise<void> => {
      expect(await findViolations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    }

    // Without a team there is nothing to switch.
    await ada.page.goto(`${pages.url}/account/members`)
    await ada.page.getByText('This is your personal account').waitFor()
    expect(await ada.page.getByRole('combobox', { name: 'Account' }).count()).toBe(0)
    await check(ada.page)
    await ada.page.getByLabel('Name').fill('Acme')
    await ada.page.getByRole('button', { name: 'Create team' }).click()
    await ada.page.waitForURL(/\/apps/)

    await ada.page.goto(`${pages.url}/account/members`)
    await ada.page.getByRole('row', { name: new RegExp(ada.email) }).waitFor()
    await ada.page.getByLabel('Email address').fill(grace.email)
    await ada.page.getByLabel('Role', { exact: true }).selectOption('Viewer')
    await ada.page.getByRole('button', { name: 'Create invite' }).click()
    await ada.page.getByRole('row', { name: new RegExp(`${grace.email}.*Viewer`) }).waitFor()
    await check(ada.page)
    await ada.page.getByRole('button', { name: /^Copy/ }).click()
    const link = await clipboard(ada)
    expect(link).toMatch(/\/join#krm_\w{39}$/)

    await grace.page.goto(link)
    await grace.page.getByText(`As ${grace.email}.`).waitFor()
    expect(grace.page.url()).not.toContain('krm_')
    await check(grace.page)
    await grace.page.getByRole('button', { name: 'Join the team' }).click()
    await grace.page.waitForURL(/\/apps/)
    await openMenu(grace.page)
    await grace.page.getByRole('combobox', { name: 'Account' }).waitFor()
    // A viewer sees the members, and cannot change them.
    await grace.page.goto(`${pages.url}/account/members`)
    await grace.page.getByRole('row', { name: new RegExp(ada.email) }).waitFor()
    expect(await grace.page.getByRole('button', { name: 'Create invite' }).count()).toBe(0)
    await check(grace.page)

    await ada.page.reload()
    await ada.page.getByLabel(`Role of ${grace.email}`).selectOption('Admin')
    await ada.page.getByText('Role changed').waitFor()
    await grace.page.reload()
    await grace.page.getByRole('button', { name: 'Create invite' }).waitFor()

    // The audit log says who did it, and its file is that of the team.
    await grace.page.goto(`${pages.url}/account/audit`)
    await grace.page
      .getByRole('row', { name: /Changed the role of a member/ })
      .getByText(ada.email)
      .waitFor()
    const [download] = await Promise.all([
      grace.page.waitForEvent('download'),
      grace.page.getByRole('link', { name: 'CSV: audit log' }).click(),
    ])
    expect(await readText(await download.createReadStream())).toContain('team.create')

    // The apps of the personal account are there again after a switch.
    await ada.page.goto(`${pages.url}/apps`)
    expect(await ada.page.getByText('Mine').count()).toBe(0)
    await openMenu(ada.page)
    await ada.page.getByRole('combobox', { name: 'Account' }).selectOption('Personal')
    await ada.page.getByText('Mine').waitFor()

    await grace.page.goto(`${pages.url}/account/members`)
    await grace.page.getByRole('button', { name: 'Leave the team' }).click()
    await grace.page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await grace.page.waitForURL(/\/apps/)
    await grace.page.goto(`${pages.url}/account/members`)
    await grace.page.getByText('This is your personal account').waitFor()
    expect([...ada.problems, ...grace.problems]).toEqual([])
    await ada.close()
    await grace.close()
  })

  test('a member who is removed while a page is open goes on with the personal account', async () => {
    const ada = await openUser(browser, pages.url)
    await signUpByApi(ada, pages.url)
    await ada.page.goto(`${pages.url}/account/members`)
    await ada.page.evaluate("localStorage.setItem('keyrail-account', 'acc_00000000000000000000')")
    // The page of an invite stays open: it acts for the user.
    await ada.page.goto(`${pages.url}/join#krm_${'x'.repeat(39)}`)
    await ada.page.getByText(`As ${ada.email}.`).waitFor()
    await ada.page.getByRole('button', { name: 'Join the team' }).click()
    await ada.page.getByText('This invite was used').waitFor()
    await ada.page.goto(`${pages.url}/keys`)
    await ada.page.waitForURL(/\/apps/)
    expect(await ada.page.evaluate("localStorage.getItem('keyrail-account')")).toBe('')
    expect(ada.problems).toEqual([])
    await ada.close()
  })
})
