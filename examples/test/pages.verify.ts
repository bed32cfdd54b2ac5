import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { createClient } from '@keyrail/fetch'
import type { Browser, Page } from 'playwright-core'
import { build, createServer, preview } from 'vite'
import type { PreviewServer, ViteDevServer } from 'vite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { borrowService } from './lendService.ts'
import { createApp, logIn } from './controlApi.ts'
import type { App, CallApi } from './controlApi.ts'
import { runExample } from './runExample.ts'
import { injectWallet } from './testWallet.ts'
import type { TestWallet } from './testWallet.ts'
import { needs } from '../../scripts/externalPrograms.ts'

const { service } = await borrowService()
const examples = join(import.meta.dirname, '..')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe('pages in Chromium', { ...needs('chromium'), timeout: 120_000 }, () => {
  let browser: Browser
  let callApi: CallApi
  let room = ''
  beforeAll(async () => {
    room = mkdtempSync(join(tmpdir(), 'keyrail-pages-'))
    ;[browser, callApi] = await Promise.all([openBrowser(), logIn(service)])
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    rmSync(room, { recursive: true, force: true })
  })

  /** Opens a page and collects its uncaught errors. */
  const openPage = async (): Promise<{ page: Page; problems: string[] }> => {
    const page = await browser.newPage()
    page.setDefaultTimeout(60_000)
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    return { page, problems }
  }

  describe('examples/dapp-front-end', () => {
    // The third and the eighth account of every development node. No other test uses them.
    const PRIVATE_KEY = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a'
    const account = '0x14dc79964da2c08b23698b3d3cc7ca32193d9955'
    const friend = '0x00000000000000000000000000000000000000f7'
    let app: App
    let served: PreviewServer
    let page: Page
    let problems: string[]
    let wallet: TestWallet
    let origin = ''

    beforeAll(async () => {
      app = await createApp(callApi, service, 'Front end')
      const file = join(room, 'env')
      const environment = { KEYRAIL_BASE_URL: app.baseUrl, KEYRAIL_API_KEY: app.apiKey, PRIVATE_KEY, ENV_FILE: file }
      const setUp = await runExample('dapp-front-end/setUpLocal.ts', environment, [account])
      expect(setUp).toMatchObject({ exitCode: 0, stderr: '' })
      const configFile = join(examples, 'dapp-front-end/vite.config.ts')
      const outDir = join(room, 'dapp')
      // A production build: with the NODE_ENV of the test runner, the development build of React would be used.
      vi.stubEnv('NODE_ENV', 'production')
      for (const [name, value] of Object.entries(parseEnv(readFileSync(file, 'utf8')))) vi.stubEnv(name, value)
      await build({ configFile, logLevel: 'error', build: { outDir } })
      served = await preview({
        configFile,
        logLevel: 'error',
        build: { outDir },
        preview: { port: 0, host: '127.0.0.1' },
      })
      vi.unstubAllEnvs()
      origin = served.resolvedUrls?.local[0]?.replace(/\/$/, '') ?? ''
      ;({ page, problems } = await openPage())
      wallet = await injectWallet(page, service.nodes.testnet, account)
      await page.goto(origin)
    }, 120_000)
    afterAll(async () => {
      await page?.close()
      await served?.close()
    })

    const send = async (to: string, amount: string): Promise<void> => {
      await page.getByLabel('To').fill(to)
      await page.getByLabel('Amount').fill(amount)
      await page.getByRole('button', { name: 'Send RAIL' }).click()
    }
    const expectText = (role: 'alert' | 'status', text: string): Promise<void> =>
      page.getByRole(role).filter({ hasText: text }).waitFor()

    const violations = async (): Promise<unknown> => {
      await page.evaluate(axe)
      return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))')
    }

    test('connects a wallet, shows its balance, and is accessible in light and dark mode', async () => {
      const connect = page.getByRole('button', { name: 'Connect Test wallet' })
      await connect.waitFor()
      expect(await violations()).toEqual([])
      await connect.click()
      await page.getByText('1000000 RAIL').waitFor()
      expect(await violations()).toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await violations()).toEqual([])
    })

    test('sends tokens, waits for the block, and shows the new balance', async () => {
      await send(friend, '2.5')
      await expectText('status', 'Done: 2.5 RAIL sent.')
      await page.getByText('999997.5 RAIL').waitFor()
    })

    test('asks for valid input', async () => {
      await send('nobody', '1')
      await expectText('alert', 'Enter an address')
      await send(friend, 'much')
      await expectText('alert', 'Enter an amount')
    })

    test('reports that nothing was sent if the visitor declines', async () => {
      wallet.declines = true
      await send(friend, '1')
      await expectText('alert', 'You declined. Nothing was sent.')
      wallet.declines = false
    })

    test('reports that the wallet does not know the chain', async () => {
      wallet.knowsChain = false
      await send(friend, '1')
      await expectText('alert', 'Your wallet does not know this network.')
      wallet.knowsChain = true
    })

    test('reports an insufficient balance before the wallet opens', async () => {
      await send(friend, '1000001')
      await expectText('alert', 'You have less than that.')
    })

    test('reports an origin that is not on the allow list, and works again once it is added', async () => {
      const path = `/apps/${app.id}/allow-list`
      const { id } = await callApi<{ id: string }>('POST', path, { type: 'origin', value: 'https://other.example' })
      await send(friend, '1')
      await expectText('alert', 'This app is not allowed to do this on the network. Please report it.')
      await callApi('POST', path, { type: 'origin', value: origin })
      await callApi('DELETE', `${path}/${id}`)
      await send(friend, '1')
      await expectText('status', 'Done: 1 RAIL sent.')
    })

    test('reports that it is offline, and works on the next try', async () => {
      await page.context().setOffline(true)
      await send(friend, '1')
      await expectText('alert', 'The network cannot be reached. Check your connection.')
      await page.context().setOffline(false)
      await send(friend, '1')
      await expectText('status', 'Done: 1 RAIL sent.')
    })

    test('forgets a disconnected account, and clears the error once it is online again', async () => {
      await wallet.choose([])
      await page.context().setOffline(true)
      await page.getByRole('button', { name: 'Connect Test wallet' }).click()
      await expectText('alert', 'The network cannot be reached. Check your connection.')
      await page.context().setOffline(false)
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByText('999995.5 RAIL').waitFor()
    })

    test('never shows its key, and has no uncaught errors', async () => {
      expect(await page.content()).not.toContain(app.apiKey)
      expect(problems).toEqual([])
    })
  })

  describe('examples/short-lived-tokens', () => {
    let app: App
    let server: ViteDevServer
    let url = ''
    beforeAll(async () => {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519')
      app = await createApp(callApi, service, 'Tokens')
      const pem = publicKey.export({ type: 'spki', format: 'pem' })
      const { kid } = await callApi<{ kid: string }>('POST', `/apps/${app.id}/jwt-keys`, { pem })
      const { version } = await callApi<App>('GET', `/apps/${app.id}`)
      await callApi('PATCH', `/apps/${app.id}`, { version, requireJwt: true })
      const file = join(room, 'jwt.pem')
      writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
      for (const name of ['KEYRAIL_URL', 'KEYRAIL_RPC_URL', 'KEYRAIL_API_KEY']) vi.stubEnv(name, '')
      vi.stubEnv('KEYRAIL_BASE_URL', app.baseUrl)
      vi.stubEnv('JWT_KEY_FILE', file)
      vi.stubEnv('JWT_KID', kid)
      vi.stubEnv('JWT_SECONDS', '2')
      server = await createServer({
        configFile: join(examples, 'short-lived-tokens/vite.config.ts'),
        cacheDir: join(room, 'vite'),
        logLevel: 'error',
        server: { port: 0, host: '127.0.0.1' },
      })
      vi.unstubAllEnvs()
      await server.listen()
      url = server.resolvedUrls?.local[0] ?? ''
    }, 120_000)
    afterAll(() => server?.close())

    test('the key alone is not accepted', async () => {
      const client = createClient({ baseUrl: app.baseUrl, apiKey: app.apiKey })
      await expect(client.eth_blockNumber()).rejects.toMatchObject({ kind: 'auth' })
      client.close()
    })

    test('the page calls with a token and without a key, and renews the token before it expires', async () => {
      const { page, problems } = await openPage()
      const tokenStatuses: number[] = []
      const called: string[] = []
      page.on('response', (response) => {
        called.push(response.url())
        if (response.url().endsWith('/token')) tokenStatuses.push(response.status())
      })
      await page.goto(url)
      const reload = async (): Promise<void> => page.getByRole('button', { name: 'Look again' }).click()
      // On a busy machine, a token can expire before it arrives. The next try has a new one.
      const expectBlock = (): Promise<void> =>
        expect
          .poll(
            async () => {
              await reload()
              return page.getByRole('status').textContent()
            },
            { timeout: 60_000, interval: 200 },
          )
          .toMatch(/^Block \d+$/)
      await expectBlock()
      await expect
        .poll(async () => reload().then(() => tokenStatuses.length), { timeout: 60_000, interval: 200 })
        .toBeGreaterThan(1)
      await expectBlock()
      expect(new Set(tokenStatuses)).toEqual(new Set([200]))
      expect(called).toContain(`${app.baseUrl}/v2`)
      expect(called.filter((one) => one.includes(app.apiKey))).toEqual([])
      expect(problems).toEqual([])
      await page.close()
    })
  })
})
