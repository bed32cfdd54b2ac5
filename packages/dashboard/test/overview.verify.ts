import { text as readText } from 'node:stream/consumers'
import type { ControlApi, UpstreamView } from '@keyrail/gateway'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../scripts/externalPrograms.ts'
import { callNode } from './callNode.ts'
import { colorRules, findViolations, setColorScheme } from './findViolations.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { addApp, callApi, openUser, signUpByApi } from './testUser.ts'
import type { TestUser } from './testUser.ts'

const dayMs = 86_400_000
const noon = Date.UTC(2026, 10, 21, 12)

describe('the overview of an operator', needs('chromium'), () => {
  let pages: Pages
  let browser: Browser
  let ada: TestUser
  let grace: TestUser
  let adaUrl: string
  let now = noon - dayMs

  const revealUrl = async (user: TestUser, app: string): Promise<string> => {
    const path = `/api/apps/${app}/key/reveal`
    const { urls } = await callApi<{ urls: { testnet: string } }>(user, pages.url, ['POST', path], {})
    return urls.testnet
  }
  const call = (url: string, count: number, method: string): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, () => callNode(url, method)))
  const rows = (page: Page, table: string) =>
    page.getByRole('region', { name: table }).locator('tbody').getByRole('row')

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages({}, () => now), openBrowser()])
    ada = await openUser(browser, pages.url)
    grace = await openUser(browser, pages.url)
    await ada.page.clock.setFixedTime(noon)
    for (const user of [ada, grace]) await signUpByApi(user, pages.url)
    const { account } = await callApi<{ account: { id: string } }>(ada, pages.url, ['GET', '/api/session'])
    await pages.service.accounts.operator.setUserRole({ id: account.id, role: 'operator' })
    const [portfolio, compiler] = [
      await addApp(ada, pages.url, 'Portfolio'),
      await addApp(grace, pages.url, 'Compiler'),
    ]
    adaUrl = await revealUrl(ada, portfolio)
    const graceUrl = await revealUrl(grace, compiler)
    await call(adaUrl, 3, 'eth_chainId')
    await call(graceUrl, 60, 'eth_chainId')
    // Today.
    now = noon - 6 * 60_000
    await call(adaUrl, 40, 'eth_chainId')
    now += 60_000
    pages.service.log({ event: 'config', state: 'applied', needsRestart: ['listen'] })
    now += 60_000
    await call(adaUrl, 20, 'eth_nothing')
    now += 60_000
    await addApp(ada, pages.url, 'Explorer')
    now = noon
    await call(adaUrl, 20, 'eth_nothing')
    // The latency of real nodes depends on the machine.
    await ada.page.route(/\/api\/admin\/upstreams\??$/, async (route) => {
      const { items } = (await (await route.fetch()).json()) as { items: readonly UpstreamView[] }
      const [node] = items
      await route.fulfill({
        json: {
          items: [
            { ...node, name: 'near', latencyMs: 40 },
            { ...node, name: 'far', latencyMs: 320 },
            ...items.slice(1).map((one) => ({ ...one, latencyMs: 500 })),
          ],
        },
      })
    })
  }, 120_000)
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  test('says which node is slow, who used most yesterday, and what changed before the errors began', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/operator`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await page.locator('.tabs [aria-current="page"]').textContent()).toBe('Overview')

    await rows(page, 'Table of nodes').first().waitFor()
    expect(await rows(page, 'Table of nodes').first().textContent()).toMatch(/^far.*320 msSlow: 8× the fastest/)
    expect(await page.getByText('× the fastest').count()).toBe(1)

    await rows(page, 'Top accounts').first().waitFor()
    expect(await rows(page, 'Top accounts').first().textContent()).toContain(grace.email)
    expect(await rows(page, 'Top apps and API keys').first().textContent()).toContain(`Compiler${grace.email}`)

    const changes = await rows(page, 'Table of recent changes').getByRole('rowheader').allInnerTexts()
    const errors = changes.findIndex((text) => text.startsWith('Errors began'))
    expect(changes[errors]).toContain('100% of 40 calls failed since')
    expect(changes[errors + 1]).toBe('Applied a changed config')
    expect(changes[errors - 1]).toMatch(/^Created an app/)

    // Only what the instance says: no figure is made up.
    await page.getByText('Changed options that need a restart: listen.').waitFor()
    await page.getByText(/of the calls of the last 5 minutes failed/).waitFor()
    await page.getByText(/^Failed most often: Rejected: /).waitFor()
    await page.getByText('Disk of the database').waitFor()
  })

  test('shows another day, and the usage of a user on the page of the user', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/operator`)
    await rows(page, 'Top accounts').first().waitFor()
    await page.getByText('Today', { exact: true }).click()
    await expect.poll(() => rows(page, 'Top accounts').first().textContent()).toContain(ada.email)
    await page.getByText('Yesterday', { exact: true }).click()
    await rows(page, 'Top accounts').getByRole('link', { name: grace.email }).click()
    await page.waitForURL(/\/operator\/users\/usr_/)
    await page.getByRole('meter', { name: 'All API keys, today (UTC): used' }).waitFor()
    await page.getByRole('img', { name: 'Requests by day in the last 30 days: 60 in all.' }).waitFor()
  })

  test('is accessible, light and dark, and as wide as a phone', async () => {
    const { page } = ada
    await page.goto(`${pages.url}/operator`)
    await rows(page, 'Top accounts').first().waitFor()
    await rows(page, 'Table of recent changes').first().waitFor()
    const light = await findViolations(page)
    await setColorScheme(page, 'dark')
    const dark = await findViolations(page, colorRules)
    await setColorScheme(page, 'light')
    expect([...light, ...dark]).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(ada.problems).toEqual([])
  })
  test('the page of the nodes shows what each was sent by day, as its file does', async () => {
    const { page } = ada
    const testnet = { chainId: 11155111, upstreams: [{ url: pages.node, weights: { eth_getBalance: 1_000 } }] }
    await pages.reload({ networks: { testnet, mainnet: { chainId: 1, upstreams: [{ url: pages.mainnetNode }] } } })
    const getBalances = (from: number) =>
      Promise.all(
        Array.from({ length: 5 }, (_, at) =>
          callNode(adaUrl, 'eth_getBalance', { params: [`0x${String(from + at).padStart(40, '0')}`, 'latest'] }),
        ),
      )
    const readUnits = async (of: string): Promise<number> => {
      const path = '/api/admin/upstreams/days'
      const { items } = await callApi<ControlApi['GET /api/admin/upstreams/days']['response']>(ada, pages.url, [
        'GET',
        path,
      ])
      return items.find(({ day, network }) => day === of && network === 'testnet')?.upstreams[0]?.units ?? 0
    }
    expect((await getBalances(100)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    await expect.poll(() => readUnits('2026-11-21'), { timeout: 30_000 }).toBeGreaterThan(5_000)
    // The figures of a past day stay: the service itself asks its nodes all the time.
    now = noon + dayMs
    await getBalances(200)
    await expect.poll(() => readUnits('2026-11-22'), { timeout: 30_000 }).toBeGreaterThan(5_000)

    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(`${pages.url}/operator`)
    await page.locator('.tabs').getByRole('link', { name: 'Upstreams' }).click()
    const card = page.getByRole('region', { name: 'By day' })
    await card.getByRole('row', { name: /^2026-11-21 Ethereum Sepolia testnet-1: / }).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      card.getByRole('link', { name: 'CSV: calls by day' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('keyrail-upstreams-by-day.csv')
    const [head, ...lines] = (await readText(await file.createReadStream())).trimEnd().split(/\r?\n/)
    expect(head).toBe('day,network,upstream,calls,units,savedByCache,savedInFlight')
    const inFile = lines
      .map((line) => line.split(','))
      .filter(([day, network]) => day === '2026-11-21' && network === 'testnet')
    expect(inFile).toHaveLength(2)
    const [node, saved] = inFile
    expect(Number(node?.[3])).toBeGreaterThanOrEqual(5)
    const count = (value: unknown): string => Number(value).toLocaleString('en-US')
    expect(
      await card
        .getByRole('row', { name: /^2026-11-21 Ethereum Sepolia/ })
        .locator('td')
        .allTextContents(),
    ).toEqual([
      'Ethereum Sepolia',
      `${String(node?.[2])}: ${count(node?.[3])} calls, ${count(node?.[4])} units`,
      count(saved?.[5]),
      count(saved?.[6]),
    ])
    expect(await findViolations(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(ada.problems).toEqual([])
  })
})
