import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { callNode } from './callNode.ts'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { addApp, callApi, clipboard, createApp, signUpByApi, openUser, signUp } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import { runCopied } from './runCopied.ts'
import { signJwt } from './signJwt.ts'
import { startPages } from './startPages.ts'
import type { Pages } from './startPages.ts'
import { needs } from '../../../scripts/externalPrograms.ts'

/** A page of another site, of which only the origin matters. */
async function startOrigin(): Promise<{ readonly server: Server; readonly origin: string }> {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>dApp</title>'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('the whole journey', { ...needs('chromium'), timeout: 120_000 }, () => {
  let pages: Pages
  let browser: Browser
  let ada: TestUser

  beforeAll(async () => {
    ;[pages, browser] = await Promise.all([startPages(), openBrowser()])
  })
  afterEach(async () => {
    await ada.close()
  })
  afterAll(async () => {
    await browser.close()
    await pages.stop()
  })

  test('an app: sign up, first call, settings, deletion', async () => {
    ada = await openUser(browser, pages.url)
    const { page, problems } = ada
    await signUp(ada, pages.url)
    const appId = await createApp(ada, 'Portfolio')

    // The URL that sign-up promises is on top, with the file that programs read it from.
    await page.getByText('Waiting for your first request…').waitFor()
    await page.getByText(new RegExp(`^${pages.url}/testnet/v2/kr_a….{4}$`)).waitFor()
    await page.getByRole('button', { name: 'Copy: URL on Ethereum Sepolia' }).click()
    await page.getByText('Copied: URL on Ethereum Sepolia').waitFor()
    const key = /kr_a[0-9A-Za-z]{39}/.exec(await clipboard(ada))?.[0] ?? ''
    expect(await clipboard(ada)).toBe(`${pages.url}/testnet/v2/${key}`)
    await page.getByRole('button', { name: 'Copy: the .env file' }).click()
    await page.getByText('Copied: the .env file').waitFor()
    const dotEnv = await clipboard(ada)
    expect(dotEnv).toBe(`KEYRAIL_BASE_URL=${pages.url}/testnet\nKEYRAIL_API_KEY=${key}\n`)

    // The copied program runs with it, and its call appears.
    await page.getByRole('button', { name: 'Copy: the program' }).click()
    await page.getByText('Copied: the program').waitFor()
    const program = await clipboard(ada)
    expect(program).toContain("from 'viem'")
    expect(program).not.toMatch(/kr_|http:/)
    expect(await page.content()).not.toContain(key)
    expect(await runCopied(program, 'latest-block.mts', dotEnv)).toMatch(/^Block 0 is 0x[0-9a-f]{64}\n$/)
    await page.getByText('Your first request has arrived.').waitFor()

    // It is shown with its facts, and a link to its page.
    const first = page.getByRole('region', { name: 'First request' })
    await first.getByText('eth_getBlockByNumber', { exact: true }).waitFor()
    await first.getByText('200 Succeeded').waitFor()
    expect(await first.locator('dl').textContent()).toMatch(
      /^Methodeth_getBlockByNumberStatus200 SucceededTime.+Latency[\d.,]+ ms$/,
    )
    await first.getByRole('link', { name: 'See the request' }).click()
    await page.getByRole('heading', { name: 'eth_getBlockByNumber' }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'See the metrics' }).click()
    await page.getByRole('row', { name: /eth_getBlockByNumber/ }).waitFor()
    expect(await page.locator('.figure', { hasText: 'Success rate' }).textContent()).toContain('100%')
    // Requests appear while the page is open.
    await callNode(`${pages.url}/testnet/v2/${key}`, 'eth_gasPrice')
    await page.getByRole('row', { name: /eth_gasPrice/ }).waitFor()

    // Both urls.
    await page.getByRole('link', { name: 'Networks', exact: true }).click()
    const urls: Record<string, string> = {}
    for (const network of ['Ethereum Sepolia', 'Ethereum Mainnet']) {
      await page.getByRole('button', { name: `Copy: URL on ${network}` }).click()
      await page.getByText(`Copied: URL on ${network}`).waitFor()
      urls[network] = await clipboard(ada)
    }
    expect(urls).toEqual({
      'Ethereum Sepolia': `${pages.url}/testnet/v2/${key}`,
      'Ethereum Mainnet': `${pages.url}/mainnet/v2/${key}`,
    })
    expect((await callNode(urls['Ethereum Sepolia'] ?? '', 'eth_chainId')).result).toBe('0xaa36a7')
    expect((await callNode(urls['Ethereum Mainnet'] ?? '', 'eth_chainId')).result).toBe('0x1')
    const address = urls['Ethereum Sepolia'] ?? ''

    // A listed origin can call. Others get the reason of the rejection.
    const [ours, theirs] = await Promise.all([startOrigin(), startOrigin()])
    try {
      await page.getByRole('link', { name: 'Settings' }).click()
      await page.getByRole('link', { name: 'Allow list' }).click()
      await page.getByLabel('Origin', { exact: true }).fill(ours.origin)
      await page.getByLabel('Label').fill('The shop')
      await page.getByRole('button', { name: 'Add' }).click()
      await page.getByText(/requests of the last day in the request log would be rejected: no origin/).waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
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
      await page.getByRole('button', { name: `Edit label: ${ours.origin}` }).click()
      await page.getByRole('dialog').getByLabel('Label').fill('The other shop')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.getByRole('row', { name: new RegExp(`${ours.origin} The other shop`) }).waitFor()
      await page.getByRole('button', { name: `Remove ${ours.origin}` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('row', { name: new RegExp(ours.origin) }).waitFor({ state: 'detached' })
    } finally {
      ours.server.close()
      theirs.server.close()
    }

    // A JWT key is imported, tested and required.
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
    await page.getByText('The token is valid until').waitFor()
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    await page.getByLabel('Token', { exact: true }).fill(signJwt(other.privateKey, kid))
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText(/rejected at the check signature/).waitFor()
    await page.getByRole('link', { name: 'Advanced configuration' }).click()
    await page.getByRole('button', { name: 'Require JWT' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Require JWT' }).click()
    await page.getByText('Every call needs a token now').waitFor()
    expect(await callNode(address, 'eth_chainId')).toMatchObject({ status: 401 })
    expect(await callNode(address, 'eth_chainId', { headers: { authorization: `Bearer ${token}` } })).toMatchObject({
      status: 200,
      result: '0xaa36a7',
    })
    await page.getByRole('button', { name: 'Stop requiring tokens' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop requiring tokens' }).click()
    await page.getByText('Calls no longer need a token').waitFor()
    expect(await callNode(address, 'eth_chainId')).toMatchObject({ status: 200 })

    // The key is rotated with a grace period of a day, then without one.
    await page.getByRole('button', { name: 'Rotate key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
    await page.getByRole('dialog', { name: 'Your new key' }).getByRole('button', { name: 'Done' }).click()
    await page.getByText('The old key works until').waitFor()
    await page.getByRole('link', { name: 'Networks' }).click()
    await page.getByRole('button', { name: 'Copy: URL on Ethereum Sepolia' }).click()
    await page.getByText('Copied: URL on Ethereum Sepolia').waitFor()
    const rotated = await clipboard(ada)
    expect(rotated).not.toBe(address)
    expect(await callNode(rotated)).toMatchObject({ status: 200 })
    expect(await callNode(address)).toMatchObject({ status: 200 })
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Deactivate now' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate old key' }).click()
    await page.getByText('Old key deactivated').waitFor()
    expect(await callNode(address)).toMatchObject({ status: 401 })
    expect(await callNode(rotated)).toMatchObject({ status: 200 })

    // The app is deleted.
    await page.getByRole('link', { name: 'Delete app' }).click()
    await page.getByLabel('App name').fill('portfolio')
    await page.getByRole('button', { name: 'Delete app' }).click()
    await page.getByText('Enter the name exactly').waitFor()
    await page.getByLabel('App name').fill('Portfolio')
    await page.getByRole('button', { name: 'Delete app' }).click()
    await page.getByRole('heading', { name: 'No apps yet' }).waitFor()
    expect(await callNode(rotated)).toMatchObject({ status: 401 })
    await page.goto(`${pages.url}/apps/${appId}/setup`)
    await page.getByRole('heading', { name: 'App not found' }).waitFor()

    expect(problems).toEqual([])
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toMatch(/kr_|eyJ/)
    // The session is a cookie that scripts cannot read.
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
  })

  test('JWT settings: the audience and the maximum lifetime are enforced', async () => {
    ada = await openUser(browser, pages.url)
    const { page, problems } = ada
    await signUpByApi(ada, pages.url)
    const appId = await addApp(ada, pages.url, 'Tokens')
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = publicKey.export({ type: 'spki', format: 'pem' })
    const { kid } = await callApi<{ kid: string }>(ada, pages.url, ['POST', `/api/apps/${appId}/jwt-keys`], { pem })
    const settings = async () => (await callApi<{ jwt: unknown }>(ada, pages.url, ['GET', `/api/apps/${appId}`])).jwt
    const audience = page.getByRole('textbox', { name: 'Audience' })
    const lifetime = page.getByRole('textbox', { name: 'Longest lifetime, in seconds' })
    const save = async (): Promise<void> => {
      const succeeded = page.waitForResponse((response) => response.request().method() === 'PATCH')
      await page.getByRole('button', { name: 'Save' }).click()
      expect((await succeeded).status()).toBe(200)
    }
    const tried = async (token: string, words: string): Promise<void> => {
      await page.getByLabel('Token', { exact: true }).fill(token)
      await page.getByRole('button', { name: 'Test' }).click()
      await page.getByText(words).waitFor()
    }

    await page.goto(`${pages.url}/apps/${appId}/settings/jwt-keys`)
    expect(await audience.inputValue()).toBe('')
    expect(await lifetime.inputValue()).toBe('86400')
    await page.getByText('may lie at most 1 day ahead').waitFor()
    await tried(signJwt(privateKey, kid), 'The token is valid until')

    // Problems are shown at their fields, whether the page or the service found them.
    for (const wrong of ['0', '1.5', '31536001', 'a day']) {
      await lifetime.fill(wrong)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Must be a whole number of seconds, from 1 to a year.').waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('maxLifetimeS')
    }
    await lifetime.fill('200')
    await audience.fill('x'.repeat(201))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.fix', { hasText: /1 to 200 characters/ }).waitFor()
    expect(await settings()).toEqual({ audience: null, maxLifetimeS: 86_400 })

    await audience.fill(' wallet ')
    await save()
    expect(await settings()).toEqual({ audience: 'wallet', maxLifetimeS: 200 })
    // The earlier result is removed.
    await page.getByText('The token is valid until').waitFor({ state: 'detached' })
    await tried(signJwt(privateKey, kid, { forSeconds: 100 }), 'rejected at the check audience')
    await tried(signJwt(privateKey, kid, { forSeconds: 100, aud: 'wallet' }), 'The token is valid until')
    await tried(signJwt(privateKey, kid, { forSeconds: 600, aud: 'wallet' }), 'rejected at the check lifetime')

    // Empty fields restore the defaults.
    await audience.fill('')
    await lifetime.fill('')
    await page.getByText('may lie at most a day ahead').waitFor()
    await save()
    expect(await settings()).toEqual({ audience: null, maxLifetimeS: 86_400 })
    await page.getByText('may lie at most 1 day ahead').waitFor()
    expect(await lifetime.inputValue()).toBe('86400')

    // Without the key, its tokens are invalid.
    await tried(signJwt(privateKey, kid), 'The token is valid until')
    await page.getByRole('button', { name: `Remove ${kid}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('None is imported yet.').waitFor()
    await tried(signJwt(privateKey, kid), 'rejected at the check kid')
    expect(problems).toEqual([])
  })

  test('example programs: each method, language and library is shown, with its values', async () => {
    ada = await openUser(browser, pages.url)
    const { page, problems } = ada
    await signUpByApi(ada, pages.url)
    await page.goto(`${pages.url}/apps/${await addApp(ada, pages.url, 'Examples')}/setup`)
    const program = page.getByRole('region', { name: 'Program' })
    const dotEnv = page.getByRole('region', { name: 'The .env file' })
    await program.waitFor()
    expect(await program.textContent()).toContain("from 'viem'")
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
    await page.getByLabel('Network').selectOption('Ethereum Mainnet')
    await dotEnv.getByText(`KEYRAIL_BASE_URL=${pages.url}/mainnet`).waitFor()
    await page.getByLabel('Method').selectOption('Send a raw transaction')
    await page.getByText('SIGNED_TRANSACTION: a signed transaction, as').waitFor()
    // The key is masked until it is shown, and masked again.
    expect(await page.content()).not.toMatch(/kr_a\w{39}/)
    await page.getByRole('button', { name: 'Show key' }).click()
    await page.getByRole('button', { name: 'Hide key' }).waitFor()
    expect(await dotEnv.textContent()).toMatch(/kr_a\w{39}/)
    await page.getByText(/^http.*\/mainnet\/v2\/kr_a\w{39}$/).waitFor()
    await page.getByRole('button', { name: 'Hide key' }).click()
    expect(await page.content()).not.toMatch(/kr_a\w{39}/)
    // The browser remembers the library.
    await page.reload()
    await page.getByText('curl --silent').first().waitFor()
    expect(await page.getByLabel('Library').inputValue()).toBe('curl')
    expect(problems).toEqual([])
  })
})
