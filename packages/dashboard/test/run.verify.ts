import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { addApp, callApi } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { signJwt } from './signJwt.ts'

const run = (page: Page): Promise<void> => page.getByRole('button', { name: 'Run', exact: true }).click()
const getResponse = async (page: Page): Promise<Record<string, unknown>> =>
  JSON.parse((await page.getByRole('region', { name: 'Response body' }).textContent()) ?? '') as Record<string, unknown>

const addEntry = (ada: TestUser, url: string, appId: string, entry: object): Promise<unknown> =>
  callApi(ada, url, ['POST', `/api/apps/${appId}/allow-list`], entry)

describePages('Run on the page of an example', {}, (getFixtures) => {
  test('makes the call of each example that a page can make, and shows status, latency, request id and response', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    await callNode(pages.node, 'eth_sendTransaction', {
      params: [{ from: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', to: `0x${'12'.repeat(20)}`, value: '0x1' }],
    })
    await page.goto(`${pages.url}/apps/${await addApp(ada, pages.url, 'Portfolio')}/setup`)
    await page.getByText('It counts as a request.').waitFor()
    const [call] = await Promise.all([page.waitForResponse(/\/testnet\/v2\//), run(page)])
    expect(call.request().headers()).not.toHaveProperty('cookie')
    await page.getByText(/^Status 200, after [\d.,]+ ms\.$/).waitFor()
    await page.getByText(call.headers()['x-request-id'] ?? 'no id', { exact: true }).waitFor()
    expect(await getResponse(page)).toMatchObject({ jsonrpc: '2.0', id: 1, result: { number: '0x1' } })
    await page.getByText('Your first request has arrived.').waitFor()

    const expected: readonly (readonly [title: string, response: object])[] = [
      ['Get block by number', { result: { number: '0x0' } }],
      ['Get transaction', { result: { value: '0x1', to: `0x${'12'.repeat(20)}` } }],
      ['Get transaction receipt', { result: { status: '0x1' } }],
      ['Get logs of a contract', { result: [] }],
      ['Read a contract', { result: '0x' }],
      ['Get chain id', { result: '0xaa36a7' }],
    ]
    for (const [title, response] of expected) {
      await page.getByLabel('Method').selectOption(title)
      // The response of another example is not shown.
      await page.getByRole('region', { name: 'Response body' }).waitFor({ state: 'detached' })
      await run(page)
      expect(await getResponse(page), title).toMatchObject(response)
    }
    await page.getByLabel('Method').selectOption('Get balance')
    await page.getByLabel('Account').fill(`0x${'12'.repeat(20)}`)
    await run(page)
    expect(await getResponse(page)).toMatchObject({ result: '0x1' })
    await page.getByLabel('Method').selectOption('Get gas price and fees')
    await run(page)
    await page.getByText('eth_gasPrice, eth_maxPriorityFeePerGas').waitFor()
    expect(await getResponse(page)).toMatchObject([{ id: 1 }, { id: 2 }])
    for (const title of ['Send a raw transaction', 'Subscribe to new blocks']) {
      await page.getByLabel('Method').selectOption(title)
      await page.getByText('This page cannot run it').waitFor()
      expect(await page.getByRole('button', { name: 'Run', exact: true }).count()).toBe(0)
    }
    // The page does not show the key.
    expect(await page.content()).not.toMatch(/kr_a\w{39}/)
    expect(problems).toEqual([])
  })

  test('runs an API key, and cuts a long response', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { key } = await callApi<{ key: { id: string } }>(ada, pages.url, ['POST', '/api/keys'], {
      name: 'Laptop',
      network: 'testnet',
    })
    await page.goto(`${pages.url}/keys/${key.id}/setup`)
    await page.getByLabel('Method').selectOption('Get chain id')
    await run(page)
    expect(await getResponse(page)).toMatchObject({ result: '0xaa36a7' })
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: Array.from({ length: 2_000 }, () => '0123456789') })
    await page.route(/\/testnet\/kr_t/, (route) => route.fulfill({ body }))
    await run(page)
    await page.getByText(`The first 20 kB of ${body.length.toLocaleString('en-US')} bytes.`).waitFor()
    const shown = await page.getByRole('region', { name: 'Response body' }).textContent()
    expect(shown).toHaveLength(20_000)
    await page.unroute(/\/testnet\/kr_t/)
    expect(problems).toEqual([])
  })

  test('names the fix of a rejection: an allow list without the origin of the dashboard, a missing token, a wrong one', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const appId = await addApp(ada, pages.url, 'Portfolio')
    await addEntry(ada, pages.url, appId, { type: 'origin', value: 'https://portfolio.example' })
    const alert = page.getByRole('alert')
    await page.goto(`${pages.url}/apps/${appId}/setup`)
    await run(page)
    await alert.getByText('Rejected due to app settings: origin not allowed (code -32002).').waitFor()
    await alert.getByText(`this dashboard’s, ${pages.url}, is not one of them`).waitFor()
    await page.getByText(/^Status 403, an error, after/).waitFor()
    await alert.getByRole('link', { name: 'Allow list' }).click()
    await page.getByRole('heading', { name: 'Allow list' }).waitFor()
    await addEntry(ada, pages.url, appId, { type: 'origin', value: pages.url })

    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = publicKey.export({ type: 'spki', format: 'pem' })
    const { kid } = await callApi<{ kid: string }>(ada, pages.url, ['POST', `/api/apps/${appId}/jwt-keys`], { pem })
    const { version } = await callApi<{ version: number }>(ada, pages.url, ['GET', `/api/apps/${appId}`])
    await callApi(ada, pages.url, ['PATCH', `/api/apps/${appId}`], { version, requireJwt: true })
    await page.goto(`${pages.url}/apps/${appId}/setup`)
    await run(page)
    await page.getByText('Paste a token.').waitFor()
    await page.getByLabel('Token').fill('eyJ.no.token')
    await run(page)
    await alert.getByText('Invalid JWT').waitFor()
    await alert.getByRole('link', { name: 'JWT keys' }).waitFor()
    await page.getByLabel('Token').fill(signJwt(privateKey, kid))
    await page.getByLabel('Token').press('Enter')
    await page.getByText(/^Status 200, after/).waitFor()
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toMatch(/kr_|eyJ/)
  })

  test('a run is busy until the response arrives, and is canceled after 10 s', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    await page.goto(`${pages.url}/apps/${await addApp(ada, pages.url, 'Portfolio')}/setup`)
    let calls = 0
    await page.route(/\/testnet\/v2\//, () => void (calls += 1))
    await run(page)
    const busy = page.getByRole('button', { name: 'Running…' })
    await busy.click({ force: true })
    expect(await busy.getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('alert').getByText('No response within 10 s').waitFor()
    expect(calls).toBe(1)
    await page.unroute(/\/testnet\/v2\//)
    await run(page)
    await page.getByText(/^Status 200, after/).waitFor()
  })
})

describePages('Run where keys are never revealed', { reveal: 'never' }, (getFixtures) => {
  test('the user pastes the key, which stays in memory', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { app, apiKey } = await callApi<{ app: { id: string }; apiKey: string }>(
      ada,
      pages.url,
      ['POST', '/api/apps'],
      { name: 'Portfolio', useCase: 'Wallet', chain: 'ethereum', services: ['Node API'] },
    )
    await page.goto(`${pages.url}/apps/${app.id}/setup`)
    const field = page.getByLabel('Key', { exact: true })
    await field.fill('kr_a')
    await run(page)
    await page.getByText(`Paste the whole key: kr_a…${apiKey.slice(-4)}`).waitFor()
    await field.fill(apiKey)
    await run(page)
    await page.getByText(/^Status 200, after/).waitFor()
    // The page does not ask for it again, and does not show it.
    await field.waitFor({ state: 'detached' })
    await page.getByLabel('Method').selectOption('Get chain id')
    await run(page)
    expect(await getResponse(page)).toMatchObject({ result: '0xaa36a7' })
    expect(await page.content()).not.toContain(apiKey)
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toMatch(/kr_/)
    await page.reload()
    await field.waitFor()
    expect(problems).toEqual([])
  })
})
