import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSubscription, isKeyrailError } from '../../src/index.ts'
import type { SubscriptionOptions, SubscriptionRequest } from '../../src/index.ts'
import { createChainTransport, formatLogPosition, getTopic } from '../reorgChain.ts'
import type { ReorgChain } from '../reorgChain.ts'
import { applyEvent, createChain, play, step, take, untilQuiet } from './followChain.ts'
import type { Applied } from './followChain.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  if (vi.isFakeTimers()) expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** Applies up to `most` events, and returns the cursor after them. */
const run = async (
  chain: ReorgChain,
  request: Exclude<SubscriptionRequest, { pending: true }>,
  options: SubscriptionOptions,
  { most, applied = [] }: { readonly most: number; readonly applied?: Applied[] },
): Promise<string> => {
  const subscription = createSubscription(createChainTransport(chain), request, options)
  let count = 0
  const over = (async () => {
    for await (const event of subscription) {
      applyEvent(applied, event)
      if (++count >= most) return
    }
  })()
  for (let i = 0; i < 20 && count < most; i++) await vi.advanceTimersByTimeAsync(1_000)
  await subscription.return()
  await over
  return subscription.cursor()
}

describe('a cursor', () => {
  test('a chain that shrinks to its first block undoes all others', async () => {
    const chain = createChain(0)
    const applied: Applied[] = []
    const subscription = createSubscription(createChainTransport(chain), { logs: {} }, { fromBlock: 1 })
    const over = (async () => {
      for await (const event of subscription) applyEvent(applied, event)
    })()
    chain.mine(1)
    await vi.advanceTimersByTimeAsync(30_000)
    expect(applied.length).toBeGreaterThan(0)
    chain.reorg(1, 0)
    await vi.advanceTimersByTimeAsync(120_000)
    expect(applied).toEqual([])
    await subscription.return()
    await over
  })

  test('continues after the last event, also between two logs of a block', async () => {
    const chain = createChain([3, 0, 2, 1])
    const applied: Applied[] = []
    let cursor: string | undefined
    for (let i = 0; i < 6; i++) cursor = await run(chain, { logs: {} }, { fromBlock: 0, cursor }, { applied, most: 1 })
    expect(applied.map(({ place }) => place)).toEqual(chain.logs().map(formatLogPosition))
  })

  test('undoes the block whose logs were partly reported, if it was replaced', async () => {
    const chain = createChain([1, 3])
    const cursor = await run(chain, { logs: {} }, { fromBlock: 1 }, { most: 3 })
    chain.reorg(1)
    chain.mine([1])
    const { seen, stop } = take(createSubscription(createChainTransport(chain), { logs: {} }, { cursor }))
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(seen[0]).toEqual({ type: 'reorg', ancestor: { number: '0x1', hash: chain.blocks[1]?.hash }, removed: [] })
    expect(seen.slice(1).map((event) => (event.type === 'log' ? formatLogPosition(event.log) : event.type))).toEqual(
      chain.logs(2).map(formatLogPosition),
    )
  })

  test('finds the newest common block after a reorganization while nobody subscribed', async () => {
    const chain = createChain(50)
    const cursor = await run(chain, { blocks: true }, { fromBlock: 1 }, { most: 50 })
    chain.reorg(20, 30)
    chain.requests.length = 0
    const { seen, stop } = take(createSubscription(createChainTransport(chain), { blocks: true }, { cursor }))
    await vi.advanceTimersByTimeAsync(12_000)
    await stop()
    expect(seen[0]).toEqual({ type: 'reorg', ancestor: { number: '0x1e', hash: chain.blocks[30]?.hash }, removed: [] })
    expect(seen).toHaveLength(31)
  })

  test('contains at most 128 hashes, and is valid before the first event', async () => {
    const chain = createChain(300)
    const options = { fromBlock: 1, reorgDepth: 200 }
    const { blocks } = JSON.parse(await run(chain, { blocks: true }, options, { most: 300 })) as { blocks: unknown[] }
    expect(blocks).toHaveLength(128)
    expect(blocks[0]).toEqual([300, chain.head().hash])
    const subscription = createSubscription(createChainTransport(chain), { blocks: true }, { fromBlock: 7 })
    const applied: Applied[] = []
    await run(chain, { blocks: true }, { cursor: subscription.cursor() }, { applied, most: 1 })
    expect(applied[0]?.number).toBe(7)
    await subscription.return()
  })

  test.each([
    5,
    '',
    '{}',
    '[]',
    'null',
    '{"complete":true,"blocks":[[1]]}',
    '{"complete":true,"blocks":[[1,"0x12"]]}',
    '{"complete":true,"blocks":[],"partial":[1,"0x12",3]}',
    '{"complete":true,"first":-1,"blocks":[]}',
    `{"complete":true,"blocks":[[1,"0x${'12'.repeat(32)}"],[2,"0x${'12'.repeat(32)}"]]}`,
  ])('is rejected if cursor() did not return it: %j', (cursor) => {
    let caught: unknown
    try {
      createSubscription(createChainTransport(createChain(1)), { blocks: true }, { cursor: cursor as string })
    } catch (error) {
      caught = error
    }
    expect(isKeyrailError(caught, 'invalidRequest')).toBe(true)
    expect(String(caught)).toContain('cursor must be text that cursor() of a subscription returned')
  })

  test.each(['blocks', 'logs'] as const)(
    'yields the canonical %s, each once, over any number of restarts',
    async (kind) => {
      let reorgs = 0
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 0, max: 300 }),
          fc.nat(45),
          fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 20 }),
          fc.array(step, { minLength: 20, maxLength: 800, size: 'max' }),
          async (blocks, fromBlock, stops, script) => {
            const chain = createChain(blocks)
            const left = play(chain, script)
            const request = kind === 'blocks' ? ({ blocks: true } as const) : { logs: { topics: [getTopic(0)] } }
            const applied: Applied[] = []
            let cursor: string | undefined
            for (const most of stops) {
              cursor = await run(chain, request, { fromBlock, cursor }, { applied, most })
              if (most % 3 === 0) chain.reorg(most % 7, (most % 7) + 1)
            }
            const subscription = createSubscription(createChainTransport(chain), request, { fromBlock, cursor })
            const over = (async () => {
              for await (const event of subscription) {
                if (event.type === 'reorg') reorgs++
                applyEvent(applied, event)
              }
            })()
            await untilQuiet(left)
            await subscription.return()
            await over
            const canonical =
              kind === 'blocks'
                ? chain.blocks.slice(fromBlock).map(({ hash }) => hash)
                : chain
                    .logs(fromBlock)
                    .filter(({ topics }) => topics[0] === getTopic(0))
                    .map(formatLogPosition)
            expect(applied.map(({ place }) => place)).toEqual(canonical)
          },
        ),
        { numRuns: 150 },
      )
      expect(reorgs).toBeGreaterThan(50)
    },
  )
})
