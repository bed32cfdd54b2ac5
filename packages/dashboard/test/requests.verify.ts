import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { toFunctionSelector } from 'viem/utils'
import { callNode } from './callNode.ts'
import { describePages } from './describePages.ts'
import { findViolations } from './findViolations.ts'
import { addApp, callApi, clipboard } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { runCopied } from './runCopied.ts'

const account = `0x${'ab'.repeat(20)}`

/** Creates an app. @returns Its page of requests, and its endpoints. */
async function createApp(ada: TestUser, url: string, name = 'Portfolio') {
  const id = await addApp(ada, url, name)
  const { urls } = await callApi<{ urls: Record<'testnet' | 'mainnet', string> }>(
    ada,
    url,
    ['POST', `/api/apps/${id}/key/reveal`],
    {},
  )
  return { id, log: `${url}/apps/${id}/requests`, ...urls }
}

/** The code of a contract whose constructor reverts with the given bytes, at most 32. */
const revertWith = (bytes: string): string =>
  `0x7f${bytes.padEnd(64, '0')}5f5260${(bytes.length / 2).toString(16).padStart(2, '0')}5ffd`
const panic = `0x7f4e487b71${'0'.repeat(56)}5f52601160045260245ffd`

const rows = (page: Page) => page.locator('tbody tr')
/** How many requests the table has, whether or not their rows are rendered. */
const countRequests = async (page: Page): Promise<number> =>
  Number(await page.locator('table.requests').getAttribute('aria-rowcount')) - 1
/** The request beside the list. */
const panel = (page: Page) => page.getByRole('region', { name: 'Request', exact: true })
const row = (page: Page, name: string | RegExp) => page.getByRole('row', { name })

/** How many requests the log of an app or an API key has. */
async function countLogged(ada: TestUser, url: string, subject: string): Promise<number> {
  let total = 0
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const found: { items: unknown[]; next: string | null } = await callApi(ada, url, [
      'GET',
      `/api/${subject}/requests?limit=100${query}`,
    ])
    total += found.items.length
    cursor = found.next
  }
  return total
}

