import { exec } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { devChainIds, networks } from '../src/dev/devChains.ts'
import type { ByNetwork } from '../src/dev/devChains.ts'
import { getBlockHead, callNode } from '../src/node/callNode.ts'
import type { BlockHead } from '../src/node/callNode.ts'
import { findAnvilBinary } from '../src/node/findAnvilBinary.ts'
import { alive, childrenOf, commandOf, post, runCli, startCli, startDevCli, until } from './runCli.ts'
import type { CliRun, RunningCli, RunningDev } from './runCli.ts'

// Whole services are started, several to a test, on a machine that has other things to do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

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

// The folder of a service without --data is made here, so that a test sees whether it goes.
const place = (): Record<string, string> => ({ TMPDIR: temporary })
const startDev = async (
  words: readonly string[] = [],
  extra: Record<string, string> = place(),
): Promise<RunningDev> => {
  const dev = await startDevCli(words, extra)
  started.push(dev)
  return dev
}
const stop = async (dev: RunningCli, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
  dev.child.kill(signal)
  return (await dev.done).exitCode
}
const pidOf = (dev: RunningCli): number => dev.child.pid ?? 0
/** What first calls are made through, as their rows name it. */
const shownLibraries = ['@keyrail/fetch', '@keyrail/ethers', '@keyrail/web3', '@keyrail/viem']
const keysIn = (folder: string): string[] =>
  readFileSync(join(folder, 'keyrail.json'), 'utf8').match(/kr_[atm]\w{39}/g) ?? []

// Each start costs seconds of a processor: there is one service that was stopped, whose folder others go on from, and one that runs on
// a copy of it, for whoever only asks.
let kept = ''
let first: RunningDev
let rejected: CliRun
let logs: unknown
let latest: ByNetwork<BlockHead>
let shared: RunningDev

beforeAll(async () => {
  kept = mkdtempSync(join(tmpdir(), 'keyrail-test-kept-'))
  first = await startDevCli(['--data', join(kept, 'data')])
  const { nodes, app } = first.service
  await callNode(nodes.testnet, 'evm_mine')
  latest = {
    testnet: await getBlockHead(nodes.testnet, 'latest'),
    mainnet: await getBlockHead(nodes.mainnet, 'latest'),
  }
  logs = (await post(app.addresses.testnet, 'eth_getLogs', [{ fromBlock: '0x0' }]))['result']
  rejected = await runCli(['dev', '--once', '--port', '0', '--data', join(kept, 'data')])
  expect(await stop(first)).toBe(0)
  copyKept(join(kept, 'copy'))
  shared = await startDevCli(['--data', join(kept, 'copy')])
})
afterAll(async () => {
  await stop(shared)
  rmSync(kept, { recursive: true, force: true })
})
const copyKept = (to: string): void => cpSync(join(kept, 'data'), to, { recursive: true })

describe('keyrail dev --json', () => {
  test('prints one line of the agreed shape, and every address in it answers what the node itself says', async () => {
    const { service, printed } = shared
    expect(service).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      dashboard: service.url,
      account: { email: expect.stringMatching(/^\S+@\S+$/), password: expect.stringMatching(/^\S{24,}$/) },
      app: {
        id: expect.stringMatching(/^\S+$/),
        apiKey: expect.stringMatching(/^kr_a[0-9A-Za-z]{39}$/),
        addresses: {
          testnet: `${service.url}/testnet/v2/${service.app.apiKey}`,
          mainnet: `${service.url}/mainnet/v2/${service.app.apiKey}`,
        },
      },
      keys: {
        testnet: {
          apiKey: expect.stringMatching(/^kr_t[0-9A-Za-z]{39}$/),
          address: `${service.url}/testnet/${service.keys.testnet.apiKey}`,
        },
        mainnet: {
          apiKey: expect.stringMatching(/^kr_m[0-9A-Za-z]{39}$/),
          address: `${service.url}/mainnet/${service.keys.mainnet.apiKey}`,
        },
      },
      nodes: {
        testnet: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        mainnet: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      },
    })
    for (const network of networks) {
      const own = await getBlockHead(service.nodes[network], 'latest')
      for (const address of [service.app.addresses[network], service.keys[network].address]) {
        expect((await post(address, 'eth_getBlockByNumber', ['latest', false]))['result']).toMatchObject(own)
        expect((await post(address, 'eth_chainId'))['result']).toBe(`0x${devChainIds[network].toString(16)}`)
      }
    }
    expect(printed().stdout.trimEnd().split('\n')).toHaveLength(1)
    expect(printed().stderr).toBe('')
  })

  test('each chain has blocks, logs, and a receipt with logs in it', async () => {
    const { service } = shared
    for (const network of networks) {
      const address = service.app.addresses[network]
      expect(Number((await post(address, 'eth_blockNumber'))['result'])).toBeGreaterThanOrEqual(10)
      const logs = (await post(address, 'eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }]))['result'] as {
        transactionHash: string
      }[]
      expect(logs.length).toBeGreaterThanOrEqual(5)
      const receipt = (await post(address, 'eth_getTransactionReceipt', [logs[1]?.transactionHash]))['result']
      expect(receipt).toMatchObject({
        status: '0x1',
        logs: [expect.objectContaining({ transactionHash: logs[1]?.transactionHash })],
      })
    }
  })

  test("the nodes' own methods are rejected, and let through with --unsafe-node-methods", async () => {
    expect((await post(shared.service.app.addresses.testnet, 'evm_mine'))['error']).toMatchObject({ code: -32601 })
    const { service, printed } = await startDev(['--unsafe-node-methods'])
    const before = await getBlockHead(service.nodes.testnet, 'latest')
    expect(await post(service.app.addresses.testnet, 'evm_mine')).not.toHaveProperty('error')
    expect(Number((await getBlockHead(service.nodes.testnet, 'latest')).number)).toBe(Number(before.number) + 1)
    expect(printed().stderr).toContain('--unsafe-node-methods')
  })
})

