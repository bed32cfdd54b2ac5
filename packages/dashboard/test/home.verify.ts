import type { ActivityView, AppView } from '@keyrail/gateway'
import { expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { addApp, callApi } from './testUser.ts'
import type { TestUser } from './testUser.ts'

const isActivity = (url: URL): boolean => url.pathname === '/api/activity'

const callApp = async (ada: TestUser, url: string, id: string, methods: readonly string[]): Promise<void> => {
  const path = `/api/apps/${id}/key/reveal`
  const { urls } = await callApi<{ urls: { testnet: string } }>(ada, url, ['POST', path], {})
  for (const method of methods) await callNode(urls.testnet, method)
}

describePages('the home page', {}, (getFixtures) => {
  test('each app and each key is listed with its requests of 24 hours, from one request for all', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Portfolio')
    await addApp(ada, pages.url, 'Unused')
    const { url: address } = await callApi<{ url: string }>(ada, pages.url, ['POST', '/api/keys'], {
      name: 'Laptop',
      network: 'testnet',
    })
    await callApp(ada, pages.url, id, ['eth_blockNumber', 'eth_chainId', 'eth_gasPrice', 'eth_nothing'])
    await callNode(address)
    await expect.poll(async () => (await callApi<ActivityView>(ada, pages.url, ['GET', '/api/activity'])).total).toBe(5)
    const requests: string[] = []
    page.on('request', (request) => {
      if (/activity|metrics/.test(request.url())) requests.push(new URL(request.url()).pathname)
    })
    await page.goto(`${pages.url}/apps`)
    const portfolio = page.getByRole('listitem').filter({ hasText: 'Portfolio' })
    await portfolio.getByText('4 requests in 24 hours, 25% errors').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Unused' }).getByText('No requests in 24 hours').waitFor()
    expect(requests).toEqual(['/api/activity'])
    // Right after sign-up, an app's key is the only one: a page that listed only API keys said "0 of 4".
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
    await row('Laptop').getByText('1 request in 24 hours, 0% errors').waitFor()
    await row('Portfolio').getByText('4 requests in 24 hours, 25% errors').waitFor()
    await row('Unused').getByText('No requests in 24 hours').waitFor()
    const app = await callApi<AppView>(ada, pages.url, ['GET', `/api/apps/${id}`])
    expect(await row('Portfolio').textContent()).toContain(`App…${app.key.ending}Ethereum Sepolia, Ethereum Mainnet`)
    expect(await row('Laptop').textContent()).toContain('API key…')
    await row('Portfolio').getByRole('link').click()
    await page.waitForURL(`${pages.url}/apps/${id}/setup`)
  })

  test('a banner names the networks of the account that have no healthy node', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const banner = page.getByText('Ethereum Sepolia has no healthy node')
    const down = {
      testnet: { chainId: 11155111, upstreams: [{ url: 'http://127.0.0.1:9' }] },
      mainnet: { chainId: 1, upstreams: [{ url: pages.mainnetNode }] },
      // No app and no API key of the account has it.
      hoodi: { chainId: 560048, upstreams: [{ url: 'http://127.0.0.1:9' }] },
    }
    await callApi(ada, pages.url, ['POST', '/api/keys'], { name: 'Laptop', network: 'testnet' })
    await pages.reload({ networks: down })
    try {
      await page.goto(`${pages.url}/apps`)
      await banner.waitFor()
      expect(await page.getByRole('status').filter({ hasText: 'no healthy node' }).textContent()).toBe(
        'Ethereum Sepolia has no healthy node, so calls of your apps and API keys to it may fail.',
      )
    } finally {
      await pages.reload({})
    }
    await page.reload()
    await page.getByRole('heading', { name: 'Apps', exact: true }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await banner.count()).toBe(0)
  })

  test('a first request that reverts is not shown as a failure', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Portfolio')
    const path = `/api/apps/${id}/key/reveal`
    const { urls } = await callApi<{ urls: { testnet: string } }>(ada, pages.url, ['POST', path], {})
    await page.goto(`${pages.url}/apps/${id}/setup`)
    await page.getByText('Waiting for your first request…').waitFor()
    await callNode(urls.testnet, 'eth_call', { params: [{ data: '0x60006000fd' }, 'latest'] })
    const first = page.getByRole('region', { name: 'First request' })
    await first.getByText('200 Reverted').waitFor()
    expect(await first.locator('.badge.bad').count()).toBe(0)
  })

  test('the switcher opens the same page of another app, by keyboard', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const first = await addApp(ada, pages.url, 'Portfolio')
    const second = await addApp(ada, pages.url, 'Wallet backend')
    await page.goto(`${pages.url}/apps/${first}/settings/allow-list`)
    await page.getByRole('combobox', { name: 'Switch app' }).focus()
    await page.keyboard.type('backend')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${pages.url}/apps/${second}/settings/allow-list`)
    await page.getByRole('heading', { name: 'Wallet backend' }).waitFor()
    expect(await page.getByRole('combobox', { name: 'Switch app' }).inputValue()).toBe('')
  })

  test('the checklist shows what an app has, links to the rest, and stays dismissed', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Portfolio')
    const setup = `${pages.url}/apps/${id}/setup`
    await page.goto(setup)
    await page.getByText('0 of 5 steps done.').waitFor()
    await callApp(ada, pages.url, id, ['eth_blockNumber'])
    await page.getByText('1 of 5 steps done.').waitFor()
    await callApi(ada, pages.url, ['POST', `/api/apps/${id}/allow-list`], { type: 'method', value: 'eth_*' })
    await page.reload()
    await page.getByText('2 of 5 steps done.').waitFor()
    expect(await page.locator('.checklist .done p').allTextContents()).toEqual([
      'Make the first request (done)',
      'Restrict who can use the key (done)',
    ])
    for (const [name, path] of [
      ['Set limits', 'advanced'],
      ['Import a key for JWTs', 'jwt-keys'],
    ] as const) {
      await page.getByRole('link', { name }).click()
      await page.waitForURL(`${pages.url}/apps/${id}/settings/${path}`)
      await page.goto(setup)
    }
    await page.getByRole('link', { name: 'Get an alert' }).click()
    await page.waitForURL(`${pages.url}/account/alerts`)
    await page.goto(setup)
    await page.getByRole('button', { name: 'Dismiss getting started' }).click()
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
    await page.reload()
    await page.getByRole('heading', { name: 'Make a call' }).waitFor()
    expect(await page.getByText('Getting started').count()).toBe(0)
  })

  test('of 1,000 apps, the switcher and the page of cards render only some', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Portfolio')
    const app = await callApi<{ id: string }>(ada, pages.url, ['GET', `/api/apps/${id}`])
    const activity = await callApi<ActivityView>(ada, pages.url, ['GET', '/api/activity'])
    const ids = Array.from({ length: 1_000 }, (_, at) => (at === 0 ? id : `app_${String(at).padStart(20, '0')}`))
    const items = ids.map((one, at) => ({
      ...activity.items[0],
      id: one,
      name: at === 0 ? 'Portfolio' : `App ${at}`,
      total: 24 * at,
      failed: at,
      totals: Array.from({ length: 24 }, () => at),
      failures: Array.from({ length: 24 }, (__, hour) => (hour === 0 ? at : 0)),
    }))
    await page.route(isActivity, (route) => route.fulfill({ json: { ...activity, items } }))
    await page.route(
      (url) => url.pathname === '/api/apps',
      async (route) => {
        const start = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0)
        const shown = items.slice(start, start + 48).map(({ id: one, name }) => ({ ...app, id: one, name }))
        await route.fulfill({ json: { items: shown, next: String(start + 48), total: 1_000, free: 0 } })
      },
    )
    /** The longest time from an event to the next paint, in milliseconds. */
    const observe = (): Promise<void> =>
      page.evaluate(() => {
        const seen = globalThis as unknown as { longest: number }
        seen.longest = 0
        new PerformanceObserver((list) => {
          for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration)
        }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit)
      })
    const getLongest = (): Promise<number> =>
      page.evaluate(() => (globalThis as unknown as { longest: number }).longest)
    await page.goto(`${pages.url}/apps/${id}/networks`)
    await page.getByRole('combobox', { name: 'Switch app' }).waitFor()
    await observe()
    await page.getByRole('combobox', { name: 'Switch app' }).click()
    await page.getByRole('option').first().waitFor()
    // The number of rendered elements determines how long an interaction takes. The time depends on the machine, so it is only printed.
    expect(await page.getByRole('option').count()).toBeLessThanOrEqual(100)
    await page.keyboard.type('app 99')
    await page.getByRole('option', { name: 'App 999' }).waitFor()
    const switcher = await getLongest()
    await page.goto(`${pages.url}/apps`)
    await page.getByRole('heading', { name: 'App 47' }).waitFor()
    await observe()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('heading', { name: 'App 95' }).waitFor()
    const cards = await getLongest()
    console.log(`dashboard: with 1,000 apps, the switcher takes ${switcher} ms at most, more cards ${cards} ms`)
    expect(await page.getByRole('heading', { name: /^App \d+$/ }).count()).toBeLessThanOrEqual(96)
  })
})