describePages('the requests of an app', {}, (getFixtures) => {
  test('appear while the page is open, an unknown method by its name, and can be filtered by a URL', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { log, testnet, mainnet } = await createApp(ada, pages.url)
    await page.goto(log)
    await page.getByRole('heading', { name: 'No requests yet' }).waitFor()
    expect(await page.getByRole('link', { name: 'Make a call' }).getAttribute('href')).toMatch(/\/setup$/)
    await callNode(testnet, 'eth_chainId')
    await row(page, /eth_chainId 200 Succeeded Ethereum Sepolia [\d.]+ m?s/).waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await callNode(mainnet, 'eth_notAMethod')
    await callNode(testnet, 'eth_getBalance', { params: ['nobody', 'latest'] })
    await row(page, /eth_notAMethod 200 Rejected: method not found Ethereum Mainnet/).waitFor()
    await row(page, /eth_getBalance 200 Node error: /).waitFor()

    await page.getByLabel('Outcome').selectOption('All failures')
    await row(page, /eth_chainId/).waitFor({ state: 'detached' })
    expect(await rows(page).count()).toBe(2)
    await page.getByLabel('Network').selectOption('Ethereum Mainnet')
    await row(page, /eth_getBalance/).waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('?outcome=failed&network=mainnet')
    await page.getByLabel('Method').selectOption('eth_notAMethod')
    await page.reload()
    await row(page, /eth_notAMethod/).waitFor()
    expect(await page.getByLabel('Method').inputValue()).toBe('eth_notAMethod')
    await page.getByLabel('Outcome').selectOption('Succeeded')
    await page.getByRole('heading', { name: 'No request matches the filters' }).waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await expect.poll(() => rows(page).count()).toBe(3)
    expect(problems).toEqual([])
  })

  test('fit on a line each: a revert by its reason, apart from failures, and a click anywhere on a row opens it', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { id, log, testnet } = await createApp(ada, pages.url)
    for (const data of [revertWith('82b42900'), revertWith('deadbeef'), panic])
      await callNode(testnet, 'eth_call', { params: [{ data }, 'latest'] })
    await callNode(testnet, 'eth_getBalance', { params: ['x'.repeat(300), 'latest'] })
    await page.goto(log)
    await row(page, /eth_call 200 Reverted: Unauthorized \(0x82b42900\)/).waitFor()
    await row(page, /eth_call 200 Reverted: custom error 0xdeadbeef/).waitFor()
    await row(page, /eth_call 200 Reverted: panic 0x11: arithmetic overflow or underflow/).waitFor()
    await row(page, /eth_getBalance 200 /).waitFor()
    const heights = await Promise.all((await rows(page).all()).map(async (one) => (await one.boundingBox())?.height))
    expect(heights.filter((height = 99) => height > 45)).toEqual([])
    const cut = await page.evaluate(
      `[...document.querySelectorAll('td:is(.when, [data-label=Network])')].filter((cell) => cell.scrollWidth > cell.clientWidth).length`,
    )
    expect(cut, 'times, networks and keys that are cut').toBe(0)
    expect(await page.locator('.table.requests .badge.bad').count()).toBe(0)
    expect(await page.locator('.table.requests .badge.warn').count()).toBe(1)

    await page.getByLabel('Outcome').selectOption('All failures')
    await expect.poll(() => rows(page).count()).toBe(1)
    // The page may have read the outcomes of the week before these calls were counted.
    const reverted = page.getByLabel('Outcome').locator('option', { hasText: 'Reverted' })
    await expect
      .poll(async () => {
        await page.reload()
        await rows(page).first().waitFor()
        return reverted.count()
      })
      .toBe(1)
    await page.getByLabel('Outcome').selectOption('Reverted')
    await expect.poll(() => rows(page).count()).toBe(3)
    // The link of the row covers its cells.
    const { x, y } = (await row(page, /0xdeadbeef/)
      .getByRole('cell')
      .last()
      .boundingBox()) ?? { x: 0, y: 0 }
    await page.mouse.click(x + 5, y + 5)
    await page.getByText('execution reverted: custom error 0xdeadbeef (code 3).').waitFor()
    await page.getByText('The contract decided that').waitFor()
    expect(await page.locator('.note.bad').count()).toBe(0)

    await page.goto(`${pages.url}/apps/${id}/metrics`)
    const successRate = page.locator('.figure', { hasText: 'Success rate' })
    await expect.poll(() => successRate.textContent()).toContain('75%')
    expect(problems).toEqual([])
  })

  test('each have a link, the reason and how to fix it', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { id, log, testnet } = await createApp(ada, pages.url)
    await callApi(ada, pages.url, ['POST', `/api/apps/${id}/allow-list`], {
      type: 'origin',
      value: 'https://a.example',
    })
    await callNode(testnet, 'eth_chainId', { headers: { origin: 'https://b.example' } })
    await page.goto(`${log}?outcome=failed`)
    await page.getByRole('link', { name: 'No method' }).focus()
    await page.keyboard.press('Enter')
    const alert = page.getByRole('alert')
    await alert.getByText('Rejected due to app settings: origin not allowed (code -32002).').waitFor()
    await alert.getByText('The allow list has origins, and https://b.example is not one of them.').waitFor()
    await alert.getByRole('link', { name: 'Allow list' }).waitFor()
    for (const fact of ['127.0.0.0/24', 'HTTP', 'Ethereum Sepolia']) {
      await page.locator('.facts dd', { hasText: fact }).first().waitFor()
    }
    await page.getByRole('button', { name: 'Copy link: the link to this request' }).click()
    await page.getByText('Copied: the link to this request').waitFor()
    const link = await clipboard(ada)
    expect(link.startsWith(`${log}?request=log_`)).toBe(true)
    // The list is still filtered.
    await page.getByRole('button', { name: 'Close' }).click()
    await panel(page).waitFor({ state: 'detached' })
    expect(await page.getByLabel('Outcome').inputValue()).toBe('failed')
    await page.goto(link)
    await alert.getByText('https://b.example').waitFor()
    await page.goto(`${log}?request=log_00000000000000000000`)
    await panel(page).getByRole('heading', { name: 'Request not found' }).waitFor()
    expect(problems).toEqual([])
  })

  test('have params and a response only after the owner switches recording on, and can then be copied and repeated', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { id, log, testnet } = await createApp(ada, pages.url)
    const balance = { params: [account, 'latest'] }
    await callNode(testnet, 'eth_getBalance', balance)
    await page.goto(log)
    await page.getByRole('link', { name: 'eth_getBalance' }).click()
    await page.getByText('They were not recorded. Turn on recording').waitFor()
    await page.getByText('The params were not recorded, so this is the example for its method').waitFor()
    expect(await page.getByRole('region', { name: 'Program' }).textContent()).toContain(`0x${'0'.repeat(40)}`)

    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Record params and responses' }).click()
    const dialog = page.getByRole('dialog', { name: 'Record params and responses?' })
    await dialog.getByText('The service then stores parts of what your callers send and receive').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await callApi(ada, pages.url, ['GET', `/api/apps/${id}`])).toMatchObject({ recordDetails: false })
    await page.getByRole('button', { name: 'Record params and responses' }).click()
    await dialog.getByRole('button', { name: 'Record', exact: true }).click()
    await page.getByText('Recorded', { exact: true }).waitFor()

    // Other instances and caches may know the setting some moments later.
    await expect
      .poll(async () => {
        await callNode(testnet, 'eth_getBalance', balance)
        await new Promise((resolve) => setTimeout(resolve, 1_500))
        const { items } = await callApi<{ items: { id: string }[] }>(ada, pages.url, [
          'GET',
          `/api/apps/${id}/requests?limit=1`,
        ])
        const path = `/api/apps/${id}/requests/${items[0]?.id ?? ''}`
        return (await callApi<{ params: string | null }>(ada, pages.url, ['GET', path])).params
      })
      .toBe(JSON.stringify(balance.params))
    await page.reload()
    await page.getByRole('link', { name: 'eth_getBalance' }).first().click()
    await page.getByRole('region', { name: 'Recorded params' }).getByText(account).waitFor()
    expect(await page.getByRole('region', { name: 'Recorded response' }).textContent()).toContain('"0x0"')

    await page.getByRole('button', { name: 'Copy: the program' }).click()
    await page.getByText('Copied: the program').waitFor()
    const curl = await clipboard(ada)
    expect(curl).toContain(`"method":"eth_getBalance","params":["${account}","latest"]`)
    await page.getByLabel('Copy as').selectOption('fetch, JavaScript')
    await page.getByRole('button', { name: 'Copy: the program' }).click()
    await expect.poll(() => clipboard(ada)).toContain('await fetch(url')
    const { apiKey } = await callApi<{ apiKey: string }>(ada, pages.url, ['POST', `/api/apps/${id}/key/reveal`], {})
    const dotEnv = `KEYRAIL_BASE_URL=${pages.url}/testnet\nKEYRAIL_API_KEY=${apiKey}\n`
    expect(await runCopied(await clipboard(ada), 'call.mjs', dotEnv)).toBe('"0x0"\n')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText(/^Status 200, after/).waitFor()
    expect(await page.content()).not.toMatch(/kr_a\w{39}/)
    await page.getByRole('link', { name: 'See all requests' }).click()

    await page.getByRole('button', { name: 'Stop recording' }).click()
    await page.getByText('Not recorded', { exact: true }).waitFor()
    expect(problems).toEqual([])
  })

  test('stop moving while someone reads them, and are never called live without a connection', async () => {
    const { pages, ada } = getFixtures()
    const { page } = ada
    const { log, testnet } = await createApp(ada, pages.url)
    await callNode(testnet, 'eth_chainId')
    await page.goto(log)
    await row(page, /eth_chainId/).hover()
    await page.getByText('Paused while you read').waitFor()
    await callNode(testnet, 'eth_gasPrice')
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    expect(await row(page, /eth_gasPrice/).count()).toBe(0)
    await page.getByRole('heading', { level: 1 }).hover()
    await row(page, /eth_gasPrice/).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.route(/\/api\/.*\/requests/, (route) => route.abort())
    await page.getByText(/^Not live, from/).waitFor()
    await row(page, /eth_gasPrice/).waitFor()
    await page.unroute(/\/api\/.*\/requests/)
    await page.getByText('Live', { exact: true }).waitFor()
  })
})

