import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { addApp, callApi } from './testUser.ts'
import type { Fixtures } from './describePages.ts'

/** Opens the metrics of an app that got 3 requests of 2 methods. */
async function openMetrics({ pages, ada }: Fixtures): Promise<{ readonly page: Page; readonly path: string }> {
  const id = await addApp(ada, pages.url, 'Portfolio')
  const reveal = `/api/apps/${id}/key/reveal`
  const { urls } = await callApi<{ urls: { testnet: string } }>(ada, pages.url, ['POST', reveal], {})
  for (const method of ['eth_blockNumber', 'eth_blockNumber', 'eth_nothing']) await callNode(urls.testnet, method)
  const { page } = ada
  const path = `${pages.url}/apps/${id}/metrics`
  await page.goto(path)
  await getTotal(page, 3)
  return { page, path }
}

const getTotal = (page: Page, total: number): Promise<void> =>
  page.locator('.figure', { hasText: 'Total requests' }).getByText(String(total), { exact: true }).waitFor()

const getChart = (page: Page, name: RegExp) => page.getByRole('img', { name })

describePages('the charts', {}, (getFixtures) => {
  test('the pointer in one chart shows the same moment in the others', async () => {
    const { page } = await openMetrics(getFixtures())
    await page.getByText('Day', { exact: true }).click()
    await page.getByText('in the last 24 hours', { exact: true }).waitFor()
    const requests = getChart(page, /^Requests by hour/)
    const box = await requests.boundingBox()
    // The current hour is the last bar.
    await requests.hover({ position: { x: (box?.width ?? 0) - 45, y: 100 } })
    const legends = page.locator('.legend')
    await expect.poll(() => legends.first().textContent()).toMatch(/Succeeded: 2Reverted: 0Failed or rejected: 1/)
    const latency = await legends.nth(1).textContent()
    expect(latency).toMatch(/Median: .* ms95th percentile: .* ms/)
    const time = (await legends.first().locator('span').last().textContent()) ?? ''
    expect(time).not.toBe('')
    expect(latency).toContain(time)
    expect(await page.locator('.chart .cursor').count()).toBe(2)
    await page.mouse.move(0, 0)
    await expect.poll(() => page.locator('.chart .cursor').count()).toBe(0)
  })

  test('dragging over a chart zooms in, and Back zooms out', async () => {
    const { page, path } = await openMetrics(getFixtures())
    await page.getByText('Day', { exact: true }).click()
    await page.getByText('in the last 24 hours', { exact: true }).waitFor()
    const requests = getChart(page, /^Requests by hour/)
    await requests.scrollIntoViewIfNeeded()
    const { x, y, width } = (await requests.boundingBox()) ?? { x: 0, y: 0, width: 0 }
    const slot = (width - 88) / 24
    await page.mouse.move(x + 58 + slot * 20.5, y + 100)
    await page.mouse.down()
    await page.mouse.move(x + 58 + slot * 23.5, y + 100, { steps: 4 })
    await page.locator('.chart .dragged').first().waitFor()
    await page.mouse.up()
    await page.waitForURL(/from=.*&to=/)
    // 4 hours have minutes.
    await getChart(page, /^Requests by minute in the chosen range: 3 in all/).waitFor()
    await page.getByText('Requests as a table').click()
    expect(await page.getByRole('region', { name: 'Table: Requests' }).locator('tbody tr').count()).toBe(240)
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0)
    await page.goBack()
    await page.waitForURL(`${path}?range=day`)
    await page.getByText('in the last 24 hours', { exact: true }).waitFor()
  })

  test('a custom range is validated, shown, and survives a reload', async () => {
    const { page } = await openMetrics(getFixtures())
    await page.getByText('Custom', { exact: true }).click()
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('Must be after the start').waitFor()
    await page.getByLabel('From', { exact: true }).fill('2019-12-01T00:00')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('No requests in the chosen range').waitFor()
    await page.reload()
    await page.getByText('No requests in the chosen range').waitFor()
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2019-12-01T00:00')
    await page.getByText('Hour', { exact: true }).click()
    await getTotal(page, 3)
    expect(await page.getByLabel('From', { exact: true }).count()).toBe(0)
  })

  test('the rows of the tables filter everything on the page, in its URL and in CSV files', async () => {
    const { page, path } = await openMetrics(getFixtures())
    await page.getByRole('button', { name: 'eth_blockNumber' }).click()
    await getTotal(page, 2)
    await page.waitForURL(`${path}?method=eth_blockNumber`)
    await page.getByRole('button', { name: 'Succeeded' }).click()
    await page.waitForURL(`${path}?method=eth_blockNumber&outcome=succeeded`)
    await page.reload()
    await getTotal(page, 2)
    const filters = page.getByRole('group', { name: 'Filters' })
    expect(await filters.locator('strong').allTextContents()).toEqual(['eth_blockNumber', 'Succeeded'])
    const links = page.getByRole('link', { name: 'CSV' })
    expect(await links.first().getAttribute('href')).toContain('method=eth_blockNumber&outcome=succeeded')
    // The button of an active filter removes it.
    await page.getByRole('button', { name: 'eth_blockNumber', pressed: true }).click()
    await page.waitForURL(`${path}?outcome=succeeded`)
    await filters.getByRole('button', { name: 'Remove the filter Outcome: Succeeded' }).click()
    await getTotal(page, 3)
    await page.goto(`${path}?method=eth_call`)
    await page.getByText('No request in the last hour matches the filters').waitFor()
    expect(await filters.count()).toBe(1)
  })
})
