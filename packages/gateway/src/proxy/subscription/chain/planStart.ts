import type { ChainCursor, ChainStart } from '../followedChain.ts'
import { maxDepth } from './createChainRing.ts'
import type { ChainRing } from './createChainRing.ts'
import type { ChainBlock } from './parseBlock.ts'

/**
 * The step before a subscription can start. `follow`: the follower has no block yet, or not the client's newest one. `loadBelow`: so
 * many blocks below the ring are needed. `loadLogs`: these blocks need logs; it starts above a block that must stay. `start`: nothing.
 */
export type StartPlan =
  | { readonly type: 'start'; readonly start: ChainStart }
  | { readonly type: 'tooOld' }
  | { readonly type: 'follow' }
  | { readonly type: 'loadBelow'; readonly count: number }
  | { readonly type: 'loadLogs'; readonly above: number; readonly blocks: readonly ChainBlock[] }

/** How a subscription wants to start. */
export interface StartOptions {
  readonly cursor: ChainCursor | undefined
  readonly logs: boolean
  /** Whether to wait if the client is ahead of the ring: this process may only have seen less of the chain. */
  readonly mayFollow: boolean
}

/** How many blocks, and the logs of how many blocks, are read at the same time. */
const blocksAtOnce = 32
const logsAtOnce = 8

/** Plans the next step to the start of a subscription, as the ring is now. */
export const planStart = (ring: ChainRing, { cursor, logs, mayFollow }: StartOptions): StartPlan => {
  const newest = ring.newest()
  const oldest = ring.oldest()
  if (newest === undefined || oldest === undefined) return { type: 'follow' }
  if (cursor === undefined) return { type: 'start', start: { position: toPosition(newest), blocks: [] } }
  if (mayFollow && cursor.number > newest.number) return { type: 'follow' }
  const lowest = Math.max(newest.number - maxDepth, 0)
  if (cursor.number < lowest) return { type: 'tooOld' }
  const common = findNewest(ring, cursor.hashes)
  if (common === undefined) {
    const count = Math.min(oldest.number - lowest, blocksAtOnce)
    return count > 0 ? { type: 'loadBelow', count } : { type: 'tooOld' }
  }
  const blocks = ring.above(common.number)
  const withoutLogs = logs ? blocks.filter((block) => block.logs === undefined) : []
  if (withoutLogs.length > 0)
    return { type: 'loadLogs', above: common.number, blocks: withoutLogs.slice(0, logsAtOnce) }
  return { type: 'start', start: { position: toPosition(common), blocks } }
}

const toPosition = ({ number, hash }: ChainBlock): ChainStart['position'] => ({ number, hash })

/** Finds the newest block that is in the ring and has one of these hashes, which are newest first. */
const findNewest = (ring: ChainRing, hashes: readonly string[]): ChainBlock | undefined => {
  for (const hash of hashes) {
    const block = ring.find(hash)
    if (block !== undefined) return block
  }
  return undefined
}