describePages('a request beside the list', {}, (getFixtures) => {
  test('opens by Enter, moves by the arrow keys, and Escape returns to its row', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { id, log, testnet } = await createApp(ada, pages.url)
    const methods = ['eth_chainId', 'eth_gasPrice', 'eth_blockNumber']
    for (const method of methods) await callNode(testnet, method)
    await expect.poll(() => countLogged(ada, pages.url, `apps/${id}`)).toBe(3)
    const focusedText = (): Promise<unknown> => page.evaluate('document.activeElement.textContent')
    const expectShown = async (method: string, place: string): Promise<void> => {
      await panel(page).getByRole('heading', { name: method }).waitFor()
      await panel(page).getByRole('status').getByText(place, { exact: true }).waitFor()
    }
    await page.goto(log)
    await page.getByRole('link', { name: 'eth_blockNumber' }).focus()
    await page.keyboard.press('Enter')
    await expectShown('eth_blockNumber', '1 of 3')
    expect(await focusedText()).toBe('Request')
    await page.keyboard.press('ArrowDown')
    await expectShown('eth_gasPrice', '2 of 3')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await expectShown('eth_chainId', '3 of 3')
    await page.keyboard.press('ArrowUp')
    await expectShown('eth_gasPrice', '2 of 3')
    expect(await page.locator('tr:has([aria-current])').textContent()).toContain('eth_gasPrice')
    // The arrow keys of a field change its value.
    await panel(page).getByLabel('Copy as').focus()
    await page.keyboard.press('ArrowDown')
    await expectShown('eth_gasPrice', '2 of 3')
    await page.keyboard.press('Escape')
    await panel(page).waitFor({ state: 'detached' })
    await expect.poll(focusedText).toBe('eth_gasPrice')
    expect(page.url()).toBe(log)
    expect(problems).toEqual([])
  })

  test('is closed by Back, has no accessibility violations, and fills a phone', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { log, testnet } = await createApp(ada, pages.url)
    await callNode(testnet, 'eth_chainId')
    await page.goto(log)
    await page.getByRole('link', { name: 'eth_chainId' }).click()
    await panel(page).getByRole('heading', { name: 'eth_chainId' }).waitFor()
    await panel(page).getByRole('heading', { name: 'Repeat the request' }).waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.goBack()
    await panel(page).waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 390, height: 844 })
    try {
      await page.getByRole('link', { name: 'eth_chainId' }).click()
      await panel(page).getByRole('heading', { name: 'Repeat the request' }).waitFor()
      expect(await panel(page).boundingBox()).toMatchObject({ x: 0, y: 0, width: 390, height: 844 })
      expect(await findViolations(page)).toEqual([])
    } finally {
      await page.setViewportSize({ width: 1_280, height: 720 })
    }
    expect(problems).toEqual([])
  })

  test('filters are saved, applied, renamed and deleted, by keyboard', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { id, log, testnet } = await createApp(ada, pages.url)
    await callNode(testnet, 'eth_nothing')
    await page.goto(`${log}?outcome=failed&method=eth_nothing`)
    const saved = page.getByLabel('Saved filters')
    const name = page.getByRole('dialog').getByLabel('Name')
    await page.getByRole('button', { name: 'Save these filters' }).press('Enter')
    await name.press('Enter')
    await page.getByText('Enter a name').waitFor()
    await page.keyboard.insertText('Unknown methods')
    await page.keyboard.press('Enter')
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.goto(log)
    await saved.focus()
    await page.keyboard.type('Unk')
    await page.waitForURL(`${log}?method=eth_nothing&outcome=failed`)
    await page.getByRole('button', { name: 'Rename Unknown methods' }).press('Enter')
    await name.fill('Typos')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Rename Typos' }).waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Delete Typos' }).press('Enter')
    await saved.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).press('Enter')
    await saved.waitFor()
    expect(await callApi(ada, pages.url, ['GET', `/api/apps/${id}/saved-filters`])).toEqual({
      items: [{ name: 'Typos', filters: { outcome: 'failed', method: 'eth_nothing' } }],
    })
    expect(problems).toEqual([])
  })

  test('a revert is decoded once the owner has pasted the ABI of the contract', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { log, testnet } = await createApp(ada, pages.url)
    const selector = toFunctionSelector('Foo(uint256)').slice(2)
    const foo = `0x7f${selector.padEnd(64, '0')}5f52600560045260245ffd`
    await callNode(testnet, 'eth_call', { params: [{ data: foo }, 'latest'] })
    await page.goto(log)
    await page.getByRole('link', { name: 'eth_call' }).click()
    await panel(page).getByText(`No known error has the selector 0x${selector}.`).waitFor()
    const hex = panel(page).getByRole('region', { name: 'Recorded revert data' })
    expect(await hex.textContent()).toBe(`0x${selector}${'5'.padStart(64, '0')}`)
    await panel(page).getByRole('link', { name: 'Paste the ABI of the contract' }).click()
    const abi = page.getByLabel('ABI', { exact: true })
    await abi.fill('error Foo(uint257 a)')
    await page.getByRole('button', { name: 'Add errors' }).click()
    await page.getByText('Has no valid ABI item on line 1.').waitFor()
    await abi.fill(JSON.stringify([{ type: 'error', name: 'Foo', inputs: [{ name: 'a', type: 'uint256' }] }]))
    await page.getByRole('button', { name: 'Add errors' }).click()
    await page.getByRole('region', { name: 'Stored errors' }).getByText('error Foo(uint256 a)').waitFor()
    expect(await abi.inputValue()).toBe('')
    expect(await findViolations(page)).toEqual([])
    await page.goto(log)
    await page.getByRole('link', { name: 'eth_call' }).click()
    await panel(page).getByText('Foo(a: 5)', { exact: true }).waitFor()
    expect(problems).toEqual([])
  })
})

