import { reply, raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
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
let logs: (from: number, to: number) => Promise<object[] | 'error'>
const queried: [from: number, to: number][] = []
const seen: number[] = []

const between = (from: number, to: number): object[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => createLog(from + at))

beforeEach(async () => {
  height = 100
  queried.length = seen.length = 0
  logs = async (from, to) => between(from, to)
  const respondWithLogs = async (...[one, response, socket]: Parameters<Script>): Promise<void> => {
    const { params } = one.json
    const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
    queried.push([Number(fromBlock), Number(toBlock)])
    const found = await logs(Number(fromBlock), Number(toBlock))
    if (found !== 'error') return reply(found)(one, response, socket)
    raw(200, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"not now"}}')(one, response, socket)
  }
  server = await startFaultServer((...request) =>
    request[0].json.method === 'eth_getLogs' ? void respondWithLogs(...request) : reply(hex(height))(...request),
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
