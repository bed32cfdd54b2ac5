import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { addNullRounds, toRound } from '../nullRounds.ts'
import type { NullRoundResponse } from '../nullRounds.ts'
import { mostMissing } from '../../src/subscribe/followSteps.ts'
import { createChainTransport } from '../reorgChain.ts'
import type { Subscription, Transport } from '../../src/index.ts'
import { createChain, subscribeBlocks, subscribeLogs, take } from './followChain.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** The numbers of the blocks at the first indexes. */
const rounds = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => toRound(from + at))

describe.each<NullRoundResponse>(['an error', 'null'])(
  'a chain that skips numbers, as Filecoin does, and responds with %s to a request for one',
  (response) => {
    test('is followed by the hashes of parents: blocks', async () => {
      const chain = createChain(3)
      const transport = createChainTransport(addNullRounds(chain, response))
      const { seen, stop } = take(subscribeBlocks(transport))
      await vi.advanceTimersByTimeAsync(1_000)
      chain.mine(6)
      await vi.advanceTimersByTimeAsync(30_000)
      expect(seen.map((event) => event.type === 'block' && Number(event.header.number))).toEqual(rounds(3, 9))
      await stop()
    })

    test('is followed over a reorganization across a gap', async () => {
      const chain = createChain(3)
      const { seen, stop } = take(subscribeBlocks(createChainTransport(addNullRounds(chain, response))))
      await vi.advanceTimersByTimeAsync(1_000)
      chain.mine(2)
      await vi.advanceTimersByTimeAsync(30_000)
      chain.reorg(2, 3)
      await vi.advanceTimersByTimeAsync(60_000)
      const reorg = seen.find((event) => event.type === 'reorg')
      expect(reorg).toMatchObject({ ancestor: { number: '0x3', hash: chain.blocks[3]?.hash } })
      const last = seen.slice(-3).map((event) => event.type === 'block' && event.header.hash)
      expect(last).toEqual(chain.blocks.slice(4).map(({ hash }) => hash))
      await stop()
    })

    test('is followed from a number without a block, and from a cursor before one', async () => {
      const chain = createChain(9)
      const transport = createChainTransport(addNullRounds(chain, response))
      const fromGap = take(subscribeBlocks(transport, { fromBlock: 4 }))
      await vi.advanceTimersByTimeAsync(10_000)
      expect(fromGap.seen.map((event) => event.type === 'block' && Number(event.header.number))).toEqual(rounds(4, 9))
      await fromGap.stop()
      const first = subscribeBlocks(transport, { fromBlock: 3 })
      const [{ value }] = await Promise.all([first.next(), vi.advanceTimersByTimeAsync(1_000)])
      expect(value).toMatchObject({ header: { number: '0x3' } })
      const cursor = first.cursor()
      await first.return()
      const resumed = take(subscribeBlocks(transport, { cursor, fromBlock: undefined }))
      await vi.advanceTimersByTimeAsync(10_000)
      expect(resumed.seen.map((event) => event.type === 'block' && Number(event.header.number))).toEqual(rounds(4, 9))
      await resumed.stop()
    })

    test('has all its logs, also far below the head', async () => {
      const chain = createChain(Array.from({ length: 300 }, () => 1))
      const transport = createChainTransport(addNullRounds(chain, response))
      const { seen, stop } = take(subscribeLogs(transport, { fromBlock: 4 }))
      await vi.advanceTimersByTimeAsync(60_000)
      const numbers = seen.map((event) => event.type === 'log' && Number(event.log.blockNumber))
      expect(numbers).toEqual(rounds(4, 300))
      await stop()
    })
  },
)

describe.each<readonly [string, (transport: Transport, onError: () => void) => Subscription<unknown>]>([
  ['blocks', (transport, onError) => subscribeBlocks(transport, { onError })],
  ['logs', (transport, onError) => subscribeLogs(transport, { onError })],
  ['blocks from a number', (transport, onError) => subscribeBlocks(transport, { fromBlock: 3, onError })],
  ['logs from a number', (transport, onError) => subscribeLogs(transport, { fromBlock: 3, onError })],
])('a node whose head is 20 million blocks above its other blocks, and a subscription to %s', (_, subscribe) => {
  test('reports the failure and waits, after few requests', async () => {
    const chain = createChain([1, 1, 1])
    const { respond } = chain
    let isWrong = false
    let reads = 0
    const wrong = {
      ...chain,
      respond: async (method: string, params: readonly unknown[]) => {
        if (!isWrong || method !== 'eth_getBlockByNumber') return respond(method, params)
        reads++
        const hash = `0x${'fe'.repeat(32)}`
        const head = {
          ...Object(await respond(method, ['latest', false])),
          number: '0x1312d00',
          hash,
          parentHash: hash,
        }
        return params[0] === 'latest' ? head : null
      },
    }
    let failures = 0
    const { stop } = take(subscribe(createChainTransport(wrong), () => failures++))
    await vi.advanceTimersByTimeAsync(1_000)
    isWrong = true
    await vi.advanceTimersByTimeAsync(20_000)
    expect(failures).toBeGreaterThan(1)
    expect(reads).toBeLessThan(failures * (mostMissing + 12))
    await stop()
  })
})

test('a node that does not have a block yet is not taken for a chain without that block', async () => {
  const chain = createChain(3)
  const { respond } = chain
  let isBehind = true
  const lagging = {
    ...chain,
    respond: async (method: string, params: readonly unknown[]) =>
      isBehind && (params[0] === '0x4' || params[0] === chain.blocks[4]?.hash) ? null : respond(method, params),
  }
  const { seen, stop } = take(subscribeBlocks(createChainTransport(lagging)))
  await vi.advanceTimersByTimeAsync(1_000)
  chain.mine(3)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(seen).toHaveLength(1)
  isBehind = false
  await vi.advanceTimersByTimeAsync(60_000)
  expect(seen.map((event) => event.type === 'block' && Number(event.header.number))).toEqual([3, 4, 5, 6])
  await stop()
})

test('a block that a node has only by its hash is followed', async () => {
  const chain = createChain(3)
  const { respond } = chain
  const lagging = {
    ...chain,
    respond: async (method: string, params: readonly unknown[]) =>
      params[0] === '0x4' ? null : respond(method, params),
  }
  const { seen, stop } = take(subscribeBlocks(createChainTransport(lagging)))
  await vi.advanceTimersByTimeAsync(1_000)
  chain.mine(3)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(seen.map((event) => event.type === 'block' && Number(event.header.number))).toEqual([3, 4, 5, 6])
  await stop()
})
