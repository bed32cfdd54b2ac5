import { text as readText } from 'node:stream/consumers'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../scripts/externalPrograms.ts'
import { everyPage, showEverything } from './everyPage.ts'
import { findViolations } from './findViolations.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { addApp, callApi, clipboard, openUser, signUpByApi } from './testUser.ts'

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

  test.each([1440, 390])(
    'create one, invite, join, change it, move an app, switch and leave, %i pixels wide',
    async (width) => {
      const [ada, grace] = [
        await openUser(browser, pages.url, { width }),
        await openUser(browser, pages.url, { width }),
      ]
      for (const user of [ada, grace]) await signUpByApi(user, pages.url)
      const mine = await addApp(ada, pages.url, 'Mine')
      const settings = `${pages.url}/apps/${mine}/settings/advanced`
      const target = 'Account that gets the app'
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
      await ada.page.goto(settings)
      await ada.page.getByRole('button', { name: 'Require JWT' }).waitFor()
      expect(await ada.page.getByLabel(target).count()).toBe(0)
      await ada.page.goto(`${pages.url}/account/members`)
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
      await ada.page.getByRole('button', { name: 'Copy: the invite' }).click()
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
      await grace.page.getByRole('button', { name: 'Copy id' }).click()
      const teamId = await clipboard(grace)
      expect(teamId).toMatch(/^acc_\w{20}$/)
      await grace.page.getByLabel('Name', { exact: true }).fill(' ')
      await grace.page.getByRole('button', { name: 'Rename' }).click()
      await grace.page.getByText('Enter a name').waitFor()
      await grace.page.getByLabel('Name', { exact: true }).fill('Acme Labs')
      await grace.page.getByRole('button', { name: 'Rename' }).click()
      await grace.page.getByText('Saved', { exact: true }).waitFor()
      await grace.page.getByText('apps and keys of Acme Labs').waitFor()
      await openMenu(grace.page)
      const renamed = grace.page.getByRole('combobox', { name: 'Account' }).locator('option', { hasText: 'Acme Labs' })
      await renamed.waitFor({ state: 'attached' })

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

      // An app moves to the team, and so do the pages. A name that the team uses is rejected.
      const other = await addApp({ ...ada, account: teamId }, pages.url, 'Mine')
      await ada.page.goto(settings)
      await ada.page.getByRole('button', { name: 'Move app' }).click()
      await ada.page.getByText('Choose an account.').waitFor()
      await ada.page.getByLabel(target).selectOption('Acme Labs')
      await ada.page.getByRole('button', { name: 'Move app' }).click()
      await ada.page.getByText('Has an app with this name').waitFor()
      await check(ada.page)
      await callApi({ ...ada, account: teamId }, pages.url, ['POST', `/api/apps/${other}/delete`], { name: 'Mine' })
      await ada.page.getByRole('button', { name: 'Move app' }).click()
      await ada.page.waitForURL(/\/apps$/)
      await ada.page.getByText('Mine').waitFor()
      await openMenu(ada.page)
      expect(await ada.page.getByRole('combobox', { name: 'Account' }).inputValue()).toBe(teamId)

      await grace.page.goto(`${pages.url}/account/members`)
      await grace.page.getByRole('button', { name: 'Leave the team' }).click()
      await grace.page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
      await grace.page.waitForURL(/\/apps/)
      await grace.page.goto(`${pages.url}/account/members`)
      await grace.page.getByText('This is your personal account').waitFor()
      expect([...ada.problems, ...grace.problems]).toEqual([])
      await ada.close()
      await grace.close()
    },
  )

  test('no page offers a viewer a change that the service rejects', async () => {
    const [ada, grace] = [await openUser(browser, pages.url), await openUser(browser, pages.url)]
    for (const user of [ada, grace]) await signUpByApi(user, pages.url)
    const { id: account } = await callApi<{ id: string }>(ada, pages.url, ['POST', '/api/accounts'], { name: 'Acme' })
    const owner = { ...ada, account }
    const shown = await showEverything(owner, pages, await addApp(owner, pages.url, 'Shop'))
    const invite = { email: grace.email, role: 'viewer' }
    const { url } = await callApi<{ url: string }>(owner, pages.url, ['POST', '/api/members/invites'], invite)
    await callApi(grace, pages.url, ['POST', '/api/accounts/join'], { invite: url.split('#')[1] })
    const { page } = grace
    await page.addInitScript((id) => localStorage.setItem('keyrail-account', id), account)
    let pending = 0
    const rejected: string[] = []
    page.on('request', (request) => (pending += request.method() === 'GET' ? 0 : 1))
    page.on('response', (response) => {
      if (response.status() === 403) rejected.push(`${page.url()}: ${response.request().method()} ${response.url()}`)
    })
    for (const event of ['requestfinished', 'requestfailed'] as const)
      page.on(event as 'requestfinished', (request) => (pending -= request.method() === 'GET' ? 0 : 1))
    const clicked: string[] = []
    const open = async (path: string) => {
      await page.goto(`${pages.url}${path}`)
      await page.locator('#main h1').waitFor()
      await expect.poll(() => page.getByText('Loading', { exact: true }).count()).toBe(0)
      return page.locator('#main button:enabled:visible')
    }
    // Pages of an operator, and those that only show something, have nothing that a role allows.
    const paths = everyPage.map(({ path }) => path(shown))
    for (const path of paths.filter((one) => !/^\/operator|metrics|requests|security|nothing/.test(one))) {
      const buttons = await open(path)
      const names = await buttons.evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent ?? ''))
      for (const [index, name] of names.entries()) {
        if (/^(?:Copy|Leave the team)/.test(name)) continue
        clicked.push(name)
        await (await open(path)).nth(index).click()
        const dialog = page.getByRole('dialog')
        if (await dialog.isVisible()) await dialog.getByRole('button').last().click()
        await expect.poll(() => pending).toBe(0)
      }
    }
    // It has clicked something, and what only others may do is not there.
    expect(clicked).toContain('Create token')
    expect(
      clicked.filter((name) => /^(Save|Rotate|Remove|Revoke|Rename|Move|Disable|Delete|Import|Add)/.test(name)),
    ).toEqual([])
    expect(rejected).toEqual([])
    expect(grace.problems).toEqual([])
    await ada.close()
    await grace.close()
  }, 300_000)

  test('a member who is removed while a page is open continues with the personal account', async () => {
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
