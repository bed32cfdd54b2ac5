import { raw, reply, slowly, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { KeyrailProvider } from '../src/index.ts'

const address = `0x${'ab'.repeat(20)}`
const hex = (value: number): string => `0x${value.toString(16)}`
const word = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`
const createLog = (block: number): object => ({
  address,
  topics: [],
  data: '0x',
  blockNumber: hex(block),
  blockHash: word(block),
  transactionHash: word(block),
  transactionIndex: '0x0',
  logIndex: '0x0',
  removed: false,
})

let server: FaultServer
let provider: KeyrailProvider
/** The height of the chain, which has a log in each block, and the result of a query for logs. */
let height: number
let logs: (from: number, to: number) => Promise<object[] | 'error' | Script>
const queried: [from: number, to: number][] = []
const seen: number[] = []

const between = (from: number, to: number): object[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => createLog(from + at))

beforeEach(async () => {
  height = 100
  queried.length = seen.length = 0
  logs = async (from, to) => between(from, to)
  const respondWithLogs = slowly(async (one, response, socket) => {
    const { params } = one.json
    const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
    queried.push([Number(fromBlock), Number(toBlock)])
    const found = await logs(Number(fromBlock), Number(toBlock))
    if (typeof found === 'function') return found(one, response, socket)
    if (found !== 'error') return reply(found)(one, response, socket)
    raw(200, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"not now"}}')(one, response, socket)
  })
  server = await startFaultServer((...request) =>
    request[0].json.method === 'eth_getLogs' ? respondWithLogs(...request) : reply(hex(height))(...request),
  )
  provider = new KeyrailProvider({ url: server.url, chainId: 1, retry: false }, { pollingInterval: 10 })
})
afterEach(async () => {
  provider.destroy()
  await server.close()
})

const polled = (): number => server.seen.filter(({ json }) => json.method === 'eth_blockNumber').length
/** Subscribes to logs, and waits until the subscription and the polling of blocks know the height of the chain. */
const subscribe = async (): Promise<void> => {
  await provider.on({ address }, ({ blockNumber }: { readonly blockNumber: number }) => void seen.push(blockNumber))
  const before = polled()
  await expect.poll(polled).toBeGreaterThan(before + 2)
}

test('each log is emitted once, even if blocks arrive faster than their logs', async () => {
  await subscribe()
  const release: (() => void)[] = []
  logs = async (from, to) => {
    await new Promise<void>((resolve) => release.push(resolve))
    return between(from, to)
  }
  height = 103
  await expect.poll(() => queried).toEqual([[101, 101]])
  height = 105
  const before = polled()
  await expect.poll(polled).toBeGreaterThan(before + 2)
  // One range at a time.
  expect(queried).toHaveLength(1)
  logs = async (from, to) => between(from, to)
  release[0]?.()
  await expect.poll(() => seen).toEqual([101, 102, 103, 104, 105])
})

test('a range that failed is queried again with the next block', async () => {
  await subscribe()
  logs = async () => 'error'
  height = 101
  await expect.poll(() => queried).toEqual([[101, 101]])
  logs = async (from, to) => between(from, to)
  height = 102
  await expect.poll(() => seen).toEqual([101, 102])
  expect(queried).toEqual([
    [101, 101],
    [101, 102],
  ])
})

test('a log that the node indexes after its block is emitted', async () => {
  await subscribe()
  logs = async () => []
  height = 101
  await expect.poll(() => queried).toEqual([[101, 101]])
  logs = async (from, to) => between(from, to)
  height = 102
  await expect.poll(() => seen).toEqual([101, 102])
})

test('a log that the node sends twice is emitted once', async () => {
  await subscribe()
  logs = async (from, to) => between(from, to).flatMap((log) => [log, log])
  height = 103
  await expect.poll(() => seen).toEqual([101, 102, 103])
})

test('no filter is created on a node', async () => {
  await subscribe()
  height = 101
  await expect.poll(() => seen).toEqual([101])
  expect(new Set(server.seen.map(({ json }) => json.method))).toEqual(new Set(['eth_blockNumber', 'eth_getLogs']))
})

test('no logs are queried without a listener', async () => {
  await subscribe()
  await provider.off({ address })
  const blocks: number[] = []
  await provider.on('block', (block: number) => void blocks.push(block))
  const before = polled()
  await expect.poll(polled).toBeGreaterThan(before + 2)
  height = 101
  await expect.poll(() => blocks).toEqual([101])
  expect(queried).toEqual([])
})

const rpcError = (message: string, code = -32_000): Script =>
  raw(200, `{"jsonrpc":"2.0","id":$ID,"error":${JSON.stringify({ code, message })}}`)

/** A node with logs at three blocks, and none elsewhere. */
const withThreeLogs = (from: number, to: number): object[] =>
  [105, 130, 160].filter((block) => block >= from && block <= to).map((block) => createLog(block))

test.each([
  ['names its limit', 'eth_getLogs is limited to a 10 blocks range'],
  ['names none', 'block range is too wide'],
])(
  'a node that allows 10 blocks of logs and %s: each log is emitted once, also after a jump of the head',
  async (_, message) => {
    const errors: unknown[] = []
    await provider.on('error', (error) => void errors.push(error))
    await subscribe()
    logs = async (from, to) => (to - from >= 10 ? rpcError(message) : withThreeLogs(from, to))
    height = 160
    await expect.poll(() => seen).toEqual([105, 130, 160])
    const before = queried.length
    height = 162
    await expect.poll(() => queried.length).toBeGreaterThan(before)
    await expect.poll(() => queried.at(-1)?.[1]).toBe(162)
    // The limit is known, so only the first query was too large.
    if (message.includes('10')) expect(queried.filter(([from, to]) => to - from >= 10)).toHaveLength(1)
    expect(seen).toEqual([105, 130, 160])
    expect(errors).toEqual([])
  },
)

describe('a failure that is not retryable is emitted as `error`, once', () => {
  const errors: { readonly failure?: unknown }[] = []
  beforeEach(async () => {
    errors.length = 0
    await provider.on('error', (error: (typeof errors)[number]) => void errors.push(error))
  })

  test.each([
    ['of a node without logs', -32_601, 'the method eth_getLogs does not exist', 'methodUnavailable'],
    ['of a block with too many logs', -32_005, 'query returned more than 10000 results', 'range'],
    ['that nobody knows', -39_999, 'odd', 'unknown'],
  ])('%s', async (_, code, message, kind) => {
    await subscribe()
    logs = async () => rpcError(message, code)
    for (height = 101; height < 104; height++) {
      const before = queried.length
      await expect.poll(() => queried.length).toBeGreaterThan(before)
    }
    await expect.poll(() => errors).toMatchObject([{ failure: { kind } }])
    // The subscription continues after the failure, and a later failure is reported too.
    logs = async (from, to) => between(from, to)
    await expect.poll(() => seen).toEqual([101, 102, 103, 104])
    logs = async () => rpcError(message, code)
    height = 105
    await expect.poll(() => errors).toHaveLength(2)
  })

  test('of a disabled key', async () => {
    await subscribe()
    server.script = raw(401, 'key disabled')
    await expect.poll(() => errors).toMatchObject([{ failure: { kind: 'auth' } }])
    const before = server.seen.length
    await expect.poll(() => server.seen.length).toBeGreaterThan(before + 3)
    expect(errors).toHaveLength(1)
  })

  test('but not one that may go away', async () => {
    await subscribe()
    logs = async () => raw(503, 'busy')
    height = 101
    await expect.poll(() => queried.length).toBeGreaterThan(0)
    height = 102
    await expect.poll(() => queried.at(-1)?.[1]).toBe(102)
    logs = async (from, to) => between(from, to)
    height = 103
    await expect.poll(() => seen).toEqual([101, 102, 103])
    expect(errors).toEqual([])
  })
})

test('after a jump of the head by 30 million blocks, only the newest blocks are emitted', async () => {
  let emitted = 0
  await provider.on('block', () => void emitted++)
  const before = polled()
  await expect.poll(polled).toBeGreaterThan(before + 2)
  height = 30_000_100
  await expect.poll(() => emitted).toBe(10_000)
})

test('pending transactions continue if the node loses the filter, and a failure to create one is reported', async () => {
  const hashes: string[] = []
  const failures: unknown[] = []
  let filters = 0
  let round = 0
  let canCreate = true
  server.script = (...request) => {
    const { method, params } = request[0].json as { method: string; params: unknown[] }
    const error = (code: number, message: string): void =>
      raw(200, `{"jsonrpc":"2.0","id":$ID,"error":{"code":${code},"message":"${message}"}}`)(...request)
    if (method === 'eth_newPendingTransactionFilter')
      return canCreate ? reply(hex(++filters))(...request) : error(-32601, 'filters are off')
    if (method !== 'eth_getFilterChanges') return reply(hex(height))(...request)
    round++
    if (params[0] !== hex(filters) || round % 3 === 0) return error(-32000, 'filter not found')
    return reply([word(round)])(...request)
  }
  await provider.on('error', (error) => void failures.push(error))
  await provider.on('pending', (hash: string) => void hashes.push(hash))
  await expect.poll(() => hashes.slice(0, 4)).toEqual([1, 2, 4, 5].map(word))
  expect(failures).toEqual([])
  canCreate = false
  await expect.poll(() => failures).toMatchObject([{ failure: { kind: 'methodUnavailable' } }])
})

test('logs that the node sends out of order are emitted in order, once', async () => {
  await subscribe()
  logs = async (from, to) => [105, 103].filter((block) => block >= from && block <= to).map((block) => createLog(block))
  height = 105
  await expect.poll(() => seen).toHaveLength(2)
  height = 106
  await expect.poll(() => queried.at(-1)?.[1]).toBe(106)
  logs = async (from, to) => between(from, to)
  height = 107
  await expect.poll(() => seen).toEqual([103, 105, 106, 107])
})

test('logs are emitted after a pause and a resume during a query, even if the head cannot be read then', async () => {
  await subscribe()
  const release: (() => void)[] = []
  logs = async (from, to) => {
    await new Promise<void>((resolve) => release.push(resolve))
    return between(from, to)
  }
  height = 101
  await expect.poll(() => queried).toEqual([[101, 101]])
  const { script } = server
  const failAfter = server.seen.length
  server.script = raw(200, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"not now"}}')
  await expect.poll(() => server.seen.length).toBeGreaterThan(failAfter)
  provider.pause(true)
  provider.resume()
  logs = async (from, to) => between(from, to)
  release[0]?.()
  const before = server.seen.length
  await expect.poll(() => server.seen.length).toBeGreaterThan(before + 2)
  server.script = script
  const polls = polled()
  await expect.poll(polled).toBeGreaterThan(polls + 2)
  height = 103
  await expect.poll(() => seen).toEqual([102, 103])
})

test('a first head that cannot be read does not make the subscription query all logs of the chain', async () => {
  const { script } = server
  server.script = raw(200, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"not now"}}')
  await provider.on({ address }, ({ blockNumber }: { readonly blockNumber: number }) => void seen.push(blockNumber))
  await expect.poll(() => server.seen.length).toBeGreaterThan(2)
  server.script = script
  const polls = polled()
  await expect.poll(polled).toBeGreaterThan(polls + 2)
  height = 102
  await expect.poll(() => seen).toEqual([101, 102])
  expect(queried[0]?.[0]).toBe(101)
})

test.each([
  [
    'once, although nodes behind the URL have different heads',
    [100, 101, 102, 101, 102, 100, 101, 103],
    [101, 102, 103],
  ],
  ['again after the chain has become shorter', [100, 102, ...Array.from({ length: 8 }, () => 50), 51], [101, 102, 51]],
])('each block is emitted %s', async (_, heads, expected) => {
  const left = [...heads]
  server.script = (...request) =>
    reply(hex(left.length > 1 ? (left.shift() as number) : (left[0] as number)))(...request)
  const uncached = new KeyrailProvider(
    { url: server.url, chainId: 1, retry: false },
    { pollingInterval: 10, cacheTimeout: -1 },
  )
  const blocks: number[] = []
  await uncached.on('block', (block: number) => void blocks.push(block))
  await expect.poll(() => blocks.at(-1)).toBe(expected.at(-1))
  uncached.destroy()
  expect(blocks).toEqual(expected)
})
