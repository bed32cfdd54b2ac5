import { expect, test } from 'vitest'
import { describePages } from './describePages.ts'
import { addApp, callApi, signUpByApi, logIn } from './testUser.ts'

const evaluateHistoryLength = 'history.length'

describePages('what a user types and does not save', {}, (getFixtures) => {
  test('stays with its app when the user goes back in history to another app', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const first = await addApp(ada, pages.url, 'First')
    await addApp(ada, pages.url, 'Second')
    await page.goto(`${pages.url}/apps/${first}/settings/advanced`)
    const description = page.getByLabel('Description')
    await description.waitFor()
    const before = Number(await page.evaluate(evaluateHistoryLength))
    await page.locator('.crumb').getByRole('link', { name: 'Apps' }).click()
    await page.getByRole('heading', { name: 'Second' }).click()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.locator('h1', { hasText: 'Second' }).waitFor()
    await description.fill('Of the second app')
    const steps = Number(await page.evaluate(evaluateHistoryLength)) - before
    await page.evaluate(`history.go(-${steps})`)
    await page.locator('h1', { hasText: 'First' }).waitFor()
    expect(await description.inputValue()).toBe('')
    await page.evaluate(`history.go(${steps})`)
    await page.locator('h1', { hasText: 'Second' }).waitFor()
    expect(await description.inputValue()).toBe('Of the second app')
    await page.getByText('Unsaved changes').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await description.inputValue()).toBe('')
    expect(await page.getByText('Unsaved changes').count()).toBe(0)
  })

  test('survives an expired session and a reload', async () => {
    const { pages, ada } = getFixtures()
    const { page, context } = ada
    const appId = await addApp(ada, pages.url, 'Portfolio')
    await page.goto(`${pages.url}/apps/${appId}/settings/advanced`)
    await page.getByLabel('Your limit a day').fill('70')
    await page.getByLabel('Description').fill('A long text')
    await context.clearCookies()
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.getByText('Your session has expired.').waitFor()
    await logIn(ada)
    await page.getByLabel('Description').waitFor()
    expect(await page.getByLabel('Description').inputValue()).toBe('A long text')
    await page.reload()
    expect(await page.getByLabel('Description').inputValue()).toBe('A long text')
    expect(await page.getByLabel('Your limit a day').inputValue()).toBe('70')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.getByText('Saved', { exact: true }).waitFor()
    expect(await callApi(ada, pages.url, ['GET', `/api/apps/${appId}`])).toMatchObject({ description: 'A long text' })
  })

  test('survives leaving a form and coming back', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const appId = await addApp(ada, pages.url, 'Portfolio')
    await page.goto(`${pages.url}/apps/${appId}/settings/allow-list`)
    await page.getByLabel('Origin', { exact: true }).fill('https://a.example')
    await page.getByRole('link', { name: 'JWT keys' }).click()
    await page.getByLabel('Public key (PEM)').fill('-----BEGIN PRIVATE KEY-----')
    await page.getByRole('link', { name: 'Allow list' }).click()
    expect(await page.getByLabel('Origin', { exact: true }).inputValue()).toBe('https://a.example')
    await page.getByRole('link', { name: 'JWT keys' }).click()
    expect(await page.getByLabel('Public key (PEM)').inputValue()).toBe('-----BEGIN PRIVATE KEY-----')
    // Text that could be a secret is not stored.
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain('PRIVATE')
  })

  test('survives a reload of the page for a new app, until the app is created', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    await page.goto(`${pages.url}/apps/new`)
    await page.getByLabel('Name').fill('Portfolio')
    await page.getByRole('button', { name: 'Remove Ethereum Mainnet' }).click()
    await page.getByText('Description, use case and services').click()
    await page.getByLabel('Description').fill('A long text')
    await page.getByLabel('Use case').selectOption('NFT')
    await page.reload()
    await page.getByText('NFT, Node API').waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('Portfolio')
    expect(await page.getByRole('list', { name: 'Chosen networks' }).getByRole('button').count()).toBe(1)
    await page.getByRole('button', { name: 'Create app' }).click()
    await page.locator('h1', { hasText: 'Portfolio' }).waitFor()
    const { items } = await callApi<{ items: unknown[] }>(ada, pages.url, ['GET', '/api/apps'])
    expect(items).toMatchObject([{ description: 'A long text', useCase: 'NFT', networks: ['testnet'] }])
    await page.goto(`${pages.url}/apps/new`)
    expect(await page.getByLabel('Name').inputValue()).toBe('')
  })

  test('is not shown to another account or after a log-out', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    await page.goto(`${pages.url}/apps/new`)
    const name = page.getByLabel('Name')
    await name.fill('Secret plan')
    await ada.context.clearCookies()
    await signUpByApi({ ...ada, email: `grace-${ada.email}` }, pages.url)
    await page.reload()
    await name.waitFor()
    expect(await name.inputValue()).toBe('')
    await name.fill('Other plan')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })
})
