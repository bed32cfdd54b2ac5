import { expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { addApp, callApi } from './testUser.ts'
import type { TestUser } from './testUser.ts'

const limits = { apps: { perDay: 10 }, apiKeys: { perDay: 10 }, appsPerUser: 2 }

/** Creates an app. @returns Its id and its RPC URL. */
async function createApp(ada: TestUser, url: string): Promise<{ readonly id: string; readonly address: string }> {
  const id = await addApp(ada, url, 'Portfolio')
  const path = `/api/apps/${id}/key/reveal`
  const { urls } = await callApi<{ urls: { testnet: string } }>(ada, url, ['POST', path], {})
  return { id, address: urls.testnet }
}

const call = async (address: string, times: number): Promise<void> => {
  for (let count = 0; count < times; count += 1) await callNode(address)
}

describePages('quotas and places', { limits }, (getFixtures) => {
  test('every page of an app says that its quota is nearly or entirely used up', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const { id, address } = await createApp(ada, pages.url)
    await call(address, 7)
    await page.goto(`${pages.url}/apps/${id}/settings/advanced`)
    await page.getByText('7 of 10', { exact: true }).waitFor()
    expect(await page.getByText(/daily quota/).count()).toBe(0)
    await call(address, 1)
    await page.goto(`${pages.url}/apps/${id}/setup`)
    await page.getByText('80% of the daily quota of this app is used: 8 of 10 requests.').waitFor()
    await call(address, 3)
    for (const view of ['setup', 'metrics', 'networks', 'settings/allow-list', 'settings/jwt-keys']) {
      await page.goto(`${pages.url}/apps/${id}/${view}`)
      await page
        .getByText('The daily quota of this app, 10 requests, is used up. Requests are rejected until')
        .waitFor()
      expect(await page.locator('.page-head .badge').allTextContents()).toEqual(['Quota used up'])
    }
    // The list does not show the app as working.
    await page.goto(`${pages.url}/apps`)
    await page.getByRole('heading', { name: 'Portfolio' }).waitFor()
    expect(await page.getByText('Active', { exact: true }).count()).toBe(0)
    await page.goto(`${pages.url}/keys`)
    await page.getByRole('row', { name: /Portfolio/ }).waitFor()
    expect(await page.locator('td[data-label="State"]').allTextContents()).toEqual(['Enabled'])
  })

  test('every page of API keys says that their quota is used up', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const { key, url: address } = await callApi<{ key: { id: string }; url: string }>(
      ada,
      pages.url,
      ['POST', '/api/keys'],
      { name: 'Laptop', network: 'testnet' },
    )
    await call(address, 10)
    const places = ['/keys', `/keys/${key.id}/setup`, `/keys/${key.id}/metrics`, `/keys/${key.id}/settings`, '/account']
    for (const place of places) {
      await page.goto(pages.url + place)
      await page.getByText('The daily quota of all your API keys together, 10 requests, is used up.').waitFor()
      expect(await page.locator('.badge').allTextContents(), place).not.toContain('Active')
    }
  })

  test('the page for a new app has no form for an account with the maximum number of apps', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'First')
    await addApp(ada, pages.url, 'Second')
    await page.goto(`${pages.url}/apps`)
    await page.getByText('2 of at most 2 apps. Delete one to make room').waitFor()
    expect(await page.getByRole('link', { name: 'Create app' }).count()).toBe(0)
    // An app that was deleted today still uses a slot.
    await callApi(ada, pages.url, ['POST', `/api/apps/${id}/delete`], { name: 'First' })
    await page.goto(`${pages.url}/apps/new`)
    await page.getByRole('heading', { name: 'You have reached the maximum number of apps' }).waitFor()
    expect(await page.getByLabel('Name').count()).toBe(0)
  })

  test('a name that is taken is rejected at its field', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    await addApp(ada, pages.url, 'Portfolio')
    await page.goto(`${pages.url}/apps/new`)
    await page.getByLabel('Name').fill('PORTFOLIO')
    await page.getByRole('button', { name: 'Create app' }).click()
    await page.getByText('Is the name of another app of this account: choose another name.').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('name')
    await page.getByLabel('Name').fill('PORTFOLI')
    await page.getByRole('button', { name: 'Create app' }).click()
    await page.getByRole('heading', { name: 'PORTFOLI' }).waitFor()
  })
})
