import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTransport } from '../../src/index.ts'
import type { Hex, SubscriptionFailure } from '../../src/index.ts'
import { contract, createChainTransport, NodeError, formatLogPosition, serveChain, getTopic } from '../reorgChain.ts'
import type { ReorgChain } from '../reorgChain.ts'
import {
  blocksLeft,
  createChain,
  logsLeft,
  play,
  step,
  subscribeBlocks,
  subscribeLogs,
  take,
  untilQuiet,
} from './followChain.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  // No subscription leaves a timer behind.
  if (vi.isFakeTimers()) expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('a subscription to logs', () => {
  test('reports the matching logs from the latest block on', async () => {
    const chain = createChain([1, 2, 3])
    const filter = { address: contract, topics: [getTopic(1)] }
    const { seen, stop } = take(subscribeLogs(createChainTransport(chain), filter))
    await vi.advanceTimersByTimeAsync(1_000)
    chain.mine([0, 4, 1])
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(logsLeft(seen)).toEqual(
      chain
        .logs(3)
        .filter(({ topics }) => topics[0] === getTopic(1))
        .map(formatLogPosition),
    )
    expect(seen).toHaveLength(3)
  })

  test('reports removed logs once, newest first, and a reorganization without logs', async () => {
    const chain = createChain([1, 2, 0])
    const { seen, stop } = take(subscribeLogs(createChainTransport(chain), { fromBlock: 0 }))
    await vi.advanceTimersByTimeAsync(1_000)
    chain.reorg(1, 2)
    await vi.advanceTimersByTimeAsync(12_000)
    expect(seen.find(({ type }) => type === 'reorg')).toMatchObject({ removed: [], ancestor: { number: '0x2' } })
    const lost = chain.logs(1).map(formatLogPosition)
    chain.reorg(4, 4)
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    const last = seen.findLast((event) => event.type === 'reorg')
    expect(last?.ancestor.number).toBe('0x0')
    expect(last?.removed.map(formatLogPosition)).toEqual(lost.toReversed())
    expect(logsLeft(seen)).toEqual(chain.logs().map(formatLogPosition))
  })

  test('costs two calls a block', async () => {
    const chain = createChain(5)
    const { stop } = take(subscribeLogs(createChainTransport(chain), { pollingIntervalMs: 12_000 }))
    await vi.advanceTimersByTimeAsync(6_000)
    chain.requests.length = 0
    for (let i = 0; i < 20; i++) {
      chain.mine(1)
      await vi.advanceTimersByTimeAsync(12_000)
    }
    await stop()
    expect(chain.requests).toHaveLength(40)
  })

  test('reads blocks far below the head in ranges, and resumes after a failure there', async () => {
    const chain = createChain(5_000)
    let calls = 0
    chain.before = (method) => {
      if (method === 'eth_getLogs' && ++calls % 5 === 2 && calls < 100)
        throw new NodeError('unavailable', { code: -32_000, message: 'busy' })
    }
    const reported: SubscriptionFailure[] = []
    const watched = subscribeLogs(createChainTransport(chain), {
      fromBlock: 3,
      onError: (failure) => reported.push(failure),
    })
    const { seen, stop } = take(watched)
    await vi.advanceTimersByTimeAsync(60_000)
    chain.mine(1)
    chain.reorg(12, 13)
    await vi.advanceTimersByTimeAsync(120_000)
    await stop()
    expect(logsLeft(seen)).toEqual(chain.logs(3).map(formatLogPosition))
    expect(reported.length).toBeGreaterThan(1)
    expect(chain.requests.length).toBeLessThan(400)
  })

  test('catches up in ranges after a long pause, also after a reorganization during the pause', async () => {
    for (const depth of [0, 10]) {
      const chain = createChain(50)
      const { seen, stop } = take(subscribeLogs(createChainTransport(chain), { fromBlock: 20 }))
      await vi.advanceTimersByTimeAsync(1_000)
      if (depth > 0) chain.reorg(depth)
      chain.mine(4_000)
      chain.requests.length = 0
      await vi.advanceTimersByTimeAsync(30_000)
      chain.reorg(12, 14)
      await vi.advanceTimersByTimeAsync(30_000)
      await stop()
      expect(logsLeft(seen)).toEqual(chain.logs(20).map(formatLogPosition))
      expect(chain.requests.length).toBeLessThan(400)
    }
  })

  test('catches up a second time from its current block, not from that of an earlier failure', async () => {
    const chain = createChain(5_000)
    chain.before = (method, [filter]) => {
      if (method !== 'eth_getLogs' || Number((filter as { fromBlock?: Hex }).fromBlock) < 500) return
      chain.before = () => {}
      throw new NodeError('network', { code: 0, message: 'reset' })
    }
    const { seen, stop } = take(subscribeLogs(createChainTransport(chain), { fromBlock: 1 }))
    await vi.advanceTimersByTimeAsync(10_000)
    chain.mine(1_000)
    await vi.advanceTimersByTimeAsync(30_000)
    await stop()
    expect(logsLeft(seen)).toEqual(chain.logs(1).map(formatLogPosition))
  })

  test('follows reorgDepth blocks back after it caught up, and no more', async () => {
    for (const depth of [64, 65]) {
      const chain = createChain(1_000)
      const { seen, over, stop } = take(subscribeLogs(createChainTransport(chain), { fromBlock: 0 }))
      await vi.advanceTimersByTimeAsync(1_000)
      expect(logsLeft(seen)).toEqual(chain.logs().map(formatLogPosition))
      chain.reorg(depth, depth + 1)
      await vi.advanceTimersByTimeAsync(12_000)
      if (depth > 64) await expect(over).rejects.toMatchObject({ kind: 'badResponse' })
      else {
        expect(logsLeft(seen)).toEqual(chain.logs().map(formatLogPosition))
        await stop()
      }
    }
  })

  test('rejects the logs of a node that does not know filters by hash', async () => {
    const chain = createChain([1, 1, 1])
    const old: ReorgChain = {
      ...chain,
      respond: (method, params) =>
        method === 'eth_getLogs' ? Promise.resolve(chain.logs(3)) : chain.respond(method, params),
    }
    const { over } = take(subscribeLogs(createChainTransport(old), { fromBlock: 1 }))
    await vi.advanceTimersByTimeAsync(1_000)
    await expect(over).rejects.toMatchObject({ kind: 'badResponse' })
  })

  test('ends with the canonical logs, each exactly once, if the chain changes between any two requests', async () => {
    let reorgs = 0
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 300 }),
        fc.option(fc.nat(45), { nil: undefined }),
        fc.boolean(),
        fc.array(step, { minLength: 20, maxLength: 800, size: 'max' }),
        async (blocks, fromBlock, one, script) => {
          const chain = createChain(blocks)
          const left = play(chain, script)
          let first: number | undefined
          const { respond } = chain
          // The latest block at the start.
          const client = createChainTransport({
            ...chain,
            respond: async (method, params) => {
              const result = await respond(method, params)
              if (params[0] === 'latest') first ??= Number((result as { number: Hex }).number)
              return result
            },
          })
          const { seen, stop } = take(
            subscribeLogs(client, {
              ...(one && { topics: [getTopic(0)] }),
              ...(fromBlock !== undefined && { fromBlock }),
            }),
          )
          await untilQuiet(left)
          await stop()
          const canonical = chain.logs(fromBlock ?? first).filter(({ topics }) => !one || topics[0] === getTopic(0))
          expect(logsLeft(seen)).toEqual(canonical.map(formatLogPosition))
          reorgs += seen.filter((event) => event.type === 'reorg' && event.removed.length > 0).length
        },
      ),
      { numRuns: 150 },
    )
    expect(reorgs).toBeGreaterThan(150)
  })

  test('does the same over HTTP', async () => {
    vi.useRealTimers()
    const chain = createChain(150)
    const script = fc.sample(fc.array(step, { minLength: 800, maxLength: 800 }), { numRuns: 1, seed: 7 })[0] ?? []
    const left = play(chain, script)
    const server = await serveChain(chain)
    const client = createTransport({ url: server.url, retry: { baseMs: 1 } })
    const logs = take(subscribeLogs(client, { fromBlock: 1, pollingIntervalMs: 10 }))
    const blocks = take(subscribeBlocks(client, { fromBlock: 1, pollingIntervalMs: 10 }))
    await vi.waitFor(() => expect(left()).toBe(0), { timeout: 60_000 })
    // A head below the reported blocks is accepted only after many seconds.
    chain.mine(20)
    await vi.waitFor(
      () => {
        expect(logsLeft(logs.seen)).toEqual(chain.logs(1).map(formatLogPosition))
        expect(blocksLeft(blocks.seen).map(({ hash }) => hash)).toEqual(chain.blocks.slice(1).map(({ hash }) => hash))
      },
      { timeout: 30_000 },
    )
    await Promise.all([logs.stop(), blocks.stop()])
    await vi.waitFor(() => expect(server.open()).toBe(0), { timeout: 30_000 })
    client.close()
    await server.close()
  }, 120_000)
})
