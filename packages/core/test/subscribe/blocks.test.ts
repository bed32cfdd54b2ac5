import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSubscription } from '../../src/index.ts'
import { createChainTransport } from '../reorgChain.ts'
import type { ReorgChain } from '../reorgChain.ts'
import { wireBlock } from '../wire.ts'
import { blocksLeft, createChain, play, step, subscribeBlocks, take, untilQuiet } from './followChain.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  // No subscription leaves a timer behind.
  if (vi.isFakeTimers()) expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('a subscription to blocks', () => {
  test('reports the latest block first, then each new one', async () => {
    const chain = createChain(10)
    const { seen, stop } = take(subscribeBlocks(createChainTransport(chain)))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen).toHaveLength(1)
    chain.mine(1)
    await vi.advanceTimersByTimeAsync(12_000)
    chain.mine(2)
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(blocksLeft(seen)).toEqual(chain.blocks.slice(10).map(({ number, hash }) => ({ number, hash })))
    expect(seen[0]).toMatchObject({ type: 'block', header: { number: '0xa' } })
  })

  test('fills the gap from a block in the past, and waits for one in the future', async () => {
    const chain = createChain(300)
    const past = take(subscribeBlocks(createChainTransport(chain), { fromBlock: 5 }))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(blocksLeft(past.seen)).toHaveLength(296)
    const future = take(subscribeBlocks(createChainTransport(chain), { fromBlock: 303n }))
    await vi.advanceTimersByTimeAsync(10_000)
    expect(future.seen).toEqual([])
    chain.mine(5)
    await vi.advanceTimersByTimeAsync(12_000)
    expect(blocksLeft(future.seen).map(({ number }) => number)).toEqual([303, 304, 305])
    const finalized = take(subscribeBlocks(createChainTransport(chain), { fromBlock: 'finalized' }))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(blocksLeft(finalized.seen)[0]?.number).toBe(273)
    await Promise.all([past.stop(), future.stop(), finalized.stop()])
  })

  test.each(['hashes', 'full'] as const)(
    'reports whole blocks with transactions: %s, for one call each',
    async (transactions) => {
      const chain = createChain(1)
      const subscription = createSubscription(
        createChainTransport(chain),
        { blocks: { transactions } },
        { fromBlock: 'latest' },
      )
      const { value } = await subscription.next()
      await subscription.return()
      expect(value).toMatchObject({
        type: 'block',
        header: { number: '0x1' },
        block: { number: '0x1', transactions: [] },
      })
      expect(chain.requests).toEqual([{ method: 'eth_getBlockByNumber', params: ['latest', transactions === 'full'] }])
    },
  )

  test('reports headers without the members that newHeads does not send', async () => {
    const subscription = subscribeBlocks(createChainTransport(createChain(1)))
    const { value } = await subscription.next()
    await subscription.return()
    const { transactions: _, size: __, uncles: ___, ...header } = wireBlock
    expect(Object.keys(Object(value).header).sort()).toEqual(Object.keys(header).sort())
  })

  test('starts after the head without fromBlock, also if the head is replaced before anything was reported', async () => {
    const chain = createChain(10)
    const { seen, stop } = take(createSubscription(createChainTransport(chain), { blocks: true }))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen).toEqual([])
    chain.reorg(3, 4)
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(seen.map(({ type }) => type)).toEqual(['block'])
    expect(blocksLeft(seen)).toEqual(chain.blocks.slice(11).map(({ number, hash }) => ({ number, hash })))
  })

  test('is not misled by one node that still has the old branch, while it fills a gap', async () => {
    const chain = createChain(30)
    const old = chain.blocks[27]?.hash
    chain.reorg(5, 6)
    let replaced = false
    const balanced: ReorgChain = {
      ...chain,
      respond: (method, params) => {
        if (replaced || params[0] !== '0x1b') return chain.respond(method, params)
        replaced = true
        return chain.respond('eth_getBlockByHash', [old])
      },
    }
    const { seen, stop } = take(subscribeBlocks(createChainTransport(balanced), { fromBlock: 24 }))
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(replaced).toBe(true)
    expect(seen.map(({ type }) => type)).toEqual(Array.from({ length: 8 }, () => 'block'))
    expect(blocksLeft(seen)).toHaveLength(8)
  })

  test('reports removed blocks newest first, then the ones that replace them', async () => {
    const chain = createChain(10)
    const { seen, stop } = take(subscribeBlocks(createChainTransport(chain), { fromBlock: 8 }))
    await vi.advanceTimersByTimeAsync(1_000)
    const [, lost9, lost10] = chain.blocks.slice(8)
    chain.reorg(2, 3)
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(
      seen.slice(3).map((event) => (event.type === 'block' ? Number(event.header.number) : event.removed)),
    ).toEqual([
      [expect.objectContaining({ hash: lost10?.hash }), expect.objectContaining({ hash: lost9?.hash })],
      9,
      10,
      11,
    ])
  })

  test('follows a reorganization to below its first block, and one to a chain that stays shorter', async () => {
    const chain = createChain(20)
    const { seen, stop } = take(subscribeBlocks(createChainTransport(chain)))
    await vi.advanceTimersByTimeAsync(1_000)
    chain.reorg(5, 6)
    await vi.advanceTimersByTimeAsync(12_000)
    expect(blocksLeft(seen)).toEqual(chain.blocks.slice(20).map(({ number, hash }) => ({ number, hash })))
    chain.mine(10)
    await vi.advanceTimersByTimeAsync(12_000)
    chain.reorg(3, 0)
    await vi.advanceTimersByTimeAsync(120_000)
    await stop()
    expect(blocksLeft(seen)).toEqual(chain.blocks.slice(20).map(({ number, hash }) => ({ number, hash })))
  })

  test('does not mistake a lagging node for a reorganization', async () => {
    const chain = createChain(30)
    let turn = 0
    // A balancer in front of three nodes, one of which is three blocks behind.
    const balanced: ReorgChain = {
      ...chain,
      respond: async (method, params) => {
        const head = chain.blocks.length - 1 - (turn++ % 3 === 0 ? 3 : 0)
        const [block, ...rest] = params
        if (block === 'latest') return chain.respond(method, [`0x${head.toString(16)}`, ...rest])
        return Number(block) > head && String(block).length < 60 ? null : chain.respond(method, params)
      },
    }
    const { seen, stop } = take(subscribeBlocks(createChainTransport(balanced), { fromBlock: 20 }))
    for (let i = 0; i < 40; i++) {
      chain.mine(1)
      await vi.advanceTimersByTimeAsync(12_000)
    }
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(seen.filter(({ type }) => type === 'reorg')).toEqual([])
    expect(blocksLeft(seen)).toHaveLength(51)
  })

  test('rejects blocks that were not requested, however many a node sends', async () => {
    for (const method of ['eth_getBlockByHash', 'eth_getBlockByNumber']) {
      const chain = createChain(30)
      const stubborn: ReorgChain = {
        ...chain,
        respond: (called, params) =>
          called === method && params[0] !== 'latest'
            ? chain.respond('eth_getBlockByHash', [chain.blocks[12]?.hash])
            : chain.respond(called, params),
      }
      const { over } = take(subscribeBlocks(createChainTransport(stubborn), { fromBlock: 28 }))
      await vi.advanceTimersByTimeAsync(1_000)
      chain.reorg(2, 3)
      await vi.advanceTimersByTimeAsync(12_000)
      await expect(over).rejects.toMatchObject({ kind: 'badResponse' })
    }
  })

  test('does not mistake a lagging node for a shorter chain at a short interval either', async () => {
    const chain = createChain(30)
    const { respond } = chain
    let lag = 0
    const lagging: ReorgChain = {
      ...chain,
      respond: (method, [block, ...rest]) =>
        respond(method, [block === 'latest' ? `0x${(chain.head().number - lag).toString(16)}` : block, ...rest]),
    }
    const { seen, stop } = take(
      subscribeBlocks(createChainTransport(lagging), { fromBlock: 20, pollingIntervalMs: 10 }),
    )
    await vi.advanceTimersByTimeAsync(1_000)
    lag = 2
    // The chain makes a block every 12 s.
    await vi.advanceTimersByTimeAsync(20_000)
    expect(blocksLeft(seen)).toHaveLength(11)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(blocksLeft(seen)).toHaveLength(9)
    lag = 0
    await vi.advanceTimersByTimeAsync(1_000)
    await stop()
    expect(blocksLeft(seen)).toHaveLength(11)
  })

  test('follows reorgDepth blocks back and no more', async () => {
    const chain = createChain(30)
    const { seen, over } = take(subscribeBlocks(createChainTransport(chain), { fromBlock: 1, reorgDepth: 5 }))
    await vi.advanceTimersByTimeAsync(1_000)
    chain.reorg(5, 6)
    await vi.advanceTimersByTimeAsync(12_000)
    expect(blocksLeft(seen).map(({ hash }) => hash)).toEqual(chain.blocks.slice(1).map(({ hash }) => hash))
    chain.reorg(6, 7)
    await vi.advanceTimersByTimeAsync(12_000)
    await expect(over).rejects.toMatchObject({ kind: 'badResponse', retryable: false })
    await expect(over).rejects.toThrow('reorgDepth (5 blocks)')
  })

  /** Block 2 is gone when it is requested, and its child is not. */
  const removedWhenRequested = [
    ...Array.from({ length: 3 }, () => ({ depth: 0, blocks: 1 })),
    { depth: 2, blocks: 0 },
    ...[0, 0, 5, ...Array<number>(17).fill(0)].map((blocks) => ({ depth: 0, blocks })),
  ]

  test('ends as the canonical chain if it changes between any two requests', async () => {
    let reorgs = 0
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 40 }),
        fc.option(fc.nat(45), { nil: undefined }),
        fc.array(step, { minLength: 20, maxLength: 800, size: 'max' }),
        async (blocks, fromBlock, script) => {
          const chain = createChain(blocks)
          const left = play(chain, script)
          const { seen, stop } = take(
            subscribeBlocks(createChainTransport(chain), { ...(fromBlock !== undefined && { fromBlock }) }),
          )
          await untilQuiet(left)
          await stop()
          const first = fromBlock ?? (seen[0]?.type === 'block' ? Number(seen[0].header.number) : Infinity)
          expect(blocksLeft(seen)).toEqual(chain.blocks.slice(first).map(({ number, hash }) => ({ number, hash })))
          reorgs += seen.filter(({ type }) => type === 'reorg').length
        },
      ),
      { numRuns: 150, examples: [[0, 2, removedWhenRequested]] },
    )
    expect(reorgs).toBeGreaterThan(400)
  })
})
