import type { ServiceConfigInput } from '@keyrail/gateway/test/internal.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { addApp, callApi, signUpByApi, openUser } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

// The pages only read the config: no node listens here.
const upstreams = [{ url: 'http://127.0.0.1:9' }]
/** 200 networks of 98 chains. */
const networks: ServiceConfigInput['networks'] = {
  'ethereum-mainnet': { upstreams },
  'ethereum-sepolia': { upstreams },
  'ethereum-hoodi': { upstreams },
  'base-mainnet': { upstreams },
  'base-sepolia': { upstreams },
  polygon: { upstreams, aliases: ['matic'] },
  ...Object.fromEntries(
    Array.from({ length: 194 }, (_, at) => [
      `chain-${at >> 1}-${at % 2 === 0 ? 'mainnet' : 'testnet'}`,
      { chain: `chain-${at >> 1}`, title: `Chain ${at >> 1}`, chainId: 900_000 + at, upstreams },
    ]),
  ),
}

describe('with 200 networks', { ...needs('chromium'), timeout: 120_000 }, () => {
  let pages: Pages
  let browser: Browser
  let ada: TestUser

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages({ networks }), openBrowser()])
  })
  afterEach(async () => {
    await ada.close()
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  const search = (page: Page, name: string) => page.getByRole('combobox', { name })
  const list = (page: Page) => page.getByRole('listbox', { name: 'Results' })
  const options = (page: Page) => list(page).getByRole('option').allTextContents()
  const getNetworks = async (appId: string): Promise<readonly string[]> =>
    (await callApi<{ networks: readonly string[] }>(ada, pages.url, ['GET', `/api/apps/${appId}`])).networks

  /** Types a text. @returns How many entries the list then has, and the milliseconds until they are laid out, in the page's own time. */
  const timeSearch = (page: Page, text: string): Promise<{ readonly ms: number; readonly found: number }> =>
    page.evaluate(async (typed) => {
      const field = document.querySelector<HTMLInputElement>('[role=combobox]')
      const list = document.querySelector('[role=listbox]')
      if (field === null || list === null) throw new Error('there is no search field')
      const start = performance.now()
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, typed)
      field.dispatchEvent(new Event('input', { bubbles: true }))
      // React renders the result of an event before the next task.
      await new Promise((done) => setTimeout(done, 0))
      const { height } = list.getBoundingClientRect()
      const ms = performance.now() - start
      return { ms, found: height > 0 ? list.children.length : 0 }
    }, text)

  test('an app is created on networks of several chains, which are found by keyboard', async () => {
    ada = await openUser(browser, pages.url)
    const { page, problems } = ada
    await signUpByApi(ada, pages.url)
    await page.goto(`${pages.url}/apps/new`)
    await page.getByLabel('Name').fill('Portfolio')
    const field = search(page, 'Chains and networks')
    const chips = page.getByRole('list', { name: 'Chosen networks' }).getByRole('button')
    // The chain that the config names first is the default.
    expect(await chips.allTextContents()).toEqual([
      'Remove Ethereum Mainnet',
      'Remove Ethereum Sepolia',
      'Remove Ethereum Hoodi',
    ])

    // Escape closes the list; Enter adds or removes what the arrows marked.
    await field.press('ArrowDown')
    expect((await options(page)).length).toBe(200 + 99)
    await field.press('Escape')
    expect(await field.getAttribute('aria-expanded')).toBe('false')
    await field.fill('nothing like it')
    await page.getByText('No chain and no network of this service matches.').first().waitFor()
    await field.fill('sepolia')
    expect((await options(page)).map((text) => text.split(' ')[0])).toEqual(['Ethereum', 'Base'])
    const active = async (): Promise<string | null> => {
      const id = await field.getAttribute('aria-activedescendant')
      return page.locator(`[id="${id}"]`).textContent()
    }
    expect(await active()).toContain('Ethereum')
    await field.press('ArrowDown')
    expect(await active()).toContain('Base')
    await field.press('Enter')
    expect(await chips.last().textContent()).toBe('Remove Base Sepolia')
    // A whole chain is added, and removed again.
    await field.fill('base')
    expect(await active()).toContain('all 2 networks')
    await field.press('Enter')
    expect(await chips.count()).toBe(5)
    await field.fill('Ethereum')
    expect(await list(page).getByRole('option').first().getAttribute('aria-selected')).toBe('true')
    await field.press('Enter')
    expect(await chips.allTextContents()).toEqual(['Remove Base Sepolia', 'Remove Base Mainnet'])
    // Space is a part of the text until an arrow key was pressed.
    await field.pressSequentially('chain 7')
    await field.press('ArrowDown')
    await field.press('ArrowUp')
    await field.press(' ')
    expect(await chips.count()).toBe(3)

    // The chips are buttons. The focus stays on the next one, and at the end returns to the field.
    await page.keyboard.press('Tab')
    for (const _ of [1, 2, 3]) await page.keyboard.press('Enter')
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await page.getByText('Choose at least one.').waitFor()
    for (const text of ['84532', 'matic']) {
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/apps\/app_\w+\/setup/)
    const [appId = ''] = /app_\w+/.exec(page.url()) ?? []
    expect(await callApi(ada, pages.url, ['GET', `/api/apps/${appId}`])).toMatchObject({
      chain: 'base',
      networks: ['base-sepolia', 'polygon'],
    })
    await page.locator('pre', { hasText: `KEYRAIL_BASE_URL=${pages.url}/base-sepolia` }).waitFor()
    await page.goto(`${pages.url}/apps`)
    await page.getByText(/^Other · Base, Polygon PoS · created/).waitFor()
    expect(problems).toEqual([])
  })

  test('a search takes at most 100 ms', async () => {
    ada = await openUser(browser, pages.url)
    const { page } = ada
    await signUpByApi(ada, pages.url)
    await page.goto(`${pages.url}/keys/new`)
    await search(page, 'Network').press('ArrowDown')
    expect((await options(page)).length).toBe(200)
    // Other tests share the cores, so the fastest run counts, and a slow search gets more runs.
    const found: number[] = []
    const fastest: number[] = []
    for (const text of ['900101', 'chain', 'sepolia', '', 'base']) {
      const runs: number[] = []
      for (let run = 0; run < 50 && (run < 5 || Math.min(...runs) > 100); run += 1) {
        await timeSearch(page, run % 2 === 0 ? 'polygon' : 'mainnet')
        const timed = await timeSearch(page, text)
        runs.push(timed.ms)
        if (run === 0) found.push(timed.found)
      }
      fastest.push(Math.min(...runs))
    }
    expect(found).toEqual([1, 194, 2, 200, 2])
    const slowest = Math.max(...fastest)
    console.log(`dashboard: a search of 200 networks takes at most ${slowest.toFixed(1)} ms`)
    expect(slowest).toBeLessThanOrEqual(100)
  })

  test('an API key can be created for a network found by search', async () => {
    ada = await openUser(browser, pages.url)
    const { page, problems } = ada
    await signUpByApi(ada, pages.url)
    await page.goto(`${pages.url}/keys/new`)
    await page.getByLabel('Name').fill('Indexer')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Choose a network.').waitFor()
    await search(page, 'Network').fill('matic')
    await page.getByRole('option', { name: /Polygon/ }).click()
    await page.getByText('polygon, POL, chain id 137. You cannot change it later.').waitFor()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Indexer' }).waitFor()
    await page.locator('.address', { hasText: `${pages.url}/polygon/` }).waitFor()
    expect(problems).toEqual([])
  })

  test('networks of an app are enabled and disabled, and added to a wallet only after a confirmation', async () => {
    ada = await openUser(browser, pages.url)
    const { page, context, problems } = ada
    await signUpByApi(ada, pages.url)
    const appId = await addApp(ada, pages.url, 'Portfolio')
    await callApi(ada, pages.url, ['POST', '/api/keys'], { name: 'Indexer', network: 'ethereum-hoodi' })
    await page.goto(`${pages.url}/apps/${appId}/networks`)
    const card = (name: string) => page.getByRole('region', { name })
    await card('Ethereum Mainnet').waitFor()
    expect(await page.getByRole('button', { name: /wallet/ }).count()).toBe(0)

    // Both kinds of URL.
    const hoodi = await card('Ethereum Hoodi').textContent()
    expect(hoodi).toContain(`${pages.url}/ethereum-hoodi/v2/`)
    expect(hoodi).toMatch(new RegExp(`${pages.url}/ethereum-hoodi/…`))
    await card('Ethereum Hoodi').getByRole('link', { name: 'Indexer' }).waitFor()
    expect(await card('Ethereum Mainnet').getByRole('link', { name: 'Indexer' }).count()).toBe(0)
    expect(await card('Ethereum Mainnet').getByRole('link', { name: 'etherscan.io' }).getAttribute('href')).toBe(
      'https://etherscan.io',
    )

    await page.getByRole('button', { name: 'Disable Ethereum Hoodi' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
    await card('Ethereum Hoodi').waitFor({ state: 'detached' })
    expect(await getNetworks(appId)).toEqual(['ethereum-mainnet', 'ethereum-sepolia'])
    // The networks of the app's own chain come first.
    await search(page, 'Find a network').press('ArrowDown')
    expect((await options(page))[0]).toContain('Ethereum Hoodi')
    for (const text of ['base mainnet', 'polygon']) {
      await search(page, 'Find a network').fill(text)
      await search(page, 'Find a network').press('Enter')
    }
    await page.getByRole('button', { name: 'Enable', exact: true }).click()
    await card('Base Mainnet').waitFor()
    expect(await getNetworks(appId)).toEqual(['ethereum-mainnet', 'ethereum-sepolia', 'base-mainnet', 'polygon'])

    await context.addInitScript(() => {
      const asked: unknown[] = []
      Object.assign(globalThis, {
        asked,
        ethereum: { request: async (call: unknown) => void asked.push(call) },
      })
    })
    await page.reload()
    await page.getByRole('button', { name: 'Add to wallet: Base Mainnet' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add Base Mainnet to your wallet?' })
    await dialog.getByText('which contains the key').waitFor()
    const asked = () => page.evaluate(() => (globalThis as unknown as { asked: unknown[] }).asked)
    expect(await asked()).toEqual([])
    await dialog.getByRole('button', { name: 'Add to wallet' }).click()
    await dialog.waitFor({ state: 'detached' })
    const [call] = (await asked()) as { method: string; params: [{ chainId: string; rpcUrls: string[] }] }[]
    expect(call?.method).toBe('wallet_addEthereumChain')
    expect(call?.params[0].chainId).toBe('0x2105')
    expect(call?.params[0].rpcUrls[0]).toMatch(new RegExp(`^${pages.url}/base-mainnet/v2/kr_a\\w{39}$`))
    expect(problems).toEqual([])
  })

  test('the name of a copy button has what it shows, also once it has copied', async () => {
    ada = await openUser(browser, pages.url)
    const { page, problems } = ada
    await signUpByApi(ada, pages.url)
    const appId = await addApp(ada, pages.url, 'Portfolio')
    await page.clock.install()
    await page.goto(`${pages.url}/apps/${appId}/networks`)
    const button = (shown: string) =>
      page.getByRole('button', { name: `${shown}: URL on Ethereum Mainnet`, exact: true }).getByText(shown)
    await button('Copy').waitFor()
    await page.clock.pauseAt(Date.now() + 60_000)
    await button('Copy').click()
    await button('Copied').waitFor()
    await page.clock.runFor(2_500)
    await button('Copy').waitFor()
    expect(problems).toEqual([])
  })

  test('the card of a network shows how many of its nodes are healthy, and follows within 15 seconds', async () => {
    ada = await openUser(browser, pages.url)
    const { page, problems } = ada
    await signUpByApi(ada, pages.url)
    const appId = await addApp(ada, pages.url, 'Portfolio')
    await page.clock.install()
    await page.goto(`${pages.url}/apps/${appId}/networks`)
    const card = page.getByRole('region', { name: 'Ethereum Mainnet' })
    await card.getByText('0 of 1 node healthy').waitFor()
    await card.getByText('1 down').waitFor()
    await card.getByText('No node of this network is healthy, so calls may fail.').waitFor()
    try {
      const mixed = { upstreams: [{ url: pages.mainnetNode }, { url: 'http://127.0.0.1:9' }] }
      await pages.reload({ networks: { ...networks, 'ethereum-mainnet': mixed } })
      await page.clock.runFor(15_000)
      await card.getByText('1 of 2 nodes healthy').waitFor()
      await card.getByText('1 down').waitFor()
      expect(await card.getByText('calls may fail').count()).toBe(0)

      // A poll that fails: the last counts are not shown as if they were new.
      await page.route('**/api/networks/status', (route) => route.fulfill({ status: 404, json: {} }))
      await page.clock.runFor(15_000)
      await card.getByText('The status of the nodes is unknown.').waitFor()
      expect(await card.getByText('healthy').count()).toBe(0)
      expect(problems).toEqual([])
    } finally {
      await pages.reload({})
    }
  })

  test('a network that the service no longer has is named, and can be disabled', async () => {
    ada = await openUser(browser, pages.url)
    const { page, problems } = ada
    await signUpByApi(ada, pages.url)
    const appId = await addApp(ada, pages.url, 'Portfolio')
    const { key } = await callApi<{ key: { id: string } }>(ada, pages.url, ['POST', '/api/keys'], {
      name: 'Indexer',
      network: 'ethereum-hoodi',
    })
    const { 'ethereum-hoodi': _, ...others } = networks
    await pages.reload({ networks: others })
    try {
      await page.goto(`${pages.url}/keys/${key.id}/setup`)
      await page.getByText('This service does not have the network ethereum-hoodi any more.').waitFor()
      await page.goto(`${pages.url}/apps/${appId}/networks`)
      const card = page.getByRole('region', { name: 'ethereum-hoodi' })
      await card.getByText('This service no longer has this network.').waitFor()
      await card.getByRole('button', { name: 'Disable ethereum-hoodi' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
      await card.waitFor({ state: 'detached' })
      expect(await getNetworks(appId)).toEqual(['ethereum-mainnet', 'ethereum-sepolia'])
      expect(problems).toEqual([])
    } finally {
      await pages.reload({})
    }
  })
})
