import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { callNode } from './callNode.ts'
import { addApp, signUpByApi, openUser } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

describe('subscriptions', needs('chromium'), () => {
  let pages: Pages
  let browser: Browser
  let ada: TestUser
  let appId: string

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages(), openBrowser()])
    ada = await openUser(browser, pages.url)
    await signUpByApi(ada, pages.url)
    appId = await addApp(ada, pages.url, 'Portfolio')
  })

  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  test('a WebSocket URL of the Networks page works, and the metrics count its notifications apart from requests', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/apps/${appId}/networks`)
    await page.getByRole('button', { name: 'Show URLs' }).click()
    const address = await page.getByText(/^ws:.*\/testnet\/v2\/kr_a\w{39}$/).textContent()
    const socket = new WebSocket(address ?? '')
    const messages: string[] = []
    socket.addEventListener('message', ({ data }) => messages.push(String(data)))
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })),
    )
    await expect.poll(() => messages.length).toBe(1)
    await callNode(pages.node, 'evm_mine')
    await expect.poll(() => messages.length).toBe(2)
    socket.close()

    await page.goto(`${pages.url}/apps/${appId}/metrics`)
    await page.getByText('1 WebSocket opened and 1 notification sent in the last hour.').waitFor()
    const requests = page.locator('.figure', { hasText: 'Total requests' }).locator('dd').first()
    expect(await requests.textContent()).toBe('1')
    await page.getByText('Notifications as a table').waitFor()
    expect(await page.getByRole('region', { name: 'Table by method' }).textContent()).not.toContain('eth_subscription')
  })

  test('the WebSocket URL of an API key is on its Setup page', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/keys/new`)
    await page.getByLabel('Name').fill('Laptop')
    await page.getByLabel('Network').fill('testnet')
    await page.getByLabel('Network').press('Enter')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Laptop' }).waitFor()
    await page.getByRole('button', { name: /^Copy: WebSocket URL on / }).waitFor()
    expect(await page.getByText(/^ws:/).textContent()).toMatch(/\/testnet\/kr_t…\w{4}$/)
  })
})
