import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { busy } from './busy.ts'
import { callNode } from './callNode.ts'
import { noBrowser, openBrowser } from './openBrowser.ts'
import { clipboard, createApp, openPerson, signUp } from './person.ts'
import type { Person } from './person.ts'
import { signJwt } from './signJwt.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'

const workspace = join(import.meta.dirname, '../../..')
/** In the package, so that libraries are found; ignored by git. */
const roomOfPrograms = join(import.meta.dirname, '../.keyrail')

/** A page of another site: all it has is its origin. */
async function startOrigin(): Promise<{ readonly server: Server; readonly origin: string }> {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>dApp</title>'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Runs a program as it was copied, in a folder of its own. */
async function runCopied(text: string, fileName: string): Promise<string> {
  mkdirSync(roomOfPrograms, { recursive: true })
  const folder = mkdtempSync(join(roomOfPrograms, 'run-'))
  try {
    writeFileSync(join(folder, fileName), text)
    const env = { PATH: [join(workspace, 'node_modules/.bin'), process.env['PATH']].join(delimiter) }
    const { stdout } = await promisify(execFile)('node', [fileName], { cwd: folder, env, timeout: 30_000 })
    return stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe.skipIf(noBrowser)('the whole journey', { timeout: 120_000 }, () => {
  let pages: Pages
  let browser: Browser
  let ada: Person

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages(), openBrowser()])
  }, 60_000)
  afterEach(async () => {
    await ada.close()
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  test('of an app: from signing up to its first call, through its settings to its end', async () => {
    ada = await openPerson(browser, pages.url)
    const { page, faults } = ada
    const began = performance.now()
    await signUp(ada, pages.url)
    const appId = await createApp(ada, 'Portfolio')

    // A program runs as it was copied, and its call is seen.
    await page.getByText('Waiting for your first request…').waitFor()
    expect(await page.locator('pre').textContent()).toMatch(/const apiKey = 'kr_a….{4}'/)
    await page.getByRole('button', { name: 'Copy: the program' }).click()
    await page.getByText('Copied: the program').waitFor()
    const program = await clipboard(ada)
    expect(performance.now() - began).toBeLessThan(60_000)
    expect(program).toContain("from 'ethers'")
    const key = /kr_a[0-9A-Za-z]{39}/.exec(program)?.[0] ?? ''
    expect(key).not.toBe('')
    expect(await page.content()).not.toContain(key)
    expect(await runCopied(program, 'latest-block.mjs')).toMatch(/^Block 0 is 0x[0-9a-f]{64}\n$/)
    await page.getByText('Your first request has arrived.').waitFor({ timeout: 5_000 * busy() })
    await page.getByRole('link', { name: 'See the metrics' }).click()
    await page.getByRole('row', { name: /eth_getBlockByNumber/ }).waitFor({ timeout: 5_000 * busy() })
    expect(await page.locator('.figure', { hasText: 'Success rate' }).textContent()).toContain('100%')

    // Both addresses.
    await page.getByRole('link', { name: 'Networks' }).click()
    const addresses: Record<string, string> = {}
    for (const network of ['Testnet', 'Mainnet']) {
      await page.getByRole('button', { name: `Copy: address on ${network}` }).click()
      await page.getByText(`Copied: address on ${network}`).waitFor()
      addresses[network] = await clipboard(ada)
    }
    expect(addresses).toEqual({
      Testnet: `${pages.url}/testnet/v2/${key}`,
      Mainnet: `${pages.url}/mainnet/v2/${key}`,
    })
    expect((await callNode(addresses['Testnet'] ?? '', 'eth_chainId')).result).toBe('0xaa36a7')
    expect((await callNode(addresses['Mainnet'] ?? '', 'eth_chainId')).result).toBe('0x1')
    const address = addresses['Testnet'] ?? ''

    // An origin that is on the list may call, another is told why not.
    const [ours, theirs] = await Promise.all([startOrigin(), startOrigin()])
    try {
      await page.getByRole('link', { name: 'Settings' }).click()
      await page.getByRole('link', { name: 'Allow list' }).click()
      await page.getByLabel('Origin', { exact: true }).fill(ours.origin)
      await page.getByLabel('Label').fill('The shop')
      await page.getByRole('button', { name: 'Add' }).click()
      await page.getByRole('row', { name: new RegExp(`${ours.origin} The shop`) }).waitFor()
      const visitor = await browser.newPage()
      const fromPage = async (origin: string): Promise<unknown> => {
        await visitor.goto(origin)
        return visitor.evaluate(async (to) => {
          const response = await fetch(to, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
          })
          const { result, error } = (await response.json()) as {
            result?: string
            error?: { message: string; data: { reason: string } }
          }
          return { status: response.status, result, reason: error?.data.reason, message: error?.message }
        }, address)
      }
      expect(await fromPage(ours.origin)).toMatchObject({ status: 200, result: '0xaa36a7' })
      expect(await fromPage(theirs.origin)).toMatchObject({
        status: 403,
        reason: 'origin_not_allowed',
        message: expect.stringMatching(/origin/i),
      })
      await visitor.close()
      await page.getByRole('button', { name: `Remove ${ours.origin}` }).click()
      await page.getByRole('row', { name: new RegExp(ours.origin) }).waitFor({ state: 'detached' })
    } finally {
      ours.server.close()
      theirs.server.close()
    }

    // A key for tokens: imported, tried, required.
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    await page.getByRole('link', { name: 'JWT keys' }).click()
    await page.getByLabel('Public key (PEM)').fill(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByText('This is a private key.').waitFor()
    await page.getByLabel('Public key (PEM)').fill(pair.publicKey.export({ type: 'spki', format: 'pem' }).toString())
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByText('Fingerprint (SHA-256)').waitFor()
    await page.getByRole('button', { name: 'Copy: the key id' }).click()
    await page.getByText('Copied: the key id').waitFor()
    const kid = await clipboard(ada)
    const token = signJwt(pair.privateKey, kid)
    await page.getByLabel('Token', { exact: true }).fill(token)
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('The token is good until').waitFor()
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    await page.getByLabel('Token', { exact: true }).fill(signJwt(other.privateKey, kid))
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText(/refused at the check signature/).waitFor()
    await page.getByRole('link', { name: 'Advanced configuration' }).click()
    await page.getByRole('button', { name: 'Require JWT' }).click()
    await page.getByText('Each call must bring a token now').waitFor()
    expect(await callNode(address, 'eth_chainId')).toMatchObject({ status: 401 })
    expect(await callNode(address, 'eth_chainId', { headers: { authorization: `Bearer ${token}` } })).toMatchObject({
      status: 200,
      result: '0xaa36a7',
    })
    await page.getByRole('button', { name: 'Stop requiring tokens' }).click()
    await page.getByText('Calls need no token now').waitFor()
    expect(await callNode(address, 'eth_chainId')).toMatchObject({ status: 200 })

    // Another key in the place of this one, with a day's grace; then without.
    await page.getByRole('button', { name: 'Rotate key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
    await page.getByText('The old key works until').waitFor()
    await page.getByRole('link', { name: 'Networks' }).click()
    await page.getByRole('button', { name: 'Copy: address on Testnet' }).click()
    await page.getByText('Copied: address on Testnet').waitFor()
    const rotated = await clipboard(ada)
    expect(rotated).not.toBe(address)
    expect(await callNode(rotated)).toMatchObject({ status: 200 })
    expect(await callNode(address)).toMatchObject({ status: 200 })
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'End it now' }).click()
    await page.getByText('The old key has ended').waitFor()
    expect(await callNode(address)).toMatchObject({ status: 401 })
    expect(await callNode(rotated)).toMatchObject({ status: 200 })

    // The end.
    await page.getByRole('link', { name: 'Delete app' }).click()
    await page.getByLabel('Name of the app').fill('portfolio')
    await page.getByRole('button', { name: 'Delete app' }).click()
    await page.getByText('Type the name exactly').waitFor()
    await page.getByLabel('Name of the app').fill('Portfolio')
    await page.getByRole('button', { name: 'Delete app' }).click()
    await page.getByRole('heading', { name: 'No apps yet' }).waitFor()
    expect(await callNode(rotated)).toMatchObject({ status: 401 })
    await page.goto(`${pages.url}/apps/${appId}/setup`)
    await page.getByRole('heading', { name: 'There is no such app' }).waitFor()

    expect(faults).toEqual([])
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toMatch(/kr_|eyJ/)
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
  })

  test('of an example: each method, language and library is shown, with what it is to be about', async () => {
    ada = await openPerson(browser, pages.url)
    const { page, faults } = ada
    await signUp(ada, pages.url)
    await createApp(ada, 'Examples')
    const program = page.locator('pre')
    await program.waitFor()
    await page.getByLabel('Method').selectOption('Get balance')
    await page.getByLabel('Account').fill('nobody')
    await page.getByText('Must be 0x and 40 hexadecimal digits.').waitFor()
    await page.getByLabel('Account').fill(`0x${'ab'.repeat(20)}`)
    await page.getByText(`const account = '0x${'ab'.repeat(20)}'`).waitFor()
    await page.getByLabel('Language').selectOption('Python')
    await page.getByText(`account = Web3.to_checksum_address("0x${'ab'.repeat(20)}")`).waitFor()
    expect(await page.getByLabel('Library').inputValue()).toBe('web3.py')
    await page.getByText('with keyrail', { exact: true }).click()
    await page.getByText('from keyrail import KeyrailProvider').waitFor()
    await page.getByLabel('Language').selectOption('Shell')
    await page.getByText('curl --silent').first().waitFor()
    await page.getByText('Mainnet', { exact: true }).click()
    expect(await program.textContent()).toContain('/mainnet/v2/')
    await page.getByLabel('Method').selectOption('Send a raw transaction')
    await page.getByText('SIGNED_TRANSACTION to a signed transaction, as').waitFor()
    // The key is masked until it is shown, and masked again.
    expect(await program.textContent()).not.toMatch(/kr_a\w{39}/)
    await page.getByRole('button', { name: 'Show key' }).click()
    await page.getByRole('button', { name: 'Hide key' }).waitFor()
    expect(await program.textContent()).toMatch(/kr_a\w{39}/)
    await page.getByRole('button', { name: 'Hide key' }).click()
    expect(await program.textContent()).not.toMatch(/kr_a\w{39}/)
    expect(faults).toEqual([])
  })
})
