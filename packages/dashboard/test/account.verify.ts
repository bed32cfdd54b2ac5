import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { findViolations } from './findViolations.ts'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { addApp, callApi, clipboard, signUpByApi, logIn, openUser, switchUser } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

describe('accounts', needs('chromium'), () => {
  let aheadMs = 0
  let pages: Pages
  let browser: Browser
  let browserUser: TestUser
  let ada: TestUser

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages({}, () => Date.now() + aheadMs), openBrowser()])
    browserUser = await openUser(browser, pages.url)
  })
  beforeEach(async () => {
    ada = await switchUser(browserUser)
    await signUpByApi(ada, pages.url)
  })
  afterEach(() => {
    aheadMs = 0
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  const getUrl = async (appId: string): Promise<string> =>
    (await callApi<{ urls: { testnet: string } }>(ada, pages.url, ['POST', `/api/apps/${appId}/key/reveal`], {})).urls
      .testnet

  test('a recent session reveals a key without a password, an older one asks for it', async () => {
    const { page, password } = ada
    const appId = await addApp(ada, pages.url, 'Portfolio')
    aheadMs = 16 * 60_000
    await page.goto(`${pages.url}/apps/${appId}/networks`)
    await page.getByRole('button', { name: 'Show URLs' }).click()
    const dialog = page.getByRole('dialog', { name: 'Your password' })
    await dialog.getByLabel('Password').fill('not this one')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByText('Wrong password.').waitFor()
    await dialog.getByLabel('Password').fill(password)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await page.getByText(/^http:.*\/testnet\/v2\/kr_a\w{39}/).waitFor()
    await page.getByRole('button', { name: 'Hide URLs' }).click()
    expect(await page.locator('main').textContent()).not.toMatch(/kr_a\w{39}/)
    // Escape cancels.
    await page.reload()
    await page.getByRole('button', { name: 'Show URLs' }).click()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await page.locator('main').textContent()).not.toMatch(/kr_a\w{39}/)
  })

  test('after a password change, the old password fails and other browsers are logged out', async () => {
    const { page, email, password } = ada
    const elsewhere = { ...(await openUser(browser, pages.url)), email, password }
    await elsewhere.page.goto(`${pages.url}/log-in`)
    await logIn(elsewhere)
    await elsewhere.page.getByRole('heading', { name: 'Create your first app' }).waitFor()
    await page.goto(`${pages.url}/account/security`)
    await page.getByLabel('Current password').fill('not this one')
    await page.getByLabel('New password').fill('a longer horse battery')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.locator('.fix').getByText('The password is wrong.').waitFor()
    await page.getByLabel('Current password').fill(password)
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('Password changed.').waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Change the password' }).waitFor()
    await elsewhere.page.goto(`${pages.url}/apps`)
    await elsewhere.page.getByRole('heading', { name: 'Log in' }).waitFor()
    await logIn(elsewhere)
    await elsewhere.page.getByText('The email address or the password is wrong.').waitFor()
    expect(elsewhere.page.url()).toContain('/log-in')
    await logIn({ ...elsewhere, password: 'a longer horse battery' })
    await elsewhere.page.waitForURL(/\/apps/)
    await elsewhere.close()
  })

  test('sessions are listed with their ends, and one or all others can be ended', async () => {
    const { page, email, password } = ada
    const others: TestUser[] = []
    for (const _ of [1, 2]) {
      const other = { ...(await openUser(browser, pages.url)), email, password }
      await other.page.goto(`${pages.url}/log-in`)
      await logIn(other)
      await other.page.getByRole('heading', { name: 'Create your first app' }).waitFor()
      others.push(other)
    }
    try {
      await page.goto(`${pages.url}/account/security`)
      const rows = page.getByRole('region', { name: 'Table of sessions' }).locator('tbody tr')
      await expect.poll(() => rows.count()).toBe(3)
      expect(await findViolations(page)).toEqual([])
      const cells = await rows.nth(1).getByRole('cell').allTextContents()
      expect(cells[0]).toBe('127.0.0.1')
      for (const time of cells.slice(1, 4)) expect(Date.parse(time.replace(/\u202f| at /g, ' '))).not.toBeNaN()
      expect(await page.getByText('This session').count()).toBe(1)
      expect(await rows.first().textContent()).toContain('This session')
      expect(await rows.first().getByRole('button').count()).toBe(0)

      await rows
        .nth(1)
        .getByRole('button', { name: /^End the session: Chrome on / })
        .press('Enter')
      await page.getByText('The session has ended').waitFor()
      await expect.poll(() => rows.count()).toBe(2)
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Sessions')
      await page.getByRole('button', { name: 'End all others' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click()
      await expect.poll(() => rows.count()).toBe(1)
      for (const other of others) {
        await other.page.goto(`${pages.url}/apps`)
        await other.page.getByRole('heading', { name: 'Log in' }).waitFor()
      }
      expect(ada.problems).toEqual([])
    } finally {
      for (const other of others) await other.close()
    }
  })

  test('a password is shown on demand, with its caret and focus, and hidden when it is sent', async () => {
    const { page, email, password } = ada
    await ada.context.clearCookies()
    await page.goto(`${pages.url}/log-in`)
    const field = page.getByLabel('Password')
    const show = page.getByRole('button', { name: 'Show password' })
    const caret = () => field.evaluate((input) => (input as HTMLInputElement).selectionStart)
    await page.getByLabel('Email address').fill(email)
    await field.fill('not this one')
    await field.press('Home')
    await field.press('ArrowRight')
    expect(await show.getAttribute('aria-pressed')).toBe('false')
    await show.click()
    expect(await field.getAttribute('type')).toBe('text')
    expect(await field.getAttribute('autocomplete')).toBe('current-password')
    expect(await show.getAttribute('aria-pressed')).toBe('true')
    expect(await caret()).toBe(1)
    expect(await page.evaluate('document.activeElement.name')).toBe('password')
    await field.press('Enter')
    await page.getByText('The email address or the password is wrong.').waitFor()
    expect(await field.getAttribute('type')).toBe('password')
    // By keyboard, from the field and back.
    await field.fill(password)
    await field.press('Tab')
    await page.keyboard.press('Space')
    expect(await field.getAttribute('type')).toBe('text')
    expect(await show.evaluate((button) => button === document.activeElement)).toBe(true)
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/apps/)
  })

  test('an access token is shown once, works within its permissions, and stops when it is removed', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/account/tokens`)
    await page.getByLabel('Label').fill('Deploy script')
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByRole('button', { name: 'Copy: the token' }).click()
    await page.getByText('Copied: the token').waitFor()
    const token = await clipboard(ada)
    expect(token).toMatch(/^krp_/)
    const fetchWithToken = (method = 'GET', body?: string) =>
      fetch(`${pages.url}/api/apps`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body }),
      })
    expect((await fetchWithToken()).status).toBe(200)
    expect((await fetchWithToken('POST', '{}')).status).toBe(403)
    await page.reload()
    await page.getByRole('row', { name: /Deploy script/ }).waitFor()
    expect(await page.content()).not.toContain(token)
    await page.getByRole('button', { name: 'Remove Deploy script' }).click()
    await page.getByText('No tokens yet.').waitFor()
    expect((await fetchWithToken()).status).toBe(401)
  })

  test('deleting an account rejects its keys at once', async () => {
    const { page, password } = ada
    const address = await getUrl(await addApp(ada, pages.url, 'Portfolio'))
    expect(await callNode(address)).toMatchObject({ status: 200 })
    await page.goto(`${pages.url}/account/security`)
    await page.getByRole('button', { name: 'Delete the account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Password').fill(password)
    await dialog.getByRole('button', { name: 'Delete the account' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    expect(await callNode(address)).toMatchObject({ status: 401 })
    await logIn(ada)
    await page.getByText('The email address or the password is wrong.').waitFor()
  })

  test('the operator: invites, limits, a link for a new password, disable and enable', async () => {
    const { page } = ada
    // Users who are not operators see nothing.
    await page.goto(`${pages.url}/operator`)
    await page.getByRole('heading', { name: 'Your account is not an operator' }).waitFor()
    const { account } = await callApi<{ account: { id: string } }>(ada, pages.url, ['GET', '/api/session'])
    await pages.service.accounts.operator.setUserRole({ id: account.id, role: 'operator' })
    await pages.reload({ signUp: 'invite' })
    const grace = await openUser(browser, pages.url)
    try {
      // Sign-up needs an invite.
      await page.goto(`${pages.url}/operator/invites`)
      await page.getByLabel('Only for this email address').fill(grace.email)
      await page.getByRole('button', { name: 'Create invite' }).click()
      await page.getByRole('button', { name: 'Copy: the invite' }).click()
      await page.getByText('Copied: the invite').waitFor()
      const invite = await clipboard(ada)
      expect(invite).toMatch(new RegExp(`^${pages.url}/sign-up#\\w{20,}&email=${encodeURIComponent(grace.email)}$`))
      // Opened in a tab that already shows the page.
      await grace.page.goto(`${pages.url}/sign-up`)
      await grace.page.getByLabel('Invite').waitFor()
      await grace.page.goto(invite)
      await grace.page.getByText('Your invite is for this address only.').waitFor()
      expect(await grace.page.getByLabel('Email address').inputValue()).toBe(grace.email)
      // The secret is removed from the URL.
      expect(grace.page.url()).toBe(`${pages.url}/sign-up`)
      await grace.page.getByLabel('Password').fill(grace.password)
      await grace.page.getByRole('button', { name: 'Sign up' }).click()
      await grace.page.getByRole('heading', { name: 'Create your first app' }).waitFor()
      // A revoked invite does not work.
      await page.getByRole('button', { name: 'Create invite' }).click()
      await page.getByRole('button', { name: 'Revoke the invite for anyone with the link' }).click()
      await page.getByText('No open invites.').waitFor()
      const appId = await addApp(grace, pages.url, 'Compiler')
      const { urls } = await callApi<{ urls: { testnet: string } }>(
        grace,
        pages.url,
        ['POST', `/api/apps/${appId}/key/reveal`],
        {},
      )

      // Limits.
      await page.goto(`${pages.url}/operator/users`)
      await page.getByLabel('Find by email address').fill(grace.email)
      await page.getByRole('link', { name: grace.email }).click()
      await page.waitForURL(/\/operator\/users\//)
      expect(await page.locator('.tabs [aria-current="page"]').textContent()).toBe('Users')
      await page.getByLabel(/^Requests a day/).fill('7')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved', { exact: true }).waitFor()
      await grace.page.goto(`${pages.url}/apps/${appId}/settings/advanced`)
      await grace.page.getByText('0 of 7').waitFor()

      // Disabled, and enabled again.
      expect(await callNode(urls.testnet)).toMatchObject({ status: 200 })
      await page.getByRole('button', { name: 'Disable' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
      await page.getByText('Account disabled').waitFor()
      expect((await callNode(urls.testnet)).status).not.toBe(200)
      await grace.page.goto(`${pages.url}/apps`)
      await grace.page.getByRole('heading', { name: 'Log in' }).waitFor()
      await page.getByRole('button', { name: 'Enable' }).click()
      await page.getByText('Account enabled').waitFor()
      expect(await callNode(urls.testnet)).toMatchObject({ status: 200 })

      // A forgotten password.
      await page.getByRole('button', { name: 'Create link' }).click()
      await page.getByRole('button', { name: 'Copy: the link' }).click()
      await page.getByText('Copied: the link').waitFor()
      await grace.page.goto(`${pages.url}/reset-password`)
      await grace.page.getByText('You need a link').waitFor()
      await grace.page.goto(await clipboard(ada))
      await grace.page.getByLabel('New password').fill('another horse battery')
      await grace.page.getByRole('button', { name: 'Set password and log in' }).click()
      await grace.page.getByRole('heading', { name: 'Compiler' }).waitFor()

      // The audit log has all of it, and does not scroll sideways.
      await page.goto(`${pages.url}/operator/audit`)
      await page.getByRole('region', { name: 'Audit log' }).waitFor()
      const hidden =
        "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table-box'))"
      expect(await page.evaluate(hidden)).toBe(0)
      await page.getByText('Enabled the account').waitFor()
      const rows = await page.locator('tbody th > span').allTextContents()
      expect(rows).toEqual(expect.arrayContaining(['Disabled the account', 'Revoked an invite', 'Created an invite']))
      expect(rows.filter((row) => /^\w+\.\w+$/.test(row))).toEqual([])
      // Each says who did what to whom, by name.
      const disabling = page.getByRole('row', { name: /Disabled the account/ })
      await disabling.getByRole('link', { name: ada.email }).waitFor()
      await disabling.getByRole('link', { name: grace.email }).first().waitFor()
      expect(await page.getByRole('cell', { name: /^by / }).count()).toBe(0)
      const total = rows.length
      await disabling.getByRole('cell').nth(1).getByRole('button', { name: /^usr_/ }).click()
      await page.waitForURL(/\?actor=usr_/)
      await page.getByText(`By: ${ada.email}`).waitFor()
      await expect.poll(() => page.locator('tbody tr').count()).toBeLessThan(total)
      const authors = await page.locator('td[data-label=By]').allTextContents()
      expect(authors.filter((author) => !author.startsWith(ada.email))).toEqual([])
      await page.getByRole('button', { name: `Remove the filter By: ${ada.email}` }).click()
      await expect.poll(() => page.locator('tbody tr').count()).toBe(total)
      await disabling.getByRole('link', { name: grace.email }).first().click()
      await page.getByRole('heading', { name: grace.email }).waitFor()
      await page.getByRole('link', { name: 'Audit log of this account' }).click()
      await page.waitForURL(/\?userId=usr_/)
      await page.getByText(`Account: ${grace.email}`).waitFor()
      expect([...ada.problems, ...grace.problems]).toEqual([])
    } finally {
      await grace.close()
      await pages.reload({ signUp: 'open' })
    }
  })

  test('if the service never shows keys again, the .env file has no key', async () => {
    const { page } = ada
    await pages.reload({ reveal: 'never' })
    try {
      const made = await callApi<{ app: { id: string } }>(ada, pages.url, ['POST', '/api/apps'], {
        name: 'Sealed',
        useCase: 'Other',
        chain: 'ethereum',
        services: ['Node API'],
      })
      await page.goto(`${pages.url}/apps/${made.app.id}/setup`)
      await page.getByText('This service stores no copy of keys').first().waitFor()
      await page.getByRole('button', { name: 'Copy: the .env file' }).click()
      await page.getByText('Copied: the .env file').waitFor()
      expect(await clipboard(ada)).toBe(`KEYRAIL_BASE_URL=${pages.url}/testnet\nKEYRAIL_API_KEY=\n`)
      expect(await page.getByRole('button', { name: 'Show key' }).count()).toBe(0)
      await page.getByRole('link', { name: 'Networks' }).click()
      await page.getByText('This service stores no copy of keys').first().waitFor()
    } finally {
      await pages.reload({})
    }
  })
})