const recordsAll = { sample: 1, maxPerKeyAndMinute: 10_000, maxPerMinute: 100_000, maxPerKey: 200_000 }
describePages('many requests', { requestLog: recordsAll }, (getFixtures) => {
  test('of an API key are shown page by page, each once, while new ones arrive', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { key, url: address } = await callApi<{ key: { id: string }; url: string }>(
      ada,
      pages.url,
      ['POST', '/api/keys'],
      { name: 'Laptop', network: 'testnet' },
    )
    for (let count = 0; count < 250; count += 50) {
      await Promise.all(Array.from({ length: 50 }, () => callNode(address, 'eth_chainId')))
    }
    await expect.poll(() => countLogged(ada, pages.url, `keys/${key.id}`)).toBe(250)
    await page.goto(`${pages.url}/keys/${key.id}/requests`)
    await expect.poll(() => countRequests(page)).toBe(100)
    await callNode(address, 'eth_gasPrice')
    await row(page, /eth_gasPrice/).waitFor()
    for (const total of [201, 251]) {
      await page.getByRole('button', { name: 'Show more' }).click()
      await expect.poll(() => countRequests(page)).toBe(total)
    }
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
    const csv = page.getByRole('link', { name: 'CSV: requests' })
    const [file] = await Promise.all([page.waitForEvent('download'), csv.click()])
    expect(file.suggestedFilename()).toMatch(/^keyrail-.*\.csv$/)
    const table = await text(await file.createReadStream())
    expect(table.trimEnd().split(/\r?\n/)).toHaveLength(252)
    expect(problems).toEqual([])
  })

  test('are rendered only near the viewport, with the focus in place', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { id, log, testnet } = await createApp(ada, pages.url)
    const isRendered = page.locator('tbody tr:not(.filler)')
    const links = new Set<string>()
    const collectLinks = async (): Promise<number> => {
      for (const link of await page
        .locator('tbody a')
        .evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).href)))
        links.add(link)
      return links.size
    }
    for (let count = 0; count < 300; count += 50) {
      await Promise.all(Array.from({ length: 50 }, () => callNode(testnet, 'eth_chainId')))
    }
    await expect.poll(() => countLogged(ada, pages.url, `apps/${id}`)).toBe(300)
    await page.goto(log)
    await isRendered.first().waitFor()
    const showMore = page.getByRole('button', { name: 'Show more' })
    for (const total of [200, 300]) {
      await showMore.click()
      await expect.poll(() => countRequests(page)).toBe(total)
    }
    await expect.poll(() => isRendered.count()).toBeLessThanOrEqual(200)
    await page.evaluate('scrollTo(0, 0)')
    await row(page, /eth_chainId/)
      .first()
      .waitFor()
    const first = page.locator('tbody tr[aria-rowindex="2"] a')
    await first.focus()
    for (let at = 0; at < 40; at += 1) {
      await collectLinks()
      await page.mouse.wheel(0, 800)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    }
    await expect.poll(collectLinks).toBe(300)
    expect(await isRendered.count()).toBeLessThanOrEqual(250)
    expect(await first.evaluate((link) => link === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await page.getByText('Request id').waitFor()
    expect(problems).toEqual([])
  })
})

