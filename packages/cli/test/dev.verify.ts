import { exec } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { getBlockHead, callNode } from '../src/node/callNode.ts'
import type { BlockHead } from '../src/node/callNode.ts'
import { exampleToken } from '../src/node/exampleToken.ts'
import { findAnvilBinary } from '../src/node/findAnvilBinary.ts'
import { fundedAccounts } from '../src/node/fundedAccounts.ts'
import { alive, listChildren, readCommandLine, post, runCli, startCli, startDevCli, until } from './runCli.ts'
import type { DevDescription } from '../src/dev/devDescription.ts'
import type { CliRun, RunningCli, RunningDev } from './runCli.ts'

// Each test starts several services, possibly on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

const networks = ['testnet', 'mainnet'] as const
const chainIds = { testnet: 0x74657374, mainnet: 0x6d61696e } as const

let temporary = ''
let data = ''
const started: RunningCli[] = []
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  data = join(temporary, 'data')
})
afterEach(async () => {
  for (const { child, done } of started.splice(0)) {
    child.kill('SIGTERM')
    await done
  }
  rmSync(temporary, { recursive: true, force: true })
})

// The temporary folder of an ephemeral service, so that a test can check that it is removed.
const withTemporaryFolder = (): Record<string, string> => ({ TMPDIR: temporary })
const startDev = async (
  words: readonly string[] = [],
  extra: Record<string, string> = withTemporaryFolder(),
): Promise<RunningDev> => {
  const dev = await startDevCli(words, extra)
  started.push(dev)
  return dev
}
const stop = async (dev: RunningCli, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
  dev.child.kill(signal)
  return (await dev.done).exitCode
}
const getPid = (dev: RunningCli): number => dev.child.pid ?? 0
/** The libraries of the first calls. */
const firstCallLibraries = ['@keyrail/fetch', '@keyrail/ethers', '@keyrail/web3', '@keyrail/viem']
const readKeys = (folder: string): string[] =>
  readFileSync(join(folder, 'keyrail.json'), 'utf8').match(/kr_[atm]\w{39}/g) ?? []

// Each start takes seconds of CPU time. Tests share the folder of one stopped service, and one service that runs on a copy of it.
let saved = ''
let first: RunningDev
let rejected: CliRun
let logs: unknown
let latest: Record<(typeof networks)[number], BlockHead>
let shared: RunningDev

beforeAll(async () => {
  saved = mkdtempSync(join(tmpdir(), 'keyrail-test-saved-'))
  first = await startDevCli(['--data', join(saved, 'data')])
  const { nodes, app } = first.service
  await callNode(nodes.testnet, 'evm_mine')
  latest = {
    testnet: await getBlockHead(nodes.testnet, 'latest'),
    mainnet: await getBlockHead(nodes.mainnet, 'latest'),
  }
  logs = (await post(app.urls.testnet, 'eth_getLogs', [{ fromBlock: '0x0' }]))['result']
  rejected = await runCli(['dev', '--once', '--port', '0', '--data', join(saved, 'data')])
  expect(await stop(first)).toBe(0)
  copySaved(join(saved, 'copy'))
  shared = await startDevCli(['--data', join(saved, 'copy')])
})
afterAll(async () => {
  await stop(shared)
  rmSync(saved, { recursive: true, force: true })
})
const copySaved = (to: string): void => cpSync(join(saved, 'data'), to, { recursive: true })

/** Subscribes to new heads over a WebSocket. @returns The id of the subscription. */
const subscribeToHeads = (url: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url)
    socket.addEventListener('error', () => reject(new Error(`no WebSocket at ${url}`)))
    socket.addEventListener('message', ({ data }) => {
      socket.close()
      resolve((JSON.parse(String(data)) as { result?: unknown }).result)
    })
    const request = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }
    socket.addEventListener('open', () => socket.send(JSON.stringify(request)))
  })

