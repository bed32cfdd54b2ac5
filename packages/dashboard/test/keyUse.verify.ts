import { expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { addApp, callApi } from './testUser.ts'

describePages('a key without an allow list', {}, (getFixtures) => {
  test('that a website uses is pointed out, and the first origin says what it would reject', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const id = await addApp(ada, pages.url, 'Shop')
    const call = <T>(method: string, path: string, body?: unknown): Promise<T> =>
      callApi<T>(ada, pages.url, [method, `/api/apps/${id}/${path}`], body)
    const { urls } = await call<{ urls: { testnet: string } }>('POST', 'key/reveal', {})
    const from = (origin: string) => callNode(urls.testnet, 'eth_chainId', { headers: { origin } })
    // The developer's own machine is no website.
    await from('http://localhost:5173')
    await from('https://shop.example')
    await from('https://shop.example')
    await callNode(urls.testnet)
    const countLogged = async () => (await call<{ items: unknown[] }>('GET', 'requests')).items.length
    await expect.poll(countLogged).toBe(4)

    await page.goto(`${pages.url}/apps/${id}/metrics`)
    await page.getByText('Websites sent requests with this key in the last 24 hours: https://shop.example.').waitFor()
    await page.getByRole('link', { name: 'Allow list' }).first().click()
    await page.getByLabel('Origin', { exact: true }).fill('https://shop.example')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Allow only https://shop.example?' })
    await dialog.getByText('2 of 4 requests of the last day in the request log would be rejected: ').waitFor()
    await dialog.getByText('http://localhost:5173').waitFor()
    await dialog.getByText('no origin (servers, curl)').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await call('GET', 'allow-list')).toMatchObject({ items: [] })
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByRole('button', { name: 'Add' }).click()
    await page.getByText('Added https://shop.example').waitFor()
    await page.getByText('Websites sent requests').waitFor({ state: 'detached' })
    expect(await callNode(urls.testnet)).toMatchObject({ status: 403, reason: 'origin_not_allowed' })

    // The metrics have all calls of each method.
    await page.getByLabel('Type').selectOption('Method')
    await page.getByLabel('Method', { exact: true }).fill('eth_getBalance')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('4 of 4 requests of the last day would be rejected: ').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(problems).toEqual([])
  })

  test('has no preview of an origin if the request log is off', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Quiet')
    await pages.reload({ requestLog: { enabled: false } })
    try {
      await page.goto(`${pages.url}/apps/${id}/settings/allow-list`)
      await page.getByLabel('Origin', { exact: true }).fill('https://shop.example')
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByText('The request log of this service is off, so it is unknown').waitFor()
      expect(await callApi(ada, pages.url, ['GET', `/api/apps/${id}/allow-list`])).toMatchObject({ items: [] })
    } finally {
      await pages.reload({})
    }
  })

  test('is an API key: an app can be limited to origins', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const { key, url } = await callApi<{ key: { id: string }; url: string }>(ada, pages.url, ['POST', '/api/keys'], {
      name: 'Laptop',
      network: 'testnet',
    })
    await callNode(url, 'eth_chainId', { headers: { origin: 'https://shop.example' } })
    const origins = () => callApi<{ items: unknown[] }>(ada, pages.url, ['GET', `/api/keys/${key.id}/origins`])
    await expect.poll(async () => (await origins()).items.length).toBe(1)
    await page.goto(`${pages.url}/keys/${key.id}/settings`)
    await page.getByText('Websites sent requests with this key in the last 24 hours').waitFor()
    await page.getByRole('link', { name: 'Create an app' }).waitFor()
  })
})
