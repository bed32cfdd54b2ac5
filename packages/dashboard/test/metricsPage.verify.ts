import type { MetricsView } from '@keyrail/gateway'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { findViolations } from './findViolations.ts'
import { addApp, callApi, logIn } from './testUser.ts'
import type { Fixtures } from './describePages.ts'

const ranges = ['Hour', 'Day', 'Week', 'Month', '90 days'] as const
const isApi = (url: URL): boolean => url.pathname.startsWith('/api/')

/** Opens the metrics of an app that got one request. */
async function openMetrics({ pages, ada }: Fixtures): Promise<{ readonly page: Page; readonly path: string }> {
  const id = await addApp(ada, pages.url, 'Portfolio')
  const { urls } = await callApi<{ urls: { testnet: string } }>(
    ada,
    pages.url,
    ['POST', `/api/apps/${id}/key/reveal`],
    {},
  )
  await callNode(urls.testnet)
  const { page } = ada
  const path = `${pages.url}/apps/${id}/metrics`
  await page.goto(path)
  await page.getByRole('row', { name: /eth_blockNumber/ }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  return { page, path }
}

describePages('the metrics page', {}, (getFixtures) => {
  test('while a range loads, the labels are those of the data, which is dimmed', async () => {
    const { page } = await openMetrics(getFixtures())
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route(
      (url) => url.searchParams.get('range') === 'quarter',
      async (route) => {
        await held
        await route.continue()
      },
    )
    await page.getByText('90 days', { exact: true }).click()
    await page.getByText('Loading the last 90 days…').waitFor()
    expect(await page.locator('.figure').first().textContent()).toBe('Total requests1in the last hour')
    const opacity = (): Promise<unknown> =>
      page.evaluate("getComputedStyle(document.querySelector('figure svg[role=img]')).opacity")
    expect(await opacity()).toBe('0.4')
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0)
    release()
    await page.getByText('in the last 90 days', { exact: true }).waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await opacity()).toBe('1')
  })

  test('with a service that hangs, the page is not live, says so, and recovers', async () => {
    const { page } = await openMetrics(getFixtures())
    await page.route(isApi, () => undefined)
    await page.getByText(/^Not live, from /).waitFor()
    await page.getByText('The service does not respond. This page may be out of date.').waitFor()
    await page.unroute(isApi)
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await page.getByText('The service does not respond.').count()).toBe(0)
  })

  test('a save that gets no response fails after 10 s, and can be retried', async () => {
    const fixtures = getFixtures()
    const { pages, ada } = fixtures
    const { page } = ada
    const id = await addApp(ada, pages.url, 'Portfolio')
    await page.goto(`${pages.url}/apps/${id}/settings/advanced`)
    await page.getByLabel('Description').fill('A long text')
    await page.route(isApi, () => undefined)
    const save = page.getByRole('button', { name: 'Save' }).first()
    await save.click()
    await page.getByText('The service did not respond within 10 s. It may have made the change').waitFor()
    await page.getByText('The service does not respond. This page may be out of date.').waitFor()
    await page.unroute(isApi)
    await page.getByText('The service does not respond.').waitFor({ state: 'detached' })
    await save.click()
    await page.getByText('Saved', { exact: true }).waitFor()
    expect(await callApi(ada, pages.url, ['GET', `/api/apps/${id}`])).toMatchObject({ description: 'A long text' })
  })

  test('the labels of the time axis do not overlap, and the table has exact numbers', async () => {
    const { page } = await openMetrics(getFixtures())
    await page.route(
      (url) => url.pathname.endsWith('/metrics') && isApi(url),
      async (route) => {
        const metrics = (await (await route.fetch()).json()) as MetricsView
        const series = metrics.series.map((one, at) =>
          at === 3 ? { ...one, total: 12_345, succeeded: 12_344, p50: 12.345, p95: 1_234.5 } : one,
        )
        await route.fulfill({ json: { ...metrics, series } })
      },
    )
    await page.reload()
    for (const width of [1_280, 360]) {
      await page.setViewportSize({ width, height: 900 })
      for (const range of ranges) {
        await page.getByText(range, { exact: true }).click()
        await page.locator('.old').waitFor({ state: 'detached' })
        for (const chart of await page.locator('svg[role=img]').all()) {
          const ticks = chart.locator('.tick')
          const boxes = await Promise.all((await ticks.all()).map((tick) => tick.boundingBox()))
          expect(boxes.length, range).toBeGreaterThan(0)
          for (const [at, box] of boxes.entries()) {
            const before = at === 0 ? undefined : boxes[at - 1]
            expect(box?.x, `${range} at ${width}`).toBeGreaterThan(before ? before.x + before.width : 0)
          }
          const texts = await ticks.allTextContents()
          expect(new Set(texts).size, texts.join()).toBe(texts.length)
          if (range === 'Hour') for (const text of texts) expect(text).toMatch(/^\d+:[0-5][05]/)
        }
        const table = page.getByRole('region', { name: 'Table: Requests' })
        const latency = page.getByRole('region', { name: 'Table: Latency' })
        for (const name of ['Requests', 'Latency']) {
          const shown = page.locator('details', { hasText: `${name} as a table` })
          if ((await shown.getAttribute('open')) === null) await shown.locator('summary').click()
        }
        expect(await table.locator('tbody tr').nth(3).locator('td').allTextContents()).toEqual(['12,344', '0', '1'])
        expect(await latency.locator('tbody tr').nth(3).locator('td').allTextContents()).toEqual([
          '12.345 ms',
          '1,234.5 ms',
        ])
      }
    }
  })

  test('the range is in the URL, each CSV link has its own name, and without a session it leads to the log-in', async () => {
    const fixtures = getFixtures()
    const { page, path } = await openMetrics(fixtures)
    await page.getByText('Week', { exact: true }).click()
    await page.waitForURL(`${path}?range=week`)
    await page.reload()
    await page.getByText('in the last 7 days', { exact: true }).waitFor()
    const links = page.getByRole('link', { name: 'CSV' })
    const names = await links.evaluateAll((all) => all.map((link) => link.getAttribute('aria-label')))
    expect(names).toEqual([
      'CSV: requests over time',
      'CSV: latency over time',
      'CSV: methods',
      'CSV: outcomes',
      'CSV: networks',
    ])
    const download = page.waitForEvent('download')
    await links.first().click()
    expect((await download).suggestedFilename()).toBe('keyrail-portfolio-series-week.csv')
    await fixtures.ada.context.clearCookies()
    await links.first().click()
    await page.getByText('Your session has expired.').waitFor()
    await logIn(fixtures.ada)
    await page.waitForURL(`${path}?range=week`)
  })

  test('it is compared with the previous period, and says so if nothing was counted then', async () => {
    const { page, path } = await openMetrics(getFixtures())
    const compare = page.getByLabel('Compare with the previous period')
    await compare.press('Space')
    await page.waitForURL(`${path}?compare=true`)
    await page.getByText(/^There is no previous period: requests are counted from /).waitFor()
    await page.route(
      (url) => isApi(url) && url.searchParams.has('from'),
      async (route) => {
        const past = (await (await route.fetch()).json()) as MetricsView
        const series = past.series.map((one) => ({ ...one, total: 4, p50: 2, p95: 3 }))
        await route.fulfill({ json: { ...past, series, total: 4, countedFrom: '2020-01-01T00:00:00.000Z' } })
      },
    )
    await page.reload()
    await page.locator('.figure', { hasText: 'Total requests' }).getByText('-75% against before').waitFor()
    await page.getByText(/^Compared with .* The current minute is not over yet\.$/).waitFor()
    expect(await page.locator('.legend').first().textContent()).toBe('SucceededRevertedFailed or rejectedBefore')
    expect(await page.locator('svg[role=img] .line-past').getAttribute('d')).toMatch(/^M/)
    expect(await findViolations(page)).toEqual([])
    await compare.press('Space')
    await page.waitForURL(path)
    await page.getByText('against before').first().waitFor({ state: 'detached' })
  })

  test('it says why requests and what the limits charged differ, and its charts are aligned', async () => {
    const fixtures = getFixtures()
    const { pages, ada } = fixtures
    const { page, path } = await openMetrics(fixtures)
    const appId = /app_\w+/.exec(path)?.[0] ?? ''
    const reveal = `/api/apps/${appId}/key/reveal`
    const { urls } = await callApi<{ urls: { testnet: string } }>(ada, pages.url, ['POST', reveal], {})
    await callNode(urls.testnet, 'eth_nothing')
    await page
      .getByText('2 requests, 1 charged to the limits: 1 was rejected before it reached a node.', { exact: true })
      .waitFor()
    await page.setViewportSize({ width: 1_440, height: 900 })
    const charts = await page.locator('figure svg[role=img]').all()
    const boxes = await Promise.all(charts.map((chart) => chart.boundingBox()))
    expect(boxes).toHaveLength(2)
    expect(boxes[0]).toMatchObject({ y: boxes[1]?.y, width: boxes[1]?.width, height: boxes[1]?.height })
    const cards = await page.locator('.columns.aligned > .card').all()
    const heights = await Promise.all(cards.map(async (card) => (await card.boundingBox())?.height))
    expect(new Set(heights).size).toBe(1)
    await page.setViewportSize({ width: 1_280, height: 720 })
  })

  test('the search of a list is in the URL', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    for (const name of ['Portfolio', 'Wallet 7', 'Wallet 8']) await addApp(ada, pages.url, name)
    await page.goto(`${pages.url}/apps`)
    await page.getByLabel('Find an app').fill('7')
    await page.getByText('1 app', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Wallet 7' }).click()
    await page.waitForURL(/\/setup/)
    await page.goBack()
    await page.getByText('1 app', { exact: true }).waitFor()
    expect(await page.getByLabel('Find an app').inputValue()).toBe('7')
    await page.reload()
    await page.getByText('1 app', { exact: true }).waitFor()
  })
})