describe('keyrail dev --json', () => {
  test('prints one line of JSON, and every URL in it serves the same blocks as the node', async () => {
    const { service, printed } = shared
    const wsUrl = service.url.replace('http', 'ws')
    expect(service).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      dashboard: service.url,
      account: { email: expect.stringMatching(/^\S+@\S+$/), password: expect.stringMatching(/^\S{24,}$/) },
      app: {
        id: expect.stringMatching(/^\S+$/),
        apiKey: expect.stringMatching(/^kr_a[0-9A-Za-z]{39}$/),
        urls: {
          testnet: `${service.url}/testnet/v2/${service.app.apiKey}`,
          mainnet: `${service.url}/mainnet/v2/${service.app.apiKey}`,
        },
        wsUrls: {
          testnet: `${wsUrl}/testnet/v2/${service.app.apiKey}`,
          mainnet: `${wsUrl}/mainnet/v2/${service.app.apiKey}`,
        },
      },
      keys: {
        testnet: {
          apiKey: expect.stringMatching(/^kr_t[0-9A-Za-z]{39}$/),
          url: `${service.url}/testnet/${service.keys.testnet.apiKey}`,
          wsUrl: `${wsUrl}/testnet/${service.keys.testnet.apiKey}`,
        },
        mainnet: {
          apiKey: expect.stringMatching(/^kr_m[0-9A-Za-z]{39}$/),
          url: `${service.url}/mainnet/${service.keys.mainnet.apiKey}`,
          wsUrl: `${wsUrl}/mainnet/${service.keys.mainnet.apiKey}`,
        },
      },
      nodes: {
        testnet: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        mainnet: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      },
      chainIds,
      fundedAccounts,
      tokens: { testnet: exampleToken, mainnet: exampleToken },
    })
    for (const network of networks) {
      const own = await getBlockHead(service.nodes[network], 'latest')
      for (const fullUrl of [service.app.urls[network], service.keys[network].url]) {
        expect((await post(fullUrl, 'eth_getBlockByNumber', ['latest', false]))['result']).toMatchObject(own)
        expect((await post(fullUrl, 'eth_chainId'))['result']).toBe(`0x${chainIds[network].toString(16)}`)
      }
      for (const fullUrl of [service.app.wsUrls[network], service.keys[network].wsUrl]) {
        expect(await subscribeToHeads(fullUrl)).toMatch(/^0x[\da-f]{32}$/)
      }
    }
    expect(printed().stdout.trimEnd().split('\n')).toHaveLength(1)
    expect(printed().stderr).toBe('')
  })

  test('each chain has blocks, logs, and a receipt with logs', async () => {
    const { service } = shared
    for (const network of networks) {
      const fullUrl = service.app.urls[network]
      expect(Number((await post(fullUrl, 'eth_blockNumber'))['result'])).toBeGreaterThanOrEqual(10)
      const logs = (await post(fullUrl, 'eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }]))['result'] as {
        transactionHash: string
      }[]
      expect(logs.length).toBeGreaterThanOrEqual(5)
      const receipt = (await post(fullUrl, 'eth_getTransactionReceipt', [logs[1]?.transactionHash]))['result']
      expect(receipt).toMatchObject({
        status: '0x1',
        logs: [expect.objectContaining({ transactionHash: logs[1]?.transactionHash })],
      })
    }
  })

  test("rejects the nodes' own methods, but not with --unsafe-node-methods", async () => {
    expect((await post(shared.service.app.urls.testnet, 'evm_mine'))['error']).toMatchObject({ code: -32601 })
    const { service, printed } = await startDev(['--unsafe-node-methods'])
    const before = await getBlockHead(service.nodes.testnet, 'latest')
    expect(await post(service.app.urls.testnet, 'evm_mine')).not.toHaveProperty('error')
    expect(Number((await getBlockHead(service.nodes.testnet, 'latest')).number)).toBe(Number(before.number) + 1)
    expect(printed().stderr).toContain('--unsafe-node-methods')
  })
})

/** Calls the control API like the dashboard. */
const callApi = async (url: string, path: string, { body, cookie = '' }: { body?: unknown; cookie?: string } = {}) => {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', origin: url, cookie },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '',
    body: (await response.json()) as Record<string, unknown>,
  }
}
const logIn = async ({ service: { url, account } }: RunningDev) => {
  const { email, password } = account
  const { status, cookie } = await callApi(url, '/api/session', { body: { email, password } })
  expect(status).toBe(200)
  return cookie
}

