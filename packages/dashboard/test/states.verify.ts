import { expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { addApp, callApi, logIn } from './testUser.ts'

// Emails are configured, and none is sent.
const email = { smtp: { host: '127.0.0.1', port: 9, secure: 'none' as const }, from: 'Keyrail <keyrail@example.org>' }

describePages('a page whose service fails', {}, (getFixtures) => {
  test('says that it may be out of date, keeps its data, and recovers', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Portfolio')
    const { urls } = await callApi<{ urls: { testnet: string } }>(
      ada,
      pages.url,
      ['POST', `/api/apps/${id}/key/reveal`],
      {},
    )
    await callNode(urls.testnet)
    const banner = page.getByText('The service failed to update this page')
    const share = page.getByRole('region', { name: 'Table by app and API key' }).getByRole('row', { name: /Portfolio/ })
    await expect
      .poll(async () => {
        await page.goto(`${pages.url}/account`)
        await page.getByRole('heading', { name: 'By app and API key' }).waitFor()
        await page.waitForLoadState('networkidle')
        return share.count()
      })
      .toBe(1)
    expect(await banner.count()).toBe(0)
    await page.route(/\/api\/usage/, (route) =>
      route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'The database is unavailable' } } }),
    )
    await banner.waitFor()
    await page.getByRole('meter', { name: 'All API keys, today (UTC): used' }).waitFor()
    await page.unroute(/\/api\/usage/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await banner.waitFor({ state: 'detached' })
  })

  test('also shows it on the page to set a new password', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    await page.goto(`${pages.url}/reset-password#link`)
    await page.getByLabel('New password').fill('correct horse battery')
    await page.route(/\/api\//, (route) => route.abort())
    await page.getByRole('button', { name: 'Set password and log in' }).click()
    await page.getByText('The service does not respond. This page may be out of date').waitFor()
    await page.unroute(/\/api\//)
    await page.getByText('The service does not respond. This page').waitFor({ state: 'detached' })
    expect(await page.getByLabel('New password').inputValue()).toBe('correct horse battery')
  })
})

describePages('the link that keyrail dev prints', {}, (getFixtures) => {
  test('logs in once, and a second time says so and how to get a new one', async () => {
    const { pages, ada } = getFixtures()
    const { page, context, email } = ada
    const user = await pages.service.accounts.operator.findUser({ email })
    const link = `${pages.url}/log-in/link#${pages.service.accounts.createLogInLink(user?.id ?? '')}`
    await context.clearCookies()
    await page.goto(link)
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
    expect(page.url()).not.toContain('krd_')

    // The browser that is logged in already needs no link.
    await page.goto('about:blank')
    await page.goto(link)
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()

    await context.clearCookies()
    await page.goto('about:blank')
    await page.goto(link)
    await page.getByText('This log-in link was used or has expired').waitFor()
    await page.getByText('or restart the program that printed the link').waitFor()
    expect(page.url()).not.toContain('krd_')
    await page.getByRole('link', { name: 'Log in with a password' }).click()
    await logIn(ada)
    await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
  })
})

describePages('the alerts page', {}, (getFixtures) => {
  test('keeps what was typed through a reload and a session that ended', async () => {
    const { pages, ada } = getFixtures()
    const { page, context } = ada
    const url = page.getByLabel('URL')
    await page.goto(`${pages.url}/account/alerts`)
    await url.fill('https://hooks.example.org/keyrail')
    await page.reload()
    await expect.poll(() => url.inputValue()).toBe('https://hooks.example.org/keyrail')
    await context.clearCookies()
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await logIn(ada)
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    expect(await url.inputValue()).toBe('https://hooks.example.org/keyrail')
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByText('Copy the secret of https://hooks.example.org/keyrail now').waitFor()
    expect(await url.inputValue()).toBe('')
  })

  test('shows a choice that another tab saved, and does not revert it', async () => {
    const { pages, ada } = getFixtures()
    const { page, context } = ada
    const choice = page.getByRole('checkbox', { name: 'about my apps and API keys' })
    await pages.reload({ email })
    await page.goto(`${pages.url}/account/alerts`)
    await choice.waitFor()
    const isChecked = await choice.isChecked()
    const other = await context.newPage()
    await other.goto(`${pages.url}/account/alerts`)
    await other.getByRole('checkbox', { name: 'about my apps and API keys' }).setChecked(!isChecked)
    await other.getByText('Unsaved changes').waitFor()
    await other.getByRole('button', { name: 'Save', exact: true }).click()
    await other.getByText('Unsaved changes').waitFor({ state: 'detached' })
    await expect.poll(() => choice.isChecked()).toBe(!isChecked)
    expect(await page.getByText('Unsaved changes').count()).toBe(0)
    await other.close()
  })
})
