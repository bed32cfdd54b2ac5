import fc from 'fast-check'
import { expect, vi } from 'vitest'
import { createSubscription } from '../../src/index.ts'
import type { Hex, Subscription, SubscriptionEvent, SubscriptionOptions, Transport } from '../../src/index.ts'
import type { LogFilterFields } from '../../src/schema/index.ts'
import { createReorgChain, NodeError, formatLogPosition } from '../reorgChain.ts'
import type { ReorgChain } from '../reorgChain.ts'

export type BlockStreamEvent = SubscriptionEvent<{ readonly blocks: true }>
export type LogStreamEvent = SubscriptionEvent<{ readonly logs: LogFilterFields }>

/** Subscribes to blocks, from the head on. */
export const subscribeBlocks = (
  transport: Transport,
  options: SubscriptionOptions = {},
): Subscription<BlockStreamEvent> =>
  createSubscription(transport, { blocks: true }, { fromBlock: 'latest', ...options })

/** Subscribes to logs, from the head on. */
export const subscribeLogs = (
  transport: Transport,
  { address, topics, ...options }: LogFilterFields & SubscriptionOptions = {},
): Subscription<LogStreamEvent> =>
  createSubscription(transport, { logs: { address, topics } }, { fromBlock: 'latest', ...options })

/** Creates a chain of this many blocks above block 0, or of blocks with these numbers of logs. */
export const createChain = (blocks: number | readonly number[]): ReorgChain => {
  const chain = createReorgChain()
  chain.mine(blocks)
  return chain
}

/** Takes events as they come, until it is ended or fails. */
export const take = <E>(
  events: AsyncGenerator<E, void, undefined>,
): { seen: E[]; over: Promise<void>; stop: () => Promise<void> } => {
  const seen: E[] = []
  const over = (async () => {
    for await (const event of events) seen.push(event)
  })()
  over.catch(() => {})
  return {
    seen,
    over,
    stop: async () => {
      await events.return()
      await over
    },
  }
}

/** The blocks reported and not removed. Fails if they do not form a chain at any time. */
export const blocksLeft = (events: readonly BlockStreamEvent[]): { number: number; hash: Hex }[] => {
  const left: { number: number; hash: Hex }[] = []
  for (const event of events) {
    if (event.type === 'block') {
      const { number, hash, parentHash } = event.header
      const below = left.at(-1)
      if (below) expect([Number(number), parentHash]).toEqual([below.number + 1, below.hash])
      left.push({ number: Number(number), hash })
    } else {
      for (const { number, hash } of event.removed) expect(left.pop()).toEqual({ number: Number(number), hash })
      const { number, hash } = event.ancestor
      if (left.length > 0) expect(left.at(-1)).toEqual({ number: Number(number), hash })
    }
  }
  return left
}

/** The logs reported and not removed. Fails if a removed log was not the last one. */
export const logsLeft = (events: readonly LogStreamEvent[]): string[] => {
  const left: string[] = []
  let lowest = 0
  for (const event of events) {
    if (event.type === 'log') {
      expect(Number(event.log.blockNumber)).toBeGreaterThanOrEqual(lowest)
      lowest = Number(event.log.blockNumber)
      expect(event.log.removed).toBe(false)
      left.push(formatLogPosition(event.log))
    } else {
      lowest = Number(event.ancestor.number) + 1
      for (const log of event.removed) {
        expect(log.removed).toBe(true)
        expect(Number(log.blockNumber)).toBeGreaterThanOrEqual(lowest)
        expect(left.pop()).toBe(formatLogPosition(log))
      }
    }
  }
  return left
}

/** A change of the chain, and how the call that it precedes fails. */
export interface Step {
  readonly depth: number
  readonly blocks: number
  readonly fails?: 'throttled' | 'network' | 'unavailable' | 'lagging' | undefined
}
/** Responses over HTTP with which a client fails in the same way. */
const wordings = {
  throttled: { status: 429, code: 429, message: 'too many requests', retryAfterMs: 5 },
  network: { status: 502, code: -32_000, message: 'bad gateway' },
  unavailable: { status: 503, code: -32_000, message: 'service unavailable' },
  lagging: { status: 200, code: -32_000, message: 'header not found' },
}

/** A change between two requests: mostly none, so that the subscription reaches the head, where reorganizations matter. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 300, arbitrary: fc.constant<Step>({ depth: 0, blocks: 0 }) },
  { weight: 8, arbitrary: fc.record({ depth: fc.constant(0), blocks: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ depth: fc.constant(0), blocks: fc.integer({ min: 5, max: 40 }) }) },
  {
    weight: 10,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: -3, max: 2 }))
      .map(([depth, more]) => ({ depth, blocks: Math.max(depth + more, 0) })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      depth: fc.constant(0),
      blocks: fc.integer({ min: 0, max: 1 }),
      fails: fc.constantFrom('throttled', 'network', 'unavailable', 'lagging'),
    }),
  },
)

/** Changes the chain before and after each response. Returns how many changes are left. */
export const play = (chain: ReorgChain, script: readonly Step[]): (() => number) => {
  const steps = [...script]
  const next = (): Step['fails'] => {
    const { depth, blocks, fails } = steps.shift() ?? { depth: 0, blocks: 0 }
    if (depth > 0) chain.reorg(depth, blocks)
    else chain.mine(blocks)
    return fails
  }
  chain.before = () => {
    const fails = next()
    if (fails) throw new NodeError(fails, wordings[fails])
  }
  chain.after = () => void next()
  return () => steps.length
}

/** Advances the clock until the chain no longer changes and everything must have been reported. */
export const untilQuiet = async (left: () => number): Promise<void> => {
  for (let i = 0; i < 1_000 && left() > 0; i++) await vi.advanceTimersByTimeAsync(2_000)
  expect(left()).toBe(0)
  await vi.advanceTimersByTimeAsync(240_000)
}

/** A program's record of a block or a log. */
export interface Applied {
  readonly number: number
  readonly place: string
}

/** Applies an event as a program does that stores its results: it undoes what it has above the ancestor. */
export const applyEvent = (applied: Applied[], event: BlockStreamEvent | LogStreamEvent): void => {
  if (event.type === 'block') applied.push({ number: Number(event.header.number), place: event.header.hash })
  else if (event.type === 'log')
    applied.push({ number: Number(event.log.blockNumber), place: formatLogPosition(event.log) })
  else while (applied.length > 0 && (applied.at(-1) as Applied).number > Number(event.ancestor.number)) applied.pop()
}
