import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSubscription } from '../../src/index.ts'
import { formatLogPosition, getTopic } from '../reorgChain.ts'
import { createFakeService } from './fakeService.ts'
import type { Fault } from './fakeService.ts'
import { applyEvent, createChain } from './followChain.ts'
import type { Applied } from './followChain.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  if (vi.isFakeTimers()) expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** Long enough for handlers and generators, too short for a poll. */
const turn = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1)

describe('failures of a connection', () => {
  const change = fc.oneof(
    { weight: 6, arbitrary: fc.record({ depth: fc.constant(0), blocks: fc.integer({ min: 0, max: 4 }) }) },
    { weight: 1, arbitrary: fc.record({ depth: fc.constant(0), blocks: fc.integer({ min: 20, max: 200 }) }) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: -3, max: 2 }))
        .map(([depth, more]) => ({ depth, blocks: Math.max(depth + more, 0) })),
    },
  )
  const cases: readonly (readonly [string, 'blocks' | 'logs', 'known' | 'rejected' | 'ignored', readonly Fault[]])[] = [
    ['blocks', 'blocks', 'known', ['cut', 'drop', 'duplicate', 'swap']],
    ['logs', 'logs', 'known', ['cut', 'duplicate']],
    ['blocks of another server', 'blocks', 'rejected', ['cut', 'drop', 'duplicate', 'swap']],
    ['logs of another server', 'logs', 'ignored', ['cut', 'drop', 'duplicate', 'swap']],
  ]

  test.each(cases)(
    'yields the canonical %s, each once, over any number of restarts',
    async (_, kind, cursors, faults) => {
      let reorgs = 0
      let resumed = 0
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 0, max: 200 }),
          fc.option(fc.nat(45), { nil: undefined }),
          fc.array(fc.tuple(change, fc.nat(1_500), fc.nat(9)), { minLength: 20, maxLength: 60 }),
          fc.array(fc.oneof({ weight: 20, arbitrary: fc.constant('none' as const) }, fc.constantFrom(...faults)), {
            minLength: 1_000,
            maxLength: 1_000,
          }),
          async (blocks, fromBlock, changes, script) => {
            const chain = createChain(blocks)
            const service = createFakeService(chain, cursors)
            const request = kind === 'blocks' ? ({ blocks: true } as const) : { logs: { topics: [getTopic(0)] } }
            const applied: Applied[] = []
            const start = (cursor?: string) => {
              // Many reorganizations between two polls add up to a deep one.
              const subscription = createSubscription(service.transport, request, {
                fromBlock,
                cursor,
                reorgDepth: 256,
              })
              const over = (async () => {
                for await (const event of subscription) {
                  if (event.type === 'reorg') reorgs++
                  applyEvent(applied, event)
                }
              })()
              const stop = async (): Promise<string> => {
                await subscription.return()
                await over
                return subscription.cursor()
              }
              return { stop }
            }
            let running = start()
            await turn()
            let sent = 0
            for (const [{ depth, blocks: mined }, ms, restart] of changes) {
              if (depth > 0) chain.reorg(depth, mined)
              else chain.mine(mined)
              service.send(() => script[sent++] ?? 'none')
              await vi.advanceTimersByTimeAsync(ms)
              if (restart === 0) running = start(await running.stop())
            }
            await vi.advanceTimersByTimeAsync(60_000)
            chain.mine(20)
            service.send()
            await vi.advanceTimersByTimeAsync(240_000)
            resumed += service.subscribed.length - 1
            await running.stop()
            const first = fromBlock ?? blocks + 1
            expect(applied.map(({ place }) => place)).toEqual(
              kind === 'blocks'
                ? chain.blocks.slice(first).map(({ hash }) => hash)
                : chain
                    .logs(first)
                    .filter(({ topics }) => topics[0] === getTopic(0))
                    .map(formatLogPosition),
            )
          },
        ),
        { numRuns: 100 },
      )
      expect(reorgs).toBeGreaterThan(100)
      expect(resumed).toBeGreaterThan(50)
    },
  )
})
