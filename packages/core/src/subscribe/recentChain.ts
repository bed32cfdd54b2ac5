import type { RpcBlock, RpcBlockHeader } from '../schema/block.ts'
import type { Hash } from '../schema/hex.ts'
import type { RpcLog } from '../schema/log.ts'
import type { HeaderEvent, LogEvent } from './subscription.ts'

/** An event of a block: the block, or one of its logs. */
export type ChainEvent = (HeaderEvent & { readonly block?: RpcBlock }) | LogEvent

/** A reported header or log. */
export type Reported = RpcBlockHeader | RpcLog

/** A block up to which everything was reported. */
export interface RecentBlock {
  readonly number: number
  readonly hash: Hash
  /** In seconds since 1970. Unknown if only the position of the block was received. */
  readonly timestamp?: number | undefined
  /** Its reported items, oldest first. Unknown, and empty here, if an earlier process reported them. */
  readonly reported: readonly Reported[]
}

/** The block of which some logs were reported, and others not yet. */
export interface PartialBlock {
  readonly number: number
  readonly hash: Hash
  /** The index of the last log that was reported. */
  readonly logIndex: number
  readonly reported: readonly Reported[]
}

/** The contents of a cursor. */
export interface ChainState {
  first?: number | undefined
  complete: boolean
  /** Oldest first. */
  blocks: RecentBlock[]
  partial?: PartialBlock | undefined
}

/** The newest blocks that a subscription has reported, and its position. */
export interface RecentChain {
  /** The first block that may be reported, once it is known. */
  first: number | undefined
  /** Whether `blocks` reaches down to `first`, so that a branch may replace all of it. */
  complete: boolean
  /** Oldest first. Without gaps if blocks are polled; a socket that sends logs skips blocks without any. */
  readonly blocks: readonly RecentBlock[]
  /** Set while the logs of a block are being reported. */
  partial: PartialBlock | undefined
  readonly newest: () => RecentBlock | undefined
  /** The next block, once it is known. */
  readonly next: () => number | undefined
  /** Adds a block of which everything was reported. */
  readonly extend: (block: RecentBlock) => void
  /**
   * Removes the blocks above an index of `blocks`, -1 for all of them.
   * @returns What was reported of them, newest first, logs with `removed: true`.
   */
  readonly rewind: (index: number) => Reported[]
  /** Forgets the blocks, because everything below this number is final and was reported. */
  readonly restart: (first: number) => void
  /** Returns the position as JSON text. */
  readonly toCursor: () => string
}

/** How many hashes a cursor contains at most. Keyrail's service finds its place by the last 128 blocks. */
const mostCursorBlocks = 128

/**
 * Creates the state of a subscription: enough recent blocks to find where a branch starts, and to list what it replaces.
 *
 * @param reorgDepth - How many blocks a branch may replace.
 * @param state - Where to continue.
 */
export function createRecentChain(reorgDepth: number, state: ChainState): RecentChain {
  const { blocks } = state
  const chain: RecentChain = {
    first: state.first,
    complete: state.complete,
    blocks,
    partial: state.partial,
    newest: () => blocks.at(-1),
    next: () => {
      const newest = blocks.at(-1)
      return newest ? newest.number + 1 : chain.first
    },
    extend: (block) => {
      chain.partial = undefined
      blocks.push(block)
      // The newest block that no branch may replace stays: it is the parent of the deepest one.
      while (blocks[1] && blocks[1].number <= block.number - reorgDepth) {
        blocks.shift()
        chain.complete = false
      }
    },
    rewind: (index) => {
      const removed = [
        ...blocks.splice(index + 1).flatMap(({ reported }) => reported),
        ...(chain.partial?.reported ?? []),
      ]
      chain.partial = undefined
      return removed.reverse().map((one) => ('logIndex' in one ? { ...one, removed: true } : one))
    },
    restart: (first) => {
      blocks.length = 0
      chain.first = first
      chain.complete = false
      if (chain.partial && chain.partial.number < first) chain.partial = undefined
    },
    toCursor: () => {
      const { first, partial } = chain
      const newest = blocks.slice(-mostCursorBlocks)
      return JSON.stringify({
        first,
        complete: chain.complete && newest.length === blocks.length,
        blocks: newest.reverse().map(({ number, hash }) => [number, hash]),
        partial: partial && [partial.number, partial.hash, partial.logIndex],
      })
    },
  }
  return chain
}

/** The stored part of an event, to report it as removed. */
export const toReported = (event: ChainEvent): Reported => (event.type === 'block' ? event.header : event.log)