describe('the account of keyrail dev', () => {
  test('logs in and owns the app and the keys, and sign-up is open', async () => {
    const { url, app } = shared.service
    const cookie = await logIn(shared)
    const { body: apps } = await callApi(url, '/api/apps', { cookie })
    expect(apps['items']).toEqual([expect.objectContaining({ id: app.id, name: 'Example app', chain: 'development' })])
    const { body: keys } = await callApi(url, '/api/keys', { cookie })
    expect(keys['items']).toEqual(networks.map((network) => expect.objectContaining({ network })))
    const { body } = await callApi(url, `/api/apps/${app.id}/key/reveal`, { cookie, body: {} })
    expect(body['apiKey']).toBe(app.apiKey)
    const ann = { email: 'ann@example.org', password: 'a long enough password' }
    expect((await callApi(url, '/api/account', { body: ann })).status).toBe(201)
    expect((await fetch(`${url}/`, { headers: { accept: 'text/html' } })).headers.get('content-type')).toContain('html')
  })

  test('replaces a rotated or revoked key with one that works', async () => {
    copySaved(data)
    const earlier = await startDev(['--data', data])
    const { url, app } = earlier.service
    const cookie = await logIn(earlier)
    const rotated = await callApi(url, `/api/apps/${app.id}/key/rotate`, { cookie, body: { graceDays: 0 } })
    expect(rotated.status).toBe(200)
    const { body: keys } = await callApi(url, '/api/keys', { cookie })
    const [testnetKey] = keys['items'] as { id: string }[]
    expect((await callApi(url, `/api/keys/${testnetKey?.id}/revoke`, { cookie, body: {} })).status).toBe(200)
    await stop(earlier)

    const { service } = await startDev(['--data', data])
    expect(service.app).toMatchObject({ id: app.id, apiKey: rotated.body['apiKey'] })
    expect(service.keys.testnet.apiKey).not.toBe(earlier.service.keys.testnet.apiKey)
    expect(readFileSync(join(data, 'keys/app'), 'utf8').trim()).toBe(service.app.apiKey)
    for (const fullUrl of [service.app.urls.testnet, service.keys.testnet.url])
      expect(await post(fullUrl, 'eth_blockNumber')).toHaveProperty('result')
  })

  test('simulates failures with test keys', async () => {
    const { service } = shared
    for (const [key, status] of [
      ['kr_test_401', 401],
      ['kr_test_429', 429],
      ['kr_test_quota', 403],
    ] as const) {
      const response = await fetch(`${service.url}/testnet/v2/${key}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}',
      })
      expect([key, response.status]).toEqual([key, status])
    }
  })
})

describe('keyrail dev --once', () => {
  test("prints each network's latest block through both kinds of URL, without a full key, and exits", async () => {
    // The blocks of these chains were read from the nodes before.
    copySaved(data)
    const run = await runCli(['dev', '--once', '--port', '0', '--data', data])
    expect(run.exitCode).toBe(0)
    for (const network of networks) {
      const { number, hash } = latest[network]
      const calls = ['app', 'API key'].flatMap((shape) => firstCallLibraries.map((library) => `${shape}, ${library}`))
      for (const client of ['node', ...calls]) {
        const line = run.stdout.split('\n').find((row) => row.startsWith(network) && row.includes(`  ${client}  `))
        expect(line).toMatch(new RegExp(`  ${Number(number)} +${hash}(  matches  +\\d+\\.\\d ms)?$`))
      }
    }
    const keys = readKeys(data)
    expect(keys).toHaveLength(3)
    for (const key of keys) {
      expect(run.stdout + run.stderr).not.toContain(key.slice(0, 12))
      expect(run.stdout).toContain(`…${key.slice(-4)}`)
    }
    expect(run.stdout).toContain('Every result matches the node.')
    expect(run.stdout).not.toContain('\u001B[')
  })

  test('adds the calls to the output of --json', async () => {
    const run = await runCli(['dev', '--once', '--json', '--port', '0', '--ephemeral'])
    expect(run.exitCode).toBe(0)
    const { calls } = JSON.parse(run.stdout) as { calls: Record<string, unknown>[] }
    expect(calls.map(({ network, shape, library }) => [network, shape, library])).toEqual(
      networks.flatMap((network) =>
        ['app', 'API key'].flatMap((shape) => firstCallLibraries.map((library) => [network, shape, library])),
      ),
    )
  })

  test('fails if a result does not match the node', async () => {
    const run = await runCli(['dev', '--once', '--port', '0', '--ephemeral'], {
      KEYRAIL_ANVIL: fileURLToPath(new URL('lyingNode.mjs', import.meta.url)),
      REAL_ANVIL: findAnvilBinary(),
      PATH: `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`,
    })
    expect(run.exitCode).toBe(1)
    expect(run.stdout.match(/ {2}differs {2}/g)).toHaveLength(4 * firstCallLibraries.length)
    expect(run.stdout).toMatch(/failed {2}testnet, app, @keyrail\/fetch: the node returned 0x/)
    expect(run.stdout).toContain('Some results do not match the node.')
  })
})

describe('keyrail dev for people', () => {
  test('shows the first calls and the next steps, without a full key, and serves until Ctrl-C', async () => {
    const dev = startCli(['dev', '--verbose', '--port', '0', '--data', data])
    started.push(dev)
    await until('it serves', () => dev.printed().stdout.includes('Serving until Ctrl-C'))
    const { stdout } = dev.printed()
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout)?.[0] ?? ''
    expect(stdout).toContain(`curl -s "${url}/testnet/v2/$KEYRAIL_API_KEY"`)
    // From source, `keyrail` is not on the PATH: the printed commands must work unchanged.
    expect(stdout).toContain('npm start -- --json')
    for (const { address, privateKey } of fundedAccounts) expect(stdout).toContain(`  ${address}  ${privateKey}\n`)
    expect(stdout).toContain('ERC-20 token Test Token (TEST, 18 decimals)')
    for (const network of networks) expect(stdout).toContain(`  ${network}  ${exampleToken.address}\n`)
    expect(stdout).not.toMatch(/(?<!bin\/)keyrail (dev|call)/)
    const printed = /^ {2}(bin\/keyrail call eth_getBlockByNumber .*)$/m.exec(stdout)?.[1] ?? ''
    const called = await promisify(exec)(printed, { cwd: fileURLToPath(new URL('../../..', import.meta.url)) })
    expect(JSON.parse(called.stdout)).toHaveProperty('hash')
    for (const key of readKeys(data)) expect(stdout).not.toContain(key.slice(0, 12))
    // The printed key file contains the key.
    const keyFile = /\$\(cat (\S+)\)/.exec(stdout)?.[1] ?? ''
    const key = readFileSync(keyFile, 'utf8').trim()
    expect(await post(`${url}/testnet/v2/${key}`, 'eth_blockNumber')).toHaveProperty('result')
    expect(await stop(dev, 'SIGINT')).toBe(0)
  })
})

describe('keyrail dev --block-time', () => {
  test('prints a screen, whose link logs in once; blocks come, --json prints the service that runs, and the next start has its chains', async () => {
    const words = ['dev', '--data', data, '--block-time', '1', '--networks', 'testnet']
    const dev = startCli([...words, '--port', '0'])
    started.push(dev)
    await until('it serves', () => dev.printed().stdout.includes('Serving until Ctrl-C'))
    const { stdout } = dev.printed()
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(24)
    expect(stdout).toContain('a block every 1 s')

    const running = await runCli([...words, '--json'])
    expect(running).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('this service already runs') })
    const service = JSON.parse(running.stdout) as DevDescription
    const second = await runCli(words)
    expect(second).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/already runs, as process \d+/) })
    expect(second.stdout).toContain(`Dashboard  ${service.url}\n`)
    expect(second.stdout).toContain(`log in as ${service.account.email}, password in `)
    expect(second.stdout).toContain(`Base URL   ${service.url}/testnet\n`)
    expect(second.stdout).not.toContain(service.app.apiKey)
    const [, link = ''] = /\/log-in\/link#(\S+)/.exec(stdout) ?? []
    const use = () => callApi(service.url, '/api/session/link', { body: { link } })
    expect(await use()).toMatchObject({ status: 200, body: { account: { email: service.account.email } } })
    expect(await use()).toMatchObject({ status: 404, body: { error: { code: 'link_invalid' } } })

    const getNumber = async (): Promise<number> =>
      Number((await post(service.app.urls.testnet, 'eth_blockNumber'))['result'])
    const before = await getNumber()
    await until('two blocks are mined', async () => (await getNumber()) >= before + 2)
    // A transaction does not wait for the next block.
    const mined = await callNode(service.nodes.testnet, 'eth_sendTransaction', [
      { from: fundedAccounts[0]?.address, to: fundedAccounts[1]?.address, value: '0x1' },
    ])
    expect(await callNode(service.nodes.testnet, 'eth_getTransactionReceipt', [mined])).toMatchObject({ status: '0x1' })
    const last = await getNumber()
    expect(await stop(dev, 'SIGINT')).toBe(0)
    expect(existsSync(join(data, 'service.json'))).toBe(false)

    const again = await startDev(['--data', data, '--block-time', '1', '--networks', 'testnet'])
    const { urls } = again.service.app
    expect(Number((await post(urls.testnet, 'eth_blockNumber'))['result'])).toBeGreaterThanOrEqual(last)
    expect((await post(urls.testnet, 'eth_getTransactionByHash', [mined]))['result']).toMatchObject({ value: '0x1' })
  })
})

describe('stopping keyrail dev', () => {
  test.each<NodeJS.Signals>(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    '%s stops it despite an open connection, and leaves no process and no folder',
    async (signal) => {
      const dev = await startDev()
      await post(dev.service.app.urls.testnet, 'eth_blockNumber')
      const children = listChildren(getPid(dev))
      expect(children.length).toBeGreaterThanOrEqual(2)
      expect(readdirSync(temporary)).toHaveLength(1)
      const signaledAt = performance.now()
      expect(await stop(dev, signal)).toBe(0)
      // If it did not close the idle connection, it would wait for the client. It takes far less than a second.
      expect(performance.now() - signaledAt).toBeLessThan(60_000)
      expect(children.filter(alive)).toEqual([])
      expect(readdirSync(temporary)).toEqual([])
    },
  )

  test('leaves nothing behind if stopped during the start', async () => {
    const dev = startCli(['dev', '--json', '--port', '0', '--ephemeral'], withTemporaryFolder())
    await until('a node starts', () => listChildren(getPid(dev)).length > 0)
    const children = listChildren(getPid(dev))
    dev.child.kill('SIGINT')
    await dev.done
    await until('its processes exit', () => children.filter(alive).length === 0)
    expect(readdirSync(temporary)).toEqual([])
  })

  test('exits with an error that names the node if a node is killed', async () => {
    const dev = await startDev()
    const node = listChildren(getPid(dev)).find((pid) => readCommandLine(pid).includes(String(chainIds.testnet)))
    process.kill(node ?? 0, 'SIGKILL')
    const run = await dev.done
    expect(run.exitCode).toBe(1)
    expect(run.stderr).toContain('the testnet node exited unexpectedly (signal SIGKILL)')
    expect(readdirSync(temporary)).toEqual([])
  })
})

describe('keyrail dev --port', () => {
  test('rejects a port in use, and stops everything it started', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await until('it listens', () => other.listening)
    const { port } = other.address() as { port: number }
    const run = await runCli(['dev', '--port', String(port), '--ephemeral'], withTemporaryFolder())
    other.close()
    expect(run.exitCode).toBe(1)
    expect(run.stderr).toBe(
      `keyrail: cannot listen on port ${port} of 127.0.0.1: it is in use\n  hint: use another --port, or omit it to use a free one\n`,
    )
    expect(run.stdout).toBe('')
    expect(readdirSync(temporary)).toEqual([])
  })

  test('uses a free port if the default is in use', async () => {
    const other = createServer()
    // The port is in use, whether this test gets it or not.
    other.once('error', () => undefined)
    other.listen(7245, '127.0.0.1')
    const dev = startCli(['dev', '--json', '--ephemeral'], withTemporaryFolder())
    started.push(dev)
    await until('it is ready', () => dev.printed().stdout.includes('\n'))
    expect(dev.printed().stderr).toMatch(/^keyrail: port 7245 is in use, using \d+ instead\n$/)
    other.close()
  })

  test.each(['seven', '70000', '-1', '1.5', ''])('rejects the port %j', async (port) => {
    const run = await runCli(['dev', `--port=${port}`])
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toContain('--port')
  })
})

describe('keyrail dev without --data', () => {
  test('has the same keys and chains at the next start, in .keyrail, which git ignores', async () => {
    const once = ['dev', '--once', '--json', '--port', '0', '--networks', 'testnet']
    const runs = [await runCli(once, {}, temporary), await runCli(once, {}, temporary)]
    const [first, second] = runs.map(({ stdout }) => JSON.parse(stdout) as DevDescription)
    expect(second?.app.apiKey).toBe(first?.app.apiKey)
    expect(second?.keys).toMatchObject({ testnet: { apiKey: first?.keys.testnet.apiKey } })
    expect(readKeys(join(temporary, '.keyrail'))).toContain(first?.app.apiKey)
    expect(existsSync(join(temporary, '.keyrail/testnet.chain.json'))).toBe(true)
    expect(readFileSync(join(temporary, '.keyrail/.gitignore'), 'utf8')).toBe('*\n')
    expect(readdirSync(temporary)).toEqual(['.keyrail'])
  })

  test('rejects --ephemeral together with --data', async () => {
    const run = await runCli(['dev', '--ephemeral', '--data', data])
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toContain('--ephemeral and --data cannot be combined')
    expect(existsSync(data)).toBe(false)
  })
})

describe('keyrail dev --data', () => {
  test('rejects a folder in use', () => {
    expect(rejected.exitCode).toBe(1)
    expect(rejected.stderr).toContain(`, as process ${getPid(first)}`)
  })

  test.skipIf(process.platform === 'win32')('only the owner can read the files', () => {
    const folder = join(saved, 'data')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
    expect(files.map(({ name }) => name).sort()).toEqual([
      'app',
      'keyrail.db',
      'keyrail.json',
      'mainnet',
      'mainnet.chain.json',
      'password',
      'secret',
      'testnet',
      'testnet.chain.json',
    ])
    for (const { parentPath, name } of files)
      expect([name, statSync(join(parentPath, name)).mode & 0o777]).toEqual([name, 0o600])
  })

  test('the next start has the same keys and chains', async () => {
    const second = shared
    expect(second.service.account).toEqual(first.service.account)
    expect(second.service.app.id).toBe(first.service.app.id)
    expect(second.service.app.apiKey).toBe(first.service.app.apiKey)
    for (const network of networks) {
      expect(second.service.keys[network].apiKey).toBe(first.service.keys[network].apiKey)
    }
    const fullUrl = second.service.app.urls.testnet
    expect((await post(fullUrl, 'eth_getBlockByNumber', ['latest', false]))['result']).toMatchObject(latest.testnet)
    expect((await post(fullUrl, 'eth_getLogs', [{ fromBlock: '0x0' }]))['result']).toEqual(logs)
    expect(await post(fullUrl, 'eth_getBalance', ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8', '0x1'])).toHaveProperty(
      'result',
    )
  })

  test.skipIf(process.platform === 'win32')(
    'a killed service stops its nodes, and loses neither keys nor blocks',
    async () => {
      copySaved(data)
      const killed = await startDev(['--data', data])
      await callNode(killed.service.nodes.mainnet, 'evm_mine')
      const last = await getBlockHead(killed.service.nodes.mainnet, 'latest')
      const children = listChildren(getPid(killed))
      expect(children.length).toBeGreaterThanOrEqual(2)
      killed.child.kill('SIGKILL')
      await until('its nodes exit', () => children.filter(alive).length === 0)
      const second = await startDev(['--data', data])
      expect(second.service.app.apiKey).toBe(first.service.app.apiKey)
      expect(await getBlockHead(second.service.nodes.mainnet, 'latest')).toEqual(last)
    },
  )

  test('rejects an invalid state or chain, and overwrites nothing', async () => {
    copySaved(data)
    for (const [file, text] of [
      ['mainnet.chain.json', '{"block":{'],
      ['testnet.chain.json', '{"not":"a chain"}'],
      ['keyrail.json', '{"version":1}'],
    ] as const) {
      writeFileSync(join(data, file), text)
      const run = await runCli(['dev', '--once', '--port', '0', '--data', data])
      expect(run).toMatchObject({ exitCode: 1, stdout: '' })
      expect(run.stderr).toContain(join(data, file))
      expect(readFileSync(join(data, file), 'utf8')).toBe(text)
      expect(existsSync(join(data, 'lock'))).toBe(false)
      if (file === 'mainnet.chain.json') rmSync(join(data, file))
    }
  })
})

describe('keyrail dev without its node', () => {
  test('reports the missing binary and the fix', async () => {
    const run = await runCli(['dev', '--once', '--port', '0', '--ephemeral'], {
      ...withTemporaryFolder(),
      KEYRAIL_ANVIL: '/nowhere/anvil',
    })
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toBe(
      'keyrail: KEYRAIL_ANVIL is set to a file that does not exist: /nowhere/anvil\n  hint: fix the path, or unset it\n',
    )
    expect(readdirSync(temporary)).toEqual([])
  })
})

describe('keyrail dev --fork', () => {
  test('continues the chain of a URL, whose key appears nowhere', async () => {
    const { url, apiKey } = shared.service.keys.testnet
    const { testnet: node } = shared.service.nodes
    const before = await getBlockHead(node, 'latest')
    const dev = await startDev([], { ...withTemporaryFolder(), KEYRAIL_FORK_URL: url })
    const { app, nodes, tokens, chainIds: ids, fork } = dev.service
    expect(Object.keys(nodes)).toEqual(['testnet'])
    expect(ids.testnet).toBe(chainIds.testnet)
    expect(fork).toEqual({ redactedUrl: expect.stringMatching(/^http:.*…\w{4}$/), blockNumber: Number(before.number) })
    expect((await post(app.urls.testnet, 'eth_getBlockByNumber', [before.number, false]))['result']).toMatchObject(
      before,
    )
    const { result: supply } = await post(app.urls.testnet, 'eth_call', [
      { to: tokens.testnet.address, data: '0x18160ddd' },
      'latest',
    ])
    expect(BigInt(String(supply))).toBe(10n ** 24n)
    expect(tokens.testnet.address).not.toBe(exampleToken.address)
    expect(await getBlockHead(node, 'latest')).toEqual(before)
    const { stdout, stderr } = dev.printed()
    const commandLines = listChildren(getPid(dev)).map(readCommandLine)
    expect(commandLines.join('\n')).toContain('--fork-url http://127.0.0.1:')
    expect(stdout + stderr + commandLines.join('\n')).not.toContain(apiKey.slice(4, 12))
  })

  test('shows the fork to people, and warns about a key in --fork', async () => {
    const { apiKey, urls } = shared.service.app
    const words = ['dev', '--once', '--port', '0', '--ephemeral', '--fork', urls.testnet, '--fork-block', '3']
    const run = await runCli(words)
    expect(run.exitCode).toBe(0)
    expect(run.stdout).toMatch(/^Keyrail serves testnet on this machine, a fork of http:\S+ at block 3\n/)
    expect(run.stdout).toContain('Every result matches the node.')
    expect(run.stderr).toBe("keyrail: --fork leaves the key in the shell's history; use KEYRAIL_FORK_URL instead\n")
    expect(run.stdout).not.toContain(apiKey.slice(4, 12))
  })

  test.each([
    [['--fork', 'http://127.0.0.1:1', '--networks', 'base'], 2, '--fork and --networks cannot be combined'],
    [['--fork-block', '3'], 2, '--fork-block needs --fork'],
    [['--fork', 'not a URL'], 2, 'url'],
    [['--fork', 'http://127.0.0.1:1'], 3, 'network: '],
  ])('rejects %j', async (words, exitCode, message) => {
    const run = await runCli(['dev', '--ephemeral', ...words])
    expect(run).toMatchObject({ exitCode, stdout: '' })
    expect(run.stderr).toContain(message)
  })

  test('reports a block that the chain does not have, without the URL', async () => {
    const { url, apiKey } = shared.service.keys.testnet
    const words = ['dev', '--ephemeral', '--port', '0', '--fork-block', '999999']
    const run = await runCli(words, { KEYRAIL_FORK_URL: url })
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toContain('the testnet node exited before it listened')
    expect(run.stderr).not.toContain(apiKey.slice(4, 12))
  })
})

describe('keyrail dev --networks', () => {
  /** Calls every URL of a network, and returns the chain ids. */
  const readChainIds = async (urls: readonly string[]): Promise<unknown[]> =>
    Promise.all(urls.map(async (url) => (await post(url, 'eth_chainId'))['result']))

  test('runs a node with the chain id of each network, and keeps app and keys if the networks change', async () => {
    const dev = await startDev(['--data', data, '--networks', 'ethereum,base-sepolia,polygon'])
    const { app, keys, nodes } = dev.service as unknown as DevDescription<string>
    expect(Object.keys(nodes)).toEqual(['ethereum', 'base-sepolia', 'polygon'])
    expect(keys['base-sepolia']?.apiKey).toMatch(/^kr_t/)
    expect(keys['polygon']?.apiKey).toMatch(/^kr_m/)
    for (const [network, chainId] of [
      ['ethereum', '0x1'],
      ['base-sepolia', '0x14a34'],
      ['polygon', '0x89'],
    ] as const) {
      const urls = [app.urls[network], keys[network]?.url, nodes[network]]
      expect(await readChainIds(urls.map(String))).toEqual([chainId, chainId, chainId])
    }
    // The name of the well-known network works, too.
    const url = String(app.urls['ethereum'])
    expect(await readChainIds([url.replace('/ethereum/', '/ethereum-mainnet/')])).toEqual(['0x1'])
    expect(await stop(dev)).toBe(0)

    // An account has at most four API keys, so the last network has none.
    const again = await startDev(['--data', data, '--networks', 'polygon,optimism,arbitrum'])
    const second = again.service as unknown as DevDescription<string>
    expect(second.app.apiKey).toBe(app.apiKey)
    expect(second.keys['polygon']).toEqual({
      apiKey: keys['polygon']?.apiKey,
      url: expect.stringContaining('/polygon/'),
      wsUrl: expect.stringMatching(/^ws:.*\/polygon\//),
    })
    expect(Object.keys(second.keys)).toEqual(['polygon', 'optimism'])
    expect(await readChainIds(Object.values(second.app.urls))).toEqual(['0x89', '0xa', '0xa4b1'])
  })

  test('starts without an API key if the account has the maximum number of others', async () => {
    copySaved(data)
    const dev = await startDev(['--data', data])
    const { url, account } = dev.service
    const cookie = await logIn(dev)
    for (const name of ['Mine', 'Mine too'])
      expect((await callApi(url, '/api/keys', { cookie, body: { name, network: 'testnet' } })).status).toBe(201)
    expect(await stop(dev)).toBe(0)
    const again = await startDev(['--data', data, '--networks', 'base,testnet'])
    expect(again.service.account).toEqual(account)
    expect(Object.keys(again.service.keys)).toEqual(['testnet'])
    expect(Object.keys(again.service.app.urls)).toEqual(['base', 'testnet'])
    expect(readdirSync(join(data, 'keys')).sort()).toEqual(['app', 'mainnet', 'testnet'])
  })

  test('makes the first calls on each network', async () => {
    const run = await runCli(['dev', '--once', '--port', '0', '--ephemeral', '--networks', 'base,testnet'])
    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(run.stdout).toContain('serves base and testnet on this machine')
    expect(run.stdout).toMatch(/base +API key, @keyrail\/fetch/)
    expect(run.stdout).toContain('chain 8453')
    expect(run.stdout).toContain('Every result matches the node.')
  })
})
