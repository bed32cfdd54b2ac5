import { randomBytes } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { addApp, callApi, signUpByApi, logIn, openUser, switchUser } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

// Unusual input and actions.
describe('problems', needs('chromium'), () => {
  let pages: Pages
  let browser: Browser
  let browserUser: TestUser
  let ada: TestUser

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages({ limits: { appsPerUser: 6_000 } }), openBrowser()])
    browserUser = await openUser(browser, pages.url)
  })
  beforeEach(async () => {
    ada = await switchUser(browserUser)
    await signUpByApi(ada, pages.url)
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  test('an expired session leads to the log-in and back to the same page', async () => {
    const { page, context } = ada
    const appId = await addApp(ada, pages.url, 'Portfolio')
    await page.goto(`${pages.url}/apps/${appId}/settings/allow-list`)
    await page.getByRole('heading', { name: 'Allow list' }).waitFor()
    await context.clearCookies()
    await page.getByLabel('Origin', { exact: true }).fill('https://a.example')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('Your session has expired.').waitFor()
    await logIn(ada)
    await page.waitForURL(`${pages.url}/apps/${appId}/settings/allow-list`)
    await page.getByRole('heading', { name: 'Allow list' }).waitFor()
    // The same with a link.
    await context.clearCookies()
    await page.goto(`${pages.url}/apps/${appId}/metrics`)
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await logIn(ada)
    await page.waitForURL(/\/metrics/)
    expect(page.url()).toBe(`${pages.url}/apps/${appId}/metrics`)
  })

  test('a link cannot lead from the log-in to another site', async () => {
    const { page, context } = ada
    await context.clearCookies()
    for (const back of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      await page.goto(`${pages.url}/log-in?back=${encodeURIComponent(JSON.stringify(back))}`)
      await logIn(ada)
      await page.waitForURL(/\/apps/)
      expect(page.url().startsWith(`${pages.url}/`)).toBe(true)
      await context.clearCookies()
    }
  })

  test('a log-out in one tab logs out the other, and a change in one appears in the other', async () => {
    const { page, context, problems } = ada
    const appId = await addApp(ada, pages.url, 'Portfolio')
    const other = await context.newPage()
    const advanced = `${pages.url}/apps/${appId}/settings/advanced`
    await Promise.all([page.goto(advanced), other.goto(advanced)])
    await page.getByLabel('Description').fill('By the first tab')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.getByText('Saved', { exact: true }).waitFor()
    // The second tab has an old version, so it shows the conflict, and can then save.
    await other.getByLabel('Name').fill('By the second tab')
    await other.getByRole('button', { name: 'Save' }).first().click()
    await other
      .getByRole('alert')
      .getByText(/changed|version/i)
      .waitFor()
    expect(await other.getByLabel('Name').inputValue()).toBe('By the second tab')
    await other.getByRole('button', { name: 'Save' }).first().click()
    await other.getByRole('heading', { name: 'By the second tab' }).waitFor()
    expect(await callApi(ada, pages.url, ['GET', `/api/apps/${appId}`])).toMatchObject({
      name: 'By the second tab',
      description: 'By the first tab',
    })

    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await other.getByRole('heading', { name: 'Log in' }).waitFor()
    await other.close()
    expect(problems).toEqual([])
  })

  test('a double click, or Enter twice, creates one app', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/apps`)
    await page.getByRole('link', { name: 'Create app' }).first().click()
    await page.getByLabel('Name').fill('Once')
    await page.getByRole('button', { name: 'Create app' }).evaluate((button) => {
      ;(button as unknown as { click: () => void }).click()
      ;(button as unknown as { click: () => void }).click()
      ;(button as unknown as { form: { requestSubmit: () => void } }).form.requestSubmit()
    })
    // The URL changes before the page is loaded.
    await page.getByRole('heading', { name: 'Once' }).waitFor()
    const countApps = async () => (await callApi<{ total: number }>(ada, pages.url, ['GET', '/api/apps'])).total
    expect(await countApps()).toBe(1)
    // Back leads past the form, and never creates a second app.
    await page.goBack()
    await page.getByRole('heading', { name: 'Apps', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Create app' }).first().click()
    await page.getByRole('heading', { name: 'Create app' }).waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('')
    expect(await countApps()).toBe(1)
  })

  test('a new app: each problem opens its field, and what was typed stays until it is created or cancelled', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/apps/new`)
    const name = page.getByLabel('Name')
    await name.waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('name')
    const description = page.getByLabel('Description')
    expect(await description.isVisible()).toBe(false)
    await page.keyboard.press('Enter')
    await page.getByText('Enter a name.').waitFor()
    await name.fill('x'.repeat(65))
    await name.press('Enter')
    await page.getByText('Must have 64 characters at most.').waitFor()
    await name.fill('Portfolio')

    // The folded fields are opened by a problem in them, also by one that the service finds.
    const fold = page.getByText('Description, use case and services')
    await fold.click()
    await description.fill('x'.repeat(501))
    await page.getByLabel('Use case').selectOption({ label: 'DeFi' })
    await fold.click()
    await description.waitFor({ state: 'hidden' })
    await page.getByText('DeFi, Node API').waitFor()
    await page.getByRole('button', { name: 'Create app' }).click()
    await page.getByText('Must have 500 characters at most.').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('description')
    await description.fill('')
    await page.getByRole('checkbox', { name: /Node API/ }).uncheck()
    await page.getByRole('button', { name: 'Create app' }).click()
    await page.getByText('Choose at least one.').waitFor()
    await page.getByRole('checkbox', { name: /Node API/ }).check()

    // Networks are found by title, symbol, alias and chain id.
    const networks = page.getByRole('combobox', { name: 'Chains and networks' })
    await networks.fill('dogecoin')
    await page.getByText('No chain and no network of this service matches.').first().waitFor()
    const found = page.getByRole('listbox', { name: 'Results' }).getByRole('option')
    expect(await found.count()).toBe(0)
    for (const text of ['hereu', 'eth', 'sepolia', '11155111']) {
      await networks.fill(text)
      await found
        .filter({ hasText: /^Ethereum/ })
        .first()
        .waitFor()
    }
    await networks.press('Enter')
    expect(await page.getByRole('list', { name: 'Chosen networks' }).allTextContents()).toEqual([
      'Remove Ethereum Mainnet',
    ])

    await page.reload()
    expect(await name.inputValue()).toBe('Portfolio')
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.goto(`${pages.url}/apps/new`)
    expect(await name.inputValue()).toBe('')
    expect(await page.getByRole('list', { name: 'Chosen networks' }).getByRole('button').count()).toBe(2)
  })

  test('an invalid setting is reported once, at its field if it has one', async () => {
    const { page } = ada
    const appId = await addApp(ada, pages.url, 'Portfolio')
    await page.goto(`${pages.url}/apps/${appId}/settings/advanced`)
    await page.getByLabel('Your limit a day').fill('1000000001')
    await page
      .locator('form', { has: page.getByLabel('Your limit a day') })
      .getByRole('button', { name: 'Save' })
      .click()
    await page.locator('.fix').waitFor()
    expect(await page.locator('.fix').allTextContents()).toEqual([expect.stringMatching(/^Must be /)])
    expect(await page.locator('.note.bad').allTextContents()).toEqual([])
    await page.getByLabel('Your limit a day').fill('3')
    await page
      .locator('form', { has: page.getByLabel('Your limit a day') })
      .getByRole('button', { name: 'Save' })
      .click()
    await page.getByText('0 of 3', { exact: true }).waitFor()
    expect(await page.locator('.fix').count()).toBe(0)
    await page.getByRole('button', { name: 'Require JWT' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Require JWT' }).click()
    await page.locator('.note.bad').waitFor()
    expect(await page.locator('.note.bad').allTextContents()).toEqual([
      'This would reject every request, because the app has no JWT key: import one first.',
    ])
  })

  test('the expiry of a key must be in the future, and can be removed', async () => {
    const { page } = ada
    const appId = await addApp(ada, pages.url, 'Portfolio')
    const expiresAt = async () =>
      (await callApi<{ key: { expiresAt: string | null } }>(ada, pages.url, ['GET', `/api/apps/${appId}`])).key
        .expiresAt
    const lastDay = page.getByLabel('Expires after')
    const save = page.locator('form', { has: lastDay }).getByRole('button', { name: 'Save' })
    const saved = async (): Promise<void> => {
      const succeeded = page.waitForResponse((response) => response.request().method() === 'PUT')
      await save.click()
      expect((await succeeded).status()).toBe(200)
    }
    await page.goto(`${pages.url}/apps/${appId}/settings/advanced`)
    await lastDay.fill('2026-01-01')
    await save.click()
    await page.getByText('Must be in the future.').waitFor()
    expect(await expiresAt()).toBe(null)
    const nextYear = new Date().getFullYear() + 1
    await lastDay.fill(`${nextYear}-06-15`)
    await saved()
    // The end of that day in the time zone of the user.
    expect(await expiresAt()).toBe(new Date(`${nextYear}-06-15T23:59:59`).toISOString())
    await lastDay.fill('')
    await saved()
    expect(await expiresAt()).toBe(null)
  })

  test('an app without a service is off, one without a network is off there, and the pages say so', async () => {
    const { page } = ada
    const appId = await addApp(ada, pages.url, 'Portfolio')
    const { urls } = await callApi<{ urls: { testnet: string; mainnet: string } }>(
      ada,
      pages.url,
      ['POST', `/api/apps/${appId}/key/reveal`],
      {},
    )
    await page.goto(`${pages.url}/apps/${appId}/networks`)
    await page.getByRole('button', { name: 'Disable Ethereum Mainnet' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
    await page.getByText('Disabled Ethereum Mainnet').waitFor()
    expect((await callNode(urls.mainnet)).reason).toBe('wrong_network')
    expect(await callNode(urls.testnet)).toMatchObject({ status: 200 })
    expect(await page.getByRole('heading', { name: 'Ethereum Mainnet' }).count()).toBe(0)
    await page.goto(`${pages.url}/apps/${appId}/settings/advanced`)
    await page.getByRole('checkbox', { name: 'Node API' }).uncheck()
    await page.getByText('the app will be off: all its calls are rejected').waitFor()
    await page
      .locator('form', { has: page.getByRole('checkbox', { name: 'Node API' }) })
      .getByRole('button', { name: 'Save' })
      .click()
    await page.getByText('the app is off: all its calls are rejected').waitFor()
    await page.locator('.badge', { hasText: /^Off$/ }).waitFor()
    await page.goto(`${pages.url}/apps`)
    await page.getByRole('heading', { name: 'Portfolio' }).waitFor()
    expect(await page.locator('.badge').allTextContents()).toEqual(['Off'])
  })

  test('all problems of a sign-up are reported together', async () => {
    const guest = await openUser(browser, pages.url)
    await guest.page.goto(`${pages.url}/sign-up`)
    await guest.page.getByLabel('Email address').fill('nobody')
    await guest.page.getByLabel('Password').fill('short')
    await guest.page.getByRole('button', { name: 'Sign up' }).click()
    await guest.page.locator('.fix').first().waitFor()
    expect(await guest.page.locator('.fix').allTextContents()).toEqual([
      'Enter your email address, such as ada@example.org.',
      'The password must have at least 8 characters.',
    ])
    await guest.close()
  })

  test('markup, emoji and other scripts in names are shown as they are, and do nothing', async () => {
    const { page, problems } = ada
    const names = [
      '<img src=x onerror=alert(1)>',
      '"><script>alert(1)</script>',
      '👩‍🚀 Räksmörgås 数据 مرحبا',
      "'; DROP TABLE apps; --",
      '{{constructor.constructor("alert(1)")()}}',
      'x'.repeat(64),
    ]
    for (const name of names) {
      await callApi(ada, pages.url, ['POST', '/api/apps'], {
        name,
        description: name,
        useCase: 'Other',
        chain: 'ethereum',
        services: ['Node API'],
      })
    }
    page.on('dialog', (dialog) => problems.push(`dialog: ${dialog.message()}`))
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${pages.url}/apps`)
    for (const name of names) {
      await page.getByRole('heading', { name, exact: true }).click()
      await page.locator('h1').getByText(name, { exact: true }).waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
      await page.getByRole('link', { name: 'Settings' }).click()
      await page.getByRole('link', { name: 'Delete app' }).click()
      await page.locator('strong').getByText(name, { exact: true }).waitFor()
      await page.locator('.crumb').getByRole('link', { name: 'Apps' }).click()
    }
    await page.goto(`${pages.url}/account/audit`)
    await page
      .getByText(names[0] ?? '', { exact: false })
      .first()
      .waitFor()
    expect(problems).toEqual([])
  })

  test('a list of 5,000 apps shows its first page, and search finds each of them', async () => {
    const { page } = ada
    const { account } = await callApi<{ account: { id: string } }>(ada, pages.url, ['GET', '/api/session'])
    const { query } = pages.service.storage.db
    // Inserted in bulk, because single inserts take a minute.
    for (let from = 0; from < 5_000; from += 250) {
      const numbers = Array.from({ length: 250 }, (_, at) => String(from + at).padStart(4, '0'))
      await query
        .insertInto('apps')
        .values(
          numbers.map((number) => ({
            id: `app_${number.padStart(20, '0')}`,
            userId: account.id,
            name: `App ${number}`,
            nameFolded: `app ${number}`,
            description: '',
            useCase: 'Other',
            chain: 'ethereum',
            services: '["Node API"]',
            networks: '["testnet","mainnet"]',
            limits: null,
            requireJwt: 0,
            recordDetails: 0,
            confirmNodes: 0,
            confirmHeader: 0,
            version: 1,
            createdAt: Date.now(),
          })),
        )
        .execute()
      await query
        .insertInto('keys')
        .values(
          numbers.map((number) => ({
            id: `key_${number.padStart(20, '0')}`,
            userId: account.id,
            appId: `app_${number.padStart(20, '0')}`,
            kind: 'app' as const,
            slot: null,
            name: '',
            description: '',
            sha256: randomBytes(32),
            ending: 'WXYZ',
            sealed: null,
            oldSha256: null,
            oldUntil: null,
            state: 'active' as const,
            version: 1,
            createdAt: Date.now(),
            rotatedAt: null,
            revokedAt: null,
            expiresAt: null,
            recordDetails: 0,
            confirmNodes: 0,
            confirmHeader: 0,
          })),
        )
        .execute()
    }
    await page.goto(`${pages.url}/apps`)
    await page.getByRole('heading', { name: 'App 0000' }).waitFor()
    await page.getByText('5,000 of at most 6,000 apps').waitFor()
    expect(await page.locator('.card-link').count()).toBe(48)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('heading', { name: 'App 0095' }).waitFor()
    await page.getByLabel('Find an app').fill('pp 4999')
    await page.getByText('1 app', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'App 4999' }).click()
    await page.locator('h1').getByText('App 4999').waitFor()
  })

  test('the page says that the service is unreachable, and updates when it is back', async () => {
    const { page, context } = ada
    // Pages are prefetched.
    const ahead = page.waitForResponse(/\/assets\/Keys-/)
    const appId = await addApp(ada, pages.url, 'Portfolio')
    await page.goto(`${pages.url}/apps/${appId}/setup`)
    await page.getByRole('link', { name: 'Apps', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Portfolio' }).waitFor()
    await (await ahead).finished()
    const banner = page.getByText('The service does not respond. This page may be out of date')
    await context.setOffline(true)
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await banner.waitFor()
    await page.getByRole('button', { name: 'Try again' }).first().waitFor()
    await context.setOffline(false)
    await page.getByText('0 of 4 API keys').waitFor()
    await banner.waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  })

  test('copying works without the clipboard API, as over plain http', async () => {
    const { page } = ada
    const appId = await addApp(ada, pages.url, 'Portfolio')
    await page.goto(`${pages.url}/apps/${appId}/setup`)
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await page.getByRole('button', { name: 'Copy: the program' }).click()
    await page.getByText('Copied: the program').waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    const description = page.getByLabel('Description')
    await description.focus()
    await page.keyboard.press('Control+V')
    expect(await description.inputValue()).toContain('createPublicClient')
  })
})
