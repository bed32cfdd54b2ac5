import type { ActivityView, UsageView } from '@keyrail/gateway'
import { expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { addApp, callApi } from './testUser.ts'

const hourMs = 3_600_000

describePages('usage', { limits: { apps: { perDay: 10 }, apiKeys: { perDay: 20 } } }, (getFixtures) => {
  test('after requests of an app, the navigation shows the quota of that app, and no "All keys: 0% today"', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Portfolio')
    const path = `/api/apps/${id}/key/reveal`
    const { urls } = await callApi<{ urls: { testnet: string } }>(ada, pages.url, ['POST', path], {})
    for (let count = 0; count < 3; count += 1) await callNode(urls.testnet)
    const usage = page.locator('.nav-usage')
    await page.goto(`${pages.url}/apps`)
    const link = page.getByRole('link', { name: 'Portfolio' })
    await link.waitFor()
    await page.waitForLoadState('networkidle')
    expect(await usage.count()).toBe(0)
    await link.click()
    await usage.getByText(/^Resets /).waitFor()
    await usage.getByRole('link', { name: 'This app: 30% of the daily limit' }).click()
    await page.waitForURL(`${pages.url}/apps/${id}/settings/advanced`)
    await page.getByRole('meter', { name: 'This app, today (UTC): used' }).waitFor()
    await page.goto(`${pages.url}/apps/app_00000000000000000000/setup`)
    await page.getByRole('heading', { name: 'App not found' }).waitFor()
    expect(await usage.count()).toBe(0)
  })

  test('a quota that will not last until it resets shows when it is used up', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const resetAt = new Date(Date.now() + 12 * hourMs).toISOString()
    const monthAt = new Date(Date.now() + 15 * 24 * hourMs).toISOString()
    const month = { used: 5, limit: null, remaining: null, resetAt: monthAt }
    let used = 600
    await page.route(
      (url) => url.pathname === '/api/usage',
      async (route) => {
        const view = (await (await route.fetch()).json()) as UsageView
        const day = { used, limit: 1_000, remaining: 1_000 - used, resetAt }
        await route.fulfill({ json: { ...view, day, month } })
      },
    )
    await page.goto(`${pages.url}/account`)
    await page
      .locator('.nav-usage')
      .getByText(/^At this pace, used up \d/)
      .waitFor()
    await page
      .locator('.card')
      .getByText(/^At this pace, used up \w/)
      .waitFor()
    used = 400
    await page.reload()
    await page.getByRole('link', { name: 'API keys, without apps: 40% of the daily limit' }).waitFor()
    expect(await page.getByText('At this pace').count()).toBe(0)
  })

  test('the account has the share of each app and API key, of deleted apps too, and a history of days', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const callApp = async (name: string, times: number): Promise<string> => {
      const id = await addApp(ada, pages.url, name)
      const path = `/api/apps/${id}/key/reveal`
      const { urls } = await callApi<{ urls: { testnet: string } }>(ada, pages.url, ['POST', path], {})
      for (let count = 0; count < times; count += 1) await callNode(urls.testnet)
      return id
    }
    await callApp('Portfolio', 5)
    await callApp('Wallet', 3)
    const gone = await callApp('Gone', 2)
    await expect
      .poll(async () => (await callApi<ActivityView>(ada, pages.url, ['GET', '/api/activity'])).total)
      .toBe(10)
    await callApi(ada, pages.url, ['POST', `/api/apps/${gone}/delete`], { name: 'Gone' })
    await page.goto(`${pages.url}/account`)
    const table = page.getByRole('region', { name: 'Table by app and API key' })
    await table.getByRole('row', { name: 'Portfolio 5 50% 0%' }).waitFor()
    expect(await table.locator('tbody tr').allTextContents()).toEqual([
      'Portfolio550%0%',
      'Wallet330%0%',
      'Deleted apps and revoked keys220%0%',
    ])
    await page.getByText('Requests by day as a table').click()
    const days = page.getByRole('region', { name: 'Table: Requests by day' }).locator('tbody tr')
    expect(await days.count()).toBe(30)
    expect(await days.last().locator('td').allTextContents()).toEqual(['10', '0', '0'])
  })
})