describePages('a log of 100,000 requests', { requestLog: recordsAll }, (getFixtures) => {
  test('renders as few rows as a short one, also after many pages were loaded', { timeout: 180_000 }, async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { key } = await callApi<{ key: { id: string } }>(ada, pages.url, ['POST', '/api/keys'], {
      name: 'Laptop',
      network: 'testnet',
    })
    const now = Date.now()
    for (let from = 0; from < 100_000; from += 500) {
      const rowsAtOnce = Array.from({ length: 500 }, (_, at) => {
        const time = now - (from + at) * 100
        const isGood = at % 20 !== 0
        return {
          keyId: key.id,
          at: time,
          id: `log_${time.toString(36).padStart(9, '0')}${String(from + at).padStart(11, '0')}`,
          method: isGood ? 'eth_chainId' : 'eth_nothing',
          outcome: isGood ? 'succeeded' : 'method_not_found',
          code: isGood ? null : -32_601,
          message: isGood ? null : 'unknown method',
          status: 200,
          durationUs: 1_500,
          network: 'testnet',
          requestId: `request-${from + at}`,
          calls: 1,
          failedCalls: isGood ? 0 : 1,
          storedCalls: 0,
          keyEnding: 'WXYZ',
          origin: null,
          ipBlock: '127.0.0.0/24',
          requestBytes: 80,
          responseBytes: 60,
          transport: 'http' as const,
        }
      })
      await pages.service.storage.db.query.insertInto('requestLog').values(rowsAtOnce).execute()
    }
    await page.addInitScript(() => {
      const seen = globalThis as unknown as { longest: number }
      seen.longest = 0
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration)
      }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit)
    })
    await page.goto(`${pages.url}/keys/${key.id}/requests`)
    for (let total = 100; total < 1_600; total += 100) {
      await expect.poll(() => countRequests(page)).toBe(total)
      await page.getByRole('button', { name: 'Show more' }).click()
    }
    await expect.poll(() => countRequests(page)).toBe(1_600)
    await expect.poll(() => page.locator('tbody tr:not(.filler)').count()).toBeLessThanOrEqual(250)
    await page.evaluate('scrollTo(0, 0)')
    await page.locator('tr[aria-rowindex="2"] a').click()
    await page.getByText('Request id').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByLabel('Outcome').selectOption('All failures')
    await row(page, /eth_nothing/)
      .first()
      .waitFor()
    await row(page, /eth_chainId/)
      .first()
      .waitFor({ state: 'detached' })
    const longest = await page.evaluate(() => (globalThis as unknown as { longest: number }).longest)
    // It depends on the machine, so it is only printed.
    console.log(`dashboard: of 100,000 requests with 1,600 loaded, the slowest interaction takes ${longest} ms`)
    expect(problems).toEqual([])
  })
})