/** Asks the control API as a browser at the dashboard does. */
const ask = async (url: string, path: string, { body, cookie = '' }: { body?: unknown; cookie?: string } = {}) => {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', origin: url, cookie },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '',
    answer: (await response.json()) as Record<string, unknown>,
  }
}
const logIn = async ({ service: { url, account } }: RunningDev) => {
  const { email, password } = account
  const { status, cookie } = await ask(url, '/api/session', { body: { email, password } })
  expect(status).toBe(200)
  return cookie
}

describe('the account of keyrail dev', () => {
  test('logs in, and has the app and the keys that were shown; anybody may sign up', async () => {
    const { url, app } = shared.service
    const cookie = await logIn(shared)
    const { answer: apps } = await ask(url, '/api/apps', { cookie })
    expect(apps['items']).toEqual([expect.objectContaining({ id: app.id, name: 'Example app', chain: 'DEV' })])
    const { answer: keys } = await ask(url, '/api/keys', { cookie })
    expect(keys['items']).toEqual(networks.map((network) => expect.objectContaining({ network })))
    const { answer } = await ask(url, `/api/apps/${app.id}/key/reveal`, { cookie, body: {} })
    expect(answer['apiKey']).toBe(app.apiKey)
    const ann = { email: 'ann@example.org', password: 'a long enough password' }
    expect((await ask(url, '/api/account', { body: ann })).status).toBe(201)
    expect((await fetch(`${url}/`, { headers: { accept: 'text/html' } })).headers.get('content-type')).toContain('html')
  })

  test('a key that was exchanged or revoked meanwhile gives way to one that works', async () => {
    copyKept(data)
    const earlier = await startDev(['--data', data])
    const { url, app } = earlier.service
    const cookie = await logIn(earlier)
    const rotated = await ask(url, `/api/apps/${app.id}/key/rotate`, { cookie, body: { graceDays: 0 } })
    expect(rotated.status).toBe(200)
    const { answer: keys } = await ask(url, '/api/keys', { cookie })
    const [testnetKey] = keys['items'] as { id: string }[]
    expect((await ask(url, `/api/keys/${testnetKey?.id}/revoke`, { cookie, body: {} })).status).toBe(200)
    await stop(earlier)

    const { service } = await startDev(['--data', data])
    expect(service.app).toMatchObject({ id: app.id, apiKey: rotated.answer['apiKey'] })
    expect(service.keys.testnet.apiKey).not.toBe(earlier.service.keys.testnet.apiKey)
    expect(readFileSync(join(data, 'keys/app'), 'utf8').trim()).toBe(service.app.apiKey)
    for (const address of [service.app.addresses.testnet, service.keys.testnet.address])
      expect(await post(address, 'eth_blockNumber')).toHaveProperty('result')
  })

  test('rehearses failures by keys of that name', async () => {
    const { service } = shared
    for (const [key, status] of [
      ['kr_test_401', 401],
      ['kr_test_429', 429],
      ['kr_test_quota', 403],
    ] as const) {
      const answer = await fetch(`${service.url}/testnet/v2/${key}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}',
      })
      expect([key, answer.status]).toEqual([key, status])
    }
  })
})

describe('keyrail dev --once', () => {
  test("prints each network's latest block through both address shapes, with no whole key, and stops", async () => {
    // The chains stay in the folder, and their nodes have been asked for themselves.
    copyKept(data)
    const run = await runCli(['dev', '--once', '--port', '0', '--data', data])
    expect(run.exitCode).toBe(0)
    for (const network of networks) {
      const { number, hash } = latest[network]
      const calls = ['app', 'API key'].flatMap((shape) => shownLibraries.map((library) => `${shape}, ${library}`))
      for (const asked of ['the node itself', ...calls]) {
        const line = run.stdout.split('\n').find((row) => row.startsWith(network) && row.includes(`  ${asked}  `))
        expect(line).toMatch(new RegExp(`  ${Number(number)} +${hash}(  the same  +\\d+\\.\\d ms)?$`))
      }
    }
    const keys = keysIn(data)
    expect(keys).toHaveLength(3)
    for (const key of keys) {
      expect(run.stdout + run.stderr).not.toContain(key.slice(0, 12))
      expect(run.stdout).toContain(`…${key.slice(-4)}`)
    }
    expect(run.stdout).toContain('Every answer is what the node itself says.')
    expect(run.stdout).not.toContain('\u001B[')
  })

  test('with --json adds the calls to the line', async () => {
    const run = await runCli(['dev', '--once', '--json', '--port', '0'])
    expect(run.exitCode).toBe(0)
    const { calls } = JSON.parse(run.stdout) as { calls: Record<string, unknown>[] }
    expect(calls.map(({ network, shape, library }) => [network, shape, library])).toEqual(
      networks.flatMap((network) =>
        ['app', 'API key'].flatMap((shape) => shownLibraries.map((library) => [network, shape, library])),
      ),
    )
  })

  test('fails where an answer is not what the node itself says', async () => {
    const run = await runCli(['dev', '--once', '--port', '0'], {
      KEYRAIL_ANVIL: fileURLToPath(new URL('lyingNode.mjs', import.meta.url)),
      REAL_ANVIL: findAnvilBinary(),
      PATH: `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`,
    })
    expect(run.exitCode).toBe(1)
    expect(run.stdout.match(/ {2}otherwise {2}/g)).toHaveLength(4 * shownLibraries.length)
    expect(run.stdout).toMatch(/failed {2}testnet, app, @keyrail\/fetch: the node itself says 0x/)
    expect(run.stdout).toContain('Not every answer is what the node itself says.')
  })
})

describe('keyrail dev, for people', () => {
  test('shows the first calls and where to go next, with no whole key, and serves until Ctrl-C', async () => {
    const dev = startCli(['dev', '--port', '0', '--data', data])
    started.push(dev)
    await until('it serves', () => dev.printed().stdout.includes('Serving until Ctrl-C'))
    const { stdout } = dev.printed()
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout)?.[0] ?? ''
    expect(stdout).toContain(`curl -s "${url}/testnet/v2/$KEYRAIL_API_KEY"`)
    // From source there is no `keyrail` to call: what is printed must work as it stands.
    expect(stdout).toContain('npm start -- --json')
    expect(stdout).not.toMatch(/keyrail (dev|call)/)
    const printed = /^ {2}(npx node .* call eth_getBlockByNumber .*)$/m.exec(stdout)?.[1] ?? ''
    const called = await promisify(exec)(printed, { cwd: fileURLToPath(new URL('../../..', import.meta.url)) })
    expect(JSON.parse(called.stdout)).toHaveProperty('hash')
    for (const key of keysIn(data)) expect(stdout).not.toContain(key.slice(0, 12))
    // The way to the key that it names leads there.
    const keyFile = /\$\(cat (\S+)\)/.exec(stdout)?.[1] ?? ''
    const key = readFileSync(keyFile, 'utf8').trim()
    expect(await post(`${url}/testnet/v2/${key}`, 'eth_blockNumber')).toHaveProperty('result')
    expect(await stop(dev, 'SIGINT')).toBe(0)
  })
})

describe('the end of keyrail dev', () => {
  test.each<NodeJS.Signals>(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    '%s stops it while a client keeps its connection open, with no process and no folder left',
    async (signal) => {
      const dev = await startDev()
      await post(dev.service.app.addresses.testnet, 'eth_blockNumber')
      const children = childrenOf(pidOf(dev))
      expect(children.length).toBeGreaterThanOrEqual(2)
      expect(readdirSync(temporary)).toHaveLength(1)
      const askedAt = performance.now()
      expect(await stop(dev, signal)).toBe(0)
      // Without the idle connection closed, it would wait until the client gives it up. It takes far less than a second.
      expect(performance.now() - askedAt).toBeLessThan(60_000)
      expect(children.filter(alive)).toEqual([])
      expect(readdirSync(temporary)).toEqual([])
    },
  )

  test('asked to stop while it starts, it leaves nothing behind', async () => {
    const dev = startCli(['dev', '--json', '--port', '0'], place())
    await until('a node starts', () => childrenOf(pidOf(dev)).length > 0)
    const children = childrenOf(pidOf(dev))
    dev.child.kill('SIGINT')
    await dev.done
    await until('its processes end', () => children.filter(alive).length === 0)
    expect(readdirSync(temporary)).toEqual([])
  })

  test('a node that dies ends it with an error that names the node', async () => {
    const dev = await startDev()
    const node = childrenOf(pidOf(dev)).find((pid) => commandOf(pid).includes(String(devChainIds.testnet)))
    process.kill(node ?? 0, 'SIGKILL')
    const run = await dev.done
    expect(run.exitCode).toBe(1)
    expect(run.stderr).toContain('the testnet node ended by itself (signal SIGKILL)')
    expect(readdirSync(temporary)).toEqual([])
  })
})

describe('keyrail dev --port', () => {
  test('a port that is asked for and taken is rejected, and what was started is stopped', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await until('it listens', () => other.listening)
    const { port } = other.address() as { port: number }
    const run = await runCli(['dev', '--port', String(port)], place())
    other.close()
    expect(run.exitCode).toBe(1)
    expect(run.stderr).toBe(
      `keyrail: port ${port} of 127.0.0.1 cannot be had: something else listens there\n  hint: give another with --port, or leave --port away to get a free one\n`,
    )
    expect(run.stdout).toBe('')
    expect(readdirSync(temporary)).toEqual([])
  })

  test('the usual port is left to whoever has it', async () => {
    const other = createServer()
    // Whether this test gets it or somebody has it already: it is taken.
    other.once('error', () => undefined)
    other.listen(7245, '127.0.0.1')
    const dev = startCli(['dev', '--json'], place())
    started.push(dev)
    await until('it is ready', () => dev.printed().stdout.includes('\n'))
    expect(dev.printed().stderr).toMatch(/^keyrail: port 7245 is taken, so a free one was chosen: \d+\n$/)
    other.close()
  })

  test.each(['seven', '70000', '-1', '1.5', ''])('%j is no port', async (port) => {
    const run = await runCli(['dev', `--port=${port}`])
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toContain('--port')
  })
})

describe('keyrail dev --data', () => {
  test('two services do not share a folder', () => {
    expect(rejected.exitCode).toBe(1)
    expect(rejected.stderr).toContain(`is in use by process ${pidOf(first)}`)
  })

  test.skipIf(process.platform === 'win32')('only its owner can read what is kept', () => {
    const folder = join(kept, 'data')
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

  test('the next start has the same keys and goes on with the same chains', async () => {
    const second = shared
    expect(second.service.account).toEqual(first.service.account)
    expect(second.service.app.id).toBe(first.service.app.id)
    expect(second.service.app.apiKey).toBe(first.service.app.apiKey)
    for (const network of networks) {
      expect(second.service.keys[network].apiKey).toBe(first.service.keys[network].apiKey)
    }
    const address = second.service.app.addresses.testnet
    expect((await post(address, 'eth_getBlockByNumber', ['latest', false]))['result']).toMatchObject(latest.testnet)
    expect((await post(address, 'eth_getLogs', [{ fromBlock: '0x0' }]))['result']).toEqual(logs)
    expect(await post(address, 'eth_getBalance', ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8', '0x1'])).toHaveProperty(
      'result',
    )
  })

  test.skipIf(process.platform === 'win32')(
    'a killed service takes its nodes with it, and loses neither keys nor blocks',
    async () => {
      copyKept(data)
      const killed = await startDev(['--data', data])
      await callNode(killed.service.nodes.mainnet, 'evm_mine')
      const last = await getBlockHead(killed.service.nodes.mainnet, 'latest')
      const children = childrenOf(pidOf(killed))
      expect(children.length).toBeGreaterThanOrEqual(2)
      killed.child.kill('SIGKILL')
      await until('its nodes end', () => children.filter(alive).length === 0)
      const second = await startDev(['--data', data])
      expect(second.service.app.apiKey).toBe(first.service.app.apiKey)
      expect(await getBlockHead(second.service.nodes.mainnet, 'latest')).toEqual(last)
    },
  )

  test('a broken state or chain is rejected, and nothing is overwritten', async () => {
    copyKept(data)
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

describe('keyrail dev, without its node', () => {
  test('says what is missing and how to fix it', async () => {
    const run = await runCli(['dev', '--once', '--port', '0'], { ...place(), KEYRAIL_ANVIL: '/nowhere/anvil' })
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toBe(
      'keyrail: KEYRAIL_ANVIL names a file that is not there: /nowhere/anvil\n  hint: fix the path, or unset it\n',
    )
    expect(readdirSync(temporary)).toEqual([])
  })
})
