import { reply, raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { KeyrailProvider } from '../src/index.ts'

const address = `0x${'ab'.repeat(20)}`
const hex = (value: number): string => `0x${value.toString(16)}`
const word = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`
const logOf = (block: number): object => ({
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
/** The chain: its height, with a log in each block, and how its logs are answered. */
let height: number
let logs: (from: number, to: number) => Promise<object[] | 'error'>
const asked: [from: number, to: number][] = []
const seen: number[] = []

const between = (from: number, to: number): object[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => logOf(from + at))

beforeEach(async () => {
  height = 100
  asked.length = seen.length = 0
  logs = async (from, to) => between(from, to)
  const answerLogs = async (...[one, response, socket]: Parameters<Script>): Promise<void> => {
    const { params } = one.json
    const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
    asked.push([Number(fromBlock), Number(toBlock)])
    const found = await logs(Number(fromBlock), Number(toBlock))
    if (found !== 'error') return reply(found)(one, response, socket)
    raw(200, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"not now"}}')(one, response, socket)
  }
  server = await startFaultServer((...told) =>
    told[0].json.method === 'eth_getLogs' ? void answerLogs(...told) : reply(hex(height))(...told),
  )
  provider = new KeyrailProvider({ url: server.url, chainId: 1, retry: false }, { pollingInterval: 10 })
})
afterEach(async () => {
  provider.destroy()
  await server.close()
})

const polled = (): number => server.seen.filter(({ json }) => json.method === 'eth_blockNumber').length
/** Until the chain's height is known, by the subscription and by whoever looks for blocks. */
const begun = async (): Promise<void> => {
  await provider.on({ address }, ({ blockNumber }: { readonly blockNumber: number }) => void seen.push(blockNumber))
  const before = polled()
  await expect.poll(polled).toBeGreaterThan(before + 2)
}

test('each log is told once, also where blocks come faster than their logs are answered', async () => {
  await begun()
  const release: (() => void)[] = []
  logs = async (from, to) => {
    await new Promise<void>((resolve) => release.push(resolve))
    return between(from, to)
  }
  height = 103
  await expect.poll(() => asked).toEqual([[101, 101]])
  height = 105
  const before = polled()
  await expect.poll(polled).toBeGreaterThan(before + 2)
  // One range at a time.
  expect(asked).toHaveLength(1)
  logs = async (from, to) => between(from, to)
  release[0]?.()
  await expect.poll(() => seen).toEqual([101, 102, 103, 104, 105])
})

test('what could not be read is read with the next block', async () => {
  await begun()
  logs = async () => 'error'
  height = 101
  await expect.poll(() => asked).toEqual([[101, 101]])
  logs = async (from, to) => between(from, to)
  height = 102
  await expect.poll(() => seen).toEqual([101, 102])
  expect(asked).toEqual([
    [101, 101],
    [101, 102],
  ])
})

test('a log that the node comes to know after its block is told', async () => {
  await begun()
  logs = async () => []
  height = 101
  await expect.poll(() => asked).toEqual([[101, 101]])
  logs = async (from, to) => between(from, to)
  height = 102
  await expect.poll(() => seen).toEqual([101, 102])
})

test('no filter is kept in a node', async () => {
  await begun()
  height = 101
  await expect.poll(() => seen).toEqual([101])
  expect(new Set(server.seen.map(({ json }) => json.method))).toEqual(new Set(['eth_blockNumber', 'eth_getLogs']))
})

test('nothing is asked once nobody listens', async () => {
  await begun()
  await provider.off({ address })
  const blocks: number[] = []
  await provider.on('block', (block: number) => void blocks.push(block))
  const before = polled()
  await expect.poll(polled).toBeGreaterThan(before + 2)
  height = 101
  await expect.poll(() => blocks).toEqual([101])
  expect(asked).toEqual([])
})