describePages('a request log that the operator turned off', {}, (getFixtures) => {
  test('is shown as off, and not as a log without requests', async () => {
    const { pages, ada } = getFixtures()
    const { page, problems } = ada
    const { log, testnet } = await createApp(ada, pages.url)
    const empty = await createApp(ada, pages.url, 'Empty')
    await callNode(testnet, 'eth_chainId')
    await page.goto(log)
    await row(page, /eth_chainId/).waitFor()
    try {
      await pages.reload({ requestLog: { enabled: false }, docsUrl: 'https://docs.example/' })
      await page.reload()
      await page.getByText('The request log of this service is off: new requests are not recorded.').waitFor()
      await row(page, /eth_chainId/).waitFor()
      expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0)
      expect(await page.getByRole('button', { name: 'Record params and responses' }).count()).toBe(0)
      await page.goto(empty.log)
      await page.getByRole('heading', { name: 'The request log is off' }).waitFor()
      const help = page.getByRole('link', { name: 'Turn on the request log' })
      expect(await help.getAttribute('href')).toBe('https://docs.example/service/operating.html#request-log')
      expect(await page.getByRole('heading', { name: 'No requests yet' }).count()).toBe(0)
    } finally {
      await pages.reload({})
    }
    expect(problems).toEqual([])
  })
})
