import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { clipboard, openUser, signUp } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

describe('API keys', { ...needs('chromium'), timeout: 120_000 }, () => {
  let pages: Pages
  let browser: Browser
  let ada: TestUser

  beforeAll(async () => {
    // A small daily quota, so that the test can use it up.
    ;[pages, browser] = await Promise.all([startPages({ limits: { apiKeys: { perDay: 30 } } }), openBrowser()])
  })
  afterEach(async () => {
    await ada.close()
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  const create = async (name: string, network: 'Ethereum Sepolia' | 'Ethereum Mainnet'): Promise<string> => {
    const { page } = ada
    await page.getByRole('link', { name: 'Keys', exact: true }).first().click()
    await page.getByRole('link', { name: 'Create API key' }).first().click()
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Network').fill(network)
    await page.getByLabel('Network').press('Enter')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name }).waitFor()
    await page.getByRole('button', { name: `Copy: URL on ${network}` }).click()
    await page.getByText(`Copied: URL on ${network}`).waitFor()
    return clipboard(ada)
  }

  test('shows which methods count as more than one request, if there are any', async () => {
    ada = await openUser(browser, pages.url)
    const { page, problems } = ada
    await signUp(ada, pages.url)
    const address = await create('Indexer', 'Ethereum Sepolia')
    const open = async (path: string): Promise<void> => {
      await page.goto(`${pages.url}${path}`)
      await page.getByText('Today (UTC)').waitFor()
    }
    await open('/keys')
    expect(await page.getByText('counts as').count()).toBe(0)

    await pages.reload({ limits: { apiKeys: { perDay: 30 }, weights: { eth_call: 2, eth_getLogs: 20 } } })
    expect(await callNode(address, 'eth_getLogs', { params: [{}] })).toMatchObject({ status: 200 })
    await open('/keys')
    await page.getByText('eth_getLogs counts as 20 requests. eth_call counts as 2 requests.').waitFor()
    expect(await page.getByRole('meter').getAttribute('aria-valuenow')).toBe('20')

    // A long list is collapsed.
    const weights = { eth_call: 2, eth_getLogs: 20, eth_getProof: 3, eth_estimateGas: 4 }
    await pages.reload({ limits: { apiKeys: { perDay: 30 }, weights } })
    await open('/account')
    const sentence = page.getByText('eth_getProof counts as 3 requests.')
    expect(await sentence.isVisible()).toBe(false)
    await page.getByText('4 methods count as more than one request').click()
    await sentence.waitFor()

    const own = { apiKeys: { perSecond: 7 }, weights: { eth_getLogs: 30 } }
    const testnet = { chainId: 11155111, upstreams: [{ url: pages.node }], limits: own }
    await pages.reload({ networks: { testnet, mainnet: { chainId: 1, upstreams: [{ url: pages.mainnetNode }] } } })
    await open('/keys')
    await page.getByText('On Ethereum Sepolia: 7 requests a second, 10,000 at once.').waitFor()
    await page.getByText('eth_getLogs counts as 30 requests.').waitFor()
    await pages.reload({})
    expect(problems).toEqual([])
  })

  test('create four, use up the daily quota, revoke one and create another', async () => {
    ada = await openUser(browser, pages.url)
    const { page, problems } = ada
    await signUp(ada, pages.url)

    // Missing values are reported at their fields.
    await page.goto(`${pages.url}/keys/new`)
    await page.getByText('This will be number 1 of 4.').waitFor()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Enter a name.').waitFor()
    await page.getByText('Choose a network.').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('name')

    const first = await create('Laptop', 'Ethereum Sepolia')
    expect(first).toMatch(new RegExp(`^${pages.url}/testnet/kr_t[0-9A-Za-z]{39}$`))
    await page.getByText('Waiting for your first request…').waitFor()
    expect(await callNode(first, 'eth_chainId')).toMatchObject({ status: 200, result: '0xaa36a7' })
    await page.getByText('Your first request has arrived.').waitFor()
    const second = await create('Nightly job', 'Ethereum Mainnet')
    expect(await callNode(second, 'eth_chainId')).toMatchObject({ status: 200, result: '0x1' })
    await create('Phone', 'Ethereum Sepolia')
    await create('Tablet', 'Ethereum Mainnet')
    await page.getByRole('link', { name: 'Keys', exact: true }).first().click()
    await page.getByText('4 of 4 API keys').waitFor()
    expect(await page.getByRole('link', { name: 'Create API key' }).count()).toBe(0)
    await page.goto(`${pages.url}/keys/new`)
    await page.getByRole('heading', { name: 'You have 4 of 4 API keys' }).waitFor()

    // All API keys share one daily quota.
    let succeeded = 2
    let rejected: Awaited<ReturnType<typeof callNode>> | undefined
    for (let call = 0; call < 40 && rejected === undefined; call += 1) {
      const response = await callNode(call % 2 === 0 ? first : second)
      if (response.status === 200) succeeded += 1
      else rejected = response
    }
    expect(succeeded).toBe(30)
    expect(rejected).toMatchObject({ status: 403, reason: 'quota_exceeded' })
    await page.goto(`${pages.url}/account`)
    await page.getByText('30 of 30').waitFor()
    await page.goto(`${pages.url}/keys`)
    await page.getByText('0 left. Resets').waitFor()
    expect(await page.getByRole('meter').getAttribute('aria-valuenow')).toBe('30')
    await page.getByRole('link', { name: /^Laptop/ }).click()
    await page.getByRole('link', { name: 'Metrics', exact: true }).click()
    await page.getByRole('row', { name: /Rejected: quota exceeded/ }).waitFor()

    // The rotated key shares the used-up quota, and the old key is unknown.
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Rotate key' }).click()
    await page.getByRole('dialog').getByLabel('The old key works for').selectOption('0 days: stops now')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
    // The new key is shown at once, to copy.
    const dialog = page.getByRole('dialog', { name: 'Your new key' })
    await dialog.getByRole('button', { name: 'Copy: the new key' }).click()
    await page.getByText('Copied: the new key').waitFor()
    const newKey = await clipboard(ada)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Key rotated').waitFor()
    await page.getByRole('link', { name: 'Setup' }).click()
    await page.getByRole('button', { name: 'Copy: URL on Ethereum Sepolia' }).click()
    await page.getByText('Copied: URL on Ethereum Sepolia').waitFor()
    const rotated = await clipboard(ada)
    expect(rotated).not.toBe(first)
    expect(rotated).toContain(newKey)
    expect(await callNode(first)).toMatchObject({ status: 401 })
    expect(await callNode(rotated)).toMatchObject({ status: 403, reason: 'quota_exceeded' })

    // Revoking it frees its slot.
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('3 of 4 API keys').waitFor()
    expect(await callNode(rotated)).toMatchObject({ status: 401 })
    await create('Watch', 'Ethereum Sepolia')
    expect(problems).toEqual([])
  })
})
