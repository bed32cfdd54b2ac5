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
import { noBrowser, openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { borrowService } from './lendService.ts'
import { createApp, logIn } from './controlApi.ts'
import type { App, Ask } from './controlApi.ts'
import { runExample } from './runExample.ts'
import { injectWallet } from './testWallet.ts'
import type { TestWallet } from './testWallet.ts'

const { service } = await borrowService()
const examples = join(import.meta.dirname, '..')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe.skipIf(noBrowser)('pages in Chromium', { timeout: 120_000 }, () => {
  let browser: Browser
  let ask: Ask
  let room = ''
  beforeAll(async () => {
    room = mkdtempSync(join(tmpdir(), 'keyrail-pages-'))
    ;[browser, ask] = await Promise.all([openBrowser(), logIn(service)])
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    rmSync(room, { recursive: true, force: true })
  })

  /** Opens a page whose errors fail the test that asks for them. */
  const openPage = async (): Promise<{ page: Page; faults: string[] }> => {
    const page = await browser.newPage()
    page.setDefaultTimeout(60_000)
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    return { page, faults }
  }

  describe('examples/dapp-front-end', () => {
    // The third and the eighth account of every development node: nobody else's in these tests.
    const PRIVATE_KEY = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a'
    const account = '0x14dc79964da2c08b23698b3d3cc7ca32193d9955'
    const friend = '0x00000000000000000000000000000000000000f7'
    let app: App
    let served: PreviewServer
    let page: Page
    let faults: string[]
    let wallet: TestWallet
    let origin = ''

    beforeAll(async () => {
      app = await createApp(ask, service, 'Front end')
      const file = join(room, 'env')
      const environment = { KEYRAIL_BASE_URL: app.baseUrl, KEYRAIL_API_KEY: app.apiKey, PRIVATE_KEY, ENV_FILE: file }
      const made = await runExample('dapp-front-end/setUpLocal.ts', environment, [account])
      expect(made).toMatchObject({ exitCode: 0, stderr: '' })
      const configFile = join(examples, 'dapp-front-end/vite.config.ts')
      const outDir = join(room, 'dapp')
      // As it is shipped: a test runner says that it is testing, and then another React is built.
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
      ;({ page, faults } = await openPage())
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
    const expectSaid = (role: 'alert' | 'status', text: string): Promise<void> =>
      page.getByRole(role).filter({ hasText: text }).waitFor()

    const violations = async (): Promise<unknown> => {
      await page.evaluate(axe)
      return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))')
    }

    test('connects a wallet and shows what is in it, and everybody can use it, by day and by night', async () => {
      const connect = page.getByRole('button', { name: 'Connect Test wallet' })
      await connect.waitFor()
      expect(await violations()).toEqual([])
      await connect.click()
      await page.getByText('1000000 RAIL').waitFor()
      expect(await violations()).toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await violations()).toEqual([])
    })

    test('sends, waits for the block, and shows what is left', async () => {
      await send(friend, '2.5')
      await expectSaid('status', 'Done: 2.5 RAIL are theirs.')
      await page.getByText('999997.5 RAIL').waitFor()
    })

    test('asks again for what it cannot understand', async () => {
      await send('nobody', '1')
      await expectSaid('alert', 'To whom?')
      await send(friend, 'much')
      await expectSaid('alert', 'How much?')
    })

    test('says that nothing was sent where the visitor declines', async () => {
      wallet.declines = true
      await send(friend, '1')
      await expectSaid('alert', 'You declined, and nothing was sent.')
      wallet.declines = false
    })

    test('says so where the wallet does not know the chain', async () => {
      wallet.knowsChain = false
      await send(friend, '1')
      await expectSaid('alert', 'Your wallet does not know this network.')
      wallet.knowsChain = true
    })

    test('says so before the wallet opens where somebody has less', async () => {
      await send(friend, '1000001')
      await expectSaid('alert', 'You have less than that.')
    })

    test('says that this page may not ask, where the allow list has another one, and works again once it may', async () => {
      const path = `/apps/${app.id}/allow-list`
      const { id } = await ask<{ id: string }>('POST', path, { type: 'origin', value: 'https://other.example' })
      await send(friend, '1')
      await expectSaid('alert', 'This page may not ask the network.')
      await ask('POST', path, { type: 'origin', value: origin })
      await ask('DELETE', `${path}/${id}`)
      await send(friend, '1')
      await expectSaid('status', 'Done: 1 RAIL are theirs.')
    })

    test('says that it is offline, and tries again when it is told to', async () => {
      await page.context().setOffline(true)
      await send(friend, '1')
      await expectSaid('alert', 'The network cannot be reached. Are you online?')
      await page.context().setOffline(false)
      await send(friend, '1')
      await expectSaid('status', 'Done: 1 RAIL are theirs.')
    })

    test('lets go of an account that was taken back, and of a failure once it is online again', async () => {
      await wallet.choose([])
      await page.context().setOffline(true)
      await page.getByRole('button', { name: 'Connect Test wallet' }).click()
      await expectSaid('alert', 'The network cannot be reached. Are you online?')
      await page.context().setOffline(false)
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByText('999995.5 RAIL').waitFor()
    })

    test('never shows its key, and has no errors of its own', async () => {
      expect(await page.content()).not.toContain(app.apiKey)
      expect(faults).toEqual([])
    })
  })

  describe('examples/short-lived-tokens', () => {
    let app: App
    let server: ViteDevServer
    let url = ''
    beforeAll(async () => {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519')
      app = await createApp(ask, service, 'Tokens')
      const pem = publicKey.export({ type: 'spki', format: 'pem' })
      const { kid } = await ask<{ kid: string }>('POST', `/apps/${app.id}/jwt-keys`, { pem })
      const { version } = await ask<App>('GET', `/apps/${app.id}`)
      await ask('PATCH', `/apps/${app.id}`, { version, requireJwt: true })
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

    test('the key alone opens nothing', async () => {
      const client = createClient({ baseUrl: app.baseUrl, apiKey: app.apiKey })
      await expect(client.eth_blockNumber()).rejects.toMatchObject({ kind: 'auth' })
      client.close()
    })

    test('the page asks with a token and no key, and gets another token before that one has ended', async () => {
      const { page, faults } = await openPage()
      const asked: number[] = []
      const called: string[] = []
      page.on('response', (response) => {
        called.push(response.url())
        if (response.url().endsWith('/token')) asked.push(response.status())
      })
      await page.goto(url)
      const look = async (): Promise<void> => page.getByRole('button', { name: 'Look again' }).click()
      // Where a machine is so busy that a token ends on its way, the next look has another.
      const expectBlock = (): Promise<void> =>
        expect
          .poll(
            async () => {
              await look()
              return page.getByRole('status').textContent()
            },
            { timeout: 60_000, interval: 200 },
          )
          .toMatch(/^Block \d+$/)
      await expectBlock()
      await expect
        .poll(async () => look().then(() => asked.length), { timeout: 60_000, interval: 200 })
        .toBeGreaterThan(1)
      await expectBlock()
      expect(new Set(asked)).toEqual(new Set([200]))
      expect(called).toContain(`${app.baseUrl}/v2`)
      expect(called.filter((one) => one.includes(app.apiKey))).toEqual([])
      expect(faults).toEqual([])
      await page.close()
    })
  })
})
