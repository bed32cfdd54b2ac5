import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import { allBufferedBytes } from '../src/lib/memoryBudget.ts'
import { createApiKey } from '../src/lib/secrets/apiKey.ts'
import { chainIds, post, startGateway } from './startGateway.ts'

type Params = readonly unknown[]
interface Call {
  readonly jsonrpc: '2.0'
  readonly id: number
  readonly method: string
  readonly params: Params
}
interface Response {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}
type Respond = (method: string, params: Params) => Response | undefined | Promise<Response | undefined>

const address = `0x${'1'.repeat(40)}`
const toHex = (number: number): string => `0x${number.toString(16)}`
const toHash = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`
const getHash = (params: Params): string | undefined => (params.at(-1) as { blockHash?: string } | undefined)?.blockHash
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Starts a gateway with one node, some of whose responses a test decides. Its other results show the block that they are of. */
const start = async (respond: Respond = () => undefined) => {
  const node = { tip: 100, respond }
  const seen: string[] = []
  const toBlock = (number: number, hash: string | null = toHash(number)) => ({
    number: toHex(number),
    hash,
    parentHash: toHash(number - 1),
    timestamp: toHex(1_700_000_000 + number * 12),
  })
  const answer = (method: string, params: Params): Response => {
    if (method === 'eth_chainId') return { result: toHex(chainIds.testnet) }
    if (method === 'eth_syncing') return { result: false }
    if (method === 'web3_clientVersion') return { result: 'Geth/v1' }
    if (method === 'eth_blockNumber') return { result: toHex(node.tip) }
    if (method === 'eth_getBlockByNumber')
      return { result: params[0] === 'pending' ? toBlock(node.tip + 1, null) : toBlock(node.tip) }
    const number = Number(method === 'eth_getBlockByHash' ? params[0] : (getHash(params) ?? node.tip))
    if (method === 'eth_getBlockByHash') return { result: number > node.tip ? null : toBlock(number) }
    if (number > node.tip) return { error: { code: -32_000, message: 'header for hash not found' } }
    return { result: toHex(number) }
  }
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    const respondAll = async (): Promise<void> => {
      const parsed = JSON.parse(text) as Call | readonly Call[]
      const responses = []
      for (const { id, method, params } of [parsed].flat() as Call[]) {
        if (request.headers['user-agent'] !== 'keyrail-probe') seen.push(method)
        responses.push({ jsonrpc: '2.0', id, ...((await node.respond(method, params)) ?? answer(method, params)) })
      }
      response.end(JSON.stringify(Array.isArray(parsed) ? responses : responses[0]))
    }
    request.on('end', () => void respondAll())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const upstreams = [{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }]
  const network = { chainId: chainIds.testnet, upstreams, shareLatest: true }
  const { gateway, url, keys, entries: logs } = await startGateway({ testnet: [] }, { networks: { testnet: network } })
  onTestFinished(async () => {
    await gateway.close({ graceMs: 0 })
    server.closeAllConnections()
    server.close()
  })
  const key = createApiKey('testnet')
  keys.add(key, { id: 'k', kind: 'apiKey', networks: ['testnet'], status: 'active' })
  const rpcUrl = getApiKeyUrl(url, 'testnet', key)
  const send = async (body: unknown): Promise<unknown> =>
    JSON.parse((await post(rpcUrl, JSON.stringify(body), { signal: AbortSignal.timeout(8_000) })).text) as unknown
  const batch = async (calls: readonly (readonly [method: string, params: Params])[]): Promise<readonly Response[]> =>
    (await send(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params })))) as Response[]
  const call = async (method: string, ...params: Params): Promise<unknown> => {
    const { result, error } = (await send({ jsonrpc: '2.0', id: 1, method, params })) as Response
    return error ?? result
  }
  const count = (method: string): number => seen.filter((one) => one === method).length
  /** Waits until reads of the state are shared. */
  const ready = async (): Promise<void> => {
    await vi.waitFor(
      async () => {
        await call('eth_getStorageAt', address, '0x0', 'latest')
        const before = count('eth_getStorageAt')
        await call('eth_getStorageAt', address, '0x0', 'latest')
        expect(count('eth_getStorageAt')).toBe(before)
      },
      { timeout: 5_000, interval: 100 },
    )
    seen.length = 0
  }
  return { node, seen, call, batch, count, ready, logs }
}

test('a batch ends if its reads wait while an identical one by hash ends', async () => {
  const { node, batch, ready } = await start()
  await ready()
  // The service has to query the newest block before it can send the second read.
  await sleep(4_100)
  node.respond = async (method) => {
    if (method === 'eth_getBlockByNumber') await sleep(150)
    return undefined
  }
  const byHash = { blockHash: toHash(100), requireCanonical: true }
  const responses = await batch([
    ['eth_getBalance', [address, byHash]],
    ['eth_getBalance', [address, 'latest']],
  ])
  expect(responses.map(({ result }) => result)).toEqual(['0x64', '0x64'])
})

test('a batch ends if identical reads are sent again one after the other', async () => {
  let blocks = 0
  const { node, batch, ready } = await start()
  await ready()
  node.respond = async (method) => {
    if (method !== 'eth_getBlockByHash') return undefined
    await sleep((blocks++ % 2) * 120)
    return { result: null }
  }
  const others = Array.from(
    { length: 33 },
    (_, index) => ['eth_getBalance', [toHash(index).slice(0, 42), 'latest']] as const,
  )
  const newest = ['eth_getBlockByNumber', ['latest', false]] as const
  const responses = await batch([newest, newest, ...others])
  expect(responses).toHaveLength(35)
  expect(responses.filter(({ result }) => result === undefined)).toEqual([])
})

test('a pending block does not count as seen', async () => {
  const { call, count, ready } = await start()
  await ready()
  expect(await call('eth_getBlockByNumber', 'pending', false)).toMatchObject({ number: '0x65' })
  expect(await call('eth_blockNumber')).toBe('0x64')
  expect(await call('eth_getBalance', address, 'latest')).toBe('0x64')
  expect(count('eth_getBlockByNumber')).toBeLessThanOrEqual(3)
})

test.each([
  ['both gasPrice and maxFeePerGas specified', -32_000, 2],
  ['execution aborted (timeout = 5s)', -32_000, 1],
  ['insufficient funds for transfer', -32_000, 1],
  ['invalid argument 0: json: cannot unmarshal hex', -32_602, 1],
])('a call with the error "%s" is not sent for each block again', async (message, code, most) => {
  const { node, call, count, ready } = await start()
  await ready()
  node.respond = (method) => (method === 'eth_call' ? { error: { code, message } } : undefined)
  expect(await call('eth_call', { to: address }, 'latest')).toMatchObject({ message })
  expect(count('eth_call')).toBeLessThanOrEqual(most)
})

test('calls are sent as they are until a slow node is known to read blocks by hash', async () => {
  let isSlow = true
  const { call, count } = await start(async (_, params) => {
    if (isSlow && getHash(params) !== undefined) await sleep(6_000)
    return undefined
  })
  const response = call('eth_getBalance', address, 'latest')
  expect(await Promise.race([response, sleep(3_000)])).toBe('0x64')
  expect(count('eth_getBalance')).toBeGreaterThan(0)
  isSlow = false
})

test('a node with a passing error is tested again', async () => {
  const { node, ready, logs } = await start((_, params) =>
    getHash(params) === undefined ? undefined : { error: { code: -32_603, message: 'Internal error' } },
  )
  const isTested = ready()
  await sleep(300)
  node.respond = () => undefined
  await isTested
  expect(logs.filter((entry) => JSON.stringify(entry).includes('haresLatest'))).toHaveLength(1)
})

test('the results of a batch are counted once', async () => {
  const big = `0x${'11'.repeat(50_000)}`
  const { node, batch, ready } = await start()
  await ready()
  let peak = 0
  node.respond = (method) => {
    peak = Math.max(peak, allBufferedBytes())
    return method === 'eth_call' ? { result: big } : undefined
  }
  const calls = Array.from(
    { length: 20 },
    (_, data) => ['eth_call', [{ to: address, data: toHex(data + 16) }, 'latest']] as const,
  )
  expect(await batch(calls)).toHaveLength(20)
  expect(peak).toBeLessThan(20 * big.length)
})

test('a block in an object is sent as it is', async () => {
  const { node, call, ready } = await start()
  await ready()
  const sent: unknown[] = []
  node.respond = (method, params) => {
    if (method === 'eth_call') sent.push(params[1])
    return undefined
  }
  await call('eth_call', { to: address }, { blockNumber: 'latest' })
  expect(sent).toEqual([{ blockNumber: 'latest' }])
})
