import { dropBytes, holdBytes } from '../../../lib/memoryBudget.ts'
import type { BufferedBytes } from '../../../lib/memoryBudget.ts'
import type { FollowedLog } from '../followedChain.ts'
import type { ChainBlock } from './parseBlock.ts'

/** How many blocks below the head a subscription can start at. */
export const maxDepth = 128

/** The newest blocks of the followed chain: each is the parent of the next. Numbers increase, but some chains have numbers without a block. */
export interface ChainRing {
  readonly newest: () => ChainBlock | undefined
  readonly oldest: () => ChainBlock | undefined
  /** All of them, oldest first, also after changes. */
  readonly blocks: readonly ChainBlock[]
  readonly find: (hash: string) => ChainBlock | undefined
  /** Gets the blocks above a number, oldest first. */
  readonly above: (number: number) => readonly ChainBlock[]
  /** Adds a block on top, and drops the oldest one if there are more than can be removed. @throws {Error} If it is no child of the newest block. */
  readonly extend: (block: ChainBlock) => void
  /** Removes the blocks above a number. @returns Them, newest first. */
  readonly removeAbove: (number: number) => readonly ChainBlock[]
  /** Adds a block below the oldest one, unless it is not its parent, or there is no room. */
  readonly append: (block: ChainBlock) => 'added' | 'notParent' | 'noRoom'
  /**
   * Sets the logs of a block, if it is still there. To make room, it drops the oldest blocks, but none from a number on.
   * @returns False if there is no room.
   */
  readonly setLogs: (hash: string, logs: readonly FollowedLog[], keepFrom: number) => boolean
  readonly clear: () => void
}

/** What a block or a log takes besides its text, roughly. */
const entryBytes = 512

/** How many bytes of memory a block takes. */
const getBlockBytes = ({ header, logs }: Pick<ChainBlock, 'header' | 'logs'>): number => {
  let bytes = entryBytes + header.length
  for (const { text } of logs ?? []) bytes += entryBytes + text.length
  return bytes
}

/**
 * Creates an empty ring. It has at most 129 blocks: the ancestor of a branch that replaces 128 blocks is still there.
 * @param memory - Holds the blocks. If it has no room for one more, the oldest ones are dropped. The newest one is always there.
 */
export const createChainRing = (memory?: BufferedBytes): ChainRing => {
  const blocks: ChainBlock[] = []
  const byHash = new Map<string, ChainBlock>()
  /** Gets the index of the first block above a number. */
  const getIndexAbove = (number: number): number => blocks.findLastIndex((block) => block.number <= number) + 1
  /** How many bytes are held for each block. */
  const held = new Map<string, number>()
  /** Holds the memory of a block, instead of what was held for it. @returns False if there is no room. */
  const hold = (block: ChainBlock): boolean => {
    const bytes = getBlockBytes(block)
    if (!holdBytes(memory, bytes - (held.get(block.hash) ?? 0))) return false
    held.set(block.hash, bytes)
    return true
  }
  const forget = (hash: string): void => {
    byHash.delete(hash)
    dropBytes(memory, held.get(hash) ?? 0)
    held.delete(hash)
  }
  const dropOldest = (): void => {
    const oldest = blocks.shift()
    if (oldest !== undefined) forget(oldest.hash)
  }
  return {
    newest: () => blocks.at(-1),
    oldest: () => blocks[0],
    blocks,
    find: (hash) => byHash.get(hash),
    above: (number) => blocks.slice(getIndexAbove(number)),
    extend: (block) => {
      const newest = blocks.at(-1)
      if (newest !== undefined && (block.parentHash !== newest.hash || block.number <= newest.number))
        throw new Error(`block ${block.number} is no child of block ${newest.number}`)
      while (!hold(block) && blocks.length > 0) dropOldest()
      blocks.push(block)
      byHash.set(block.hash, block)
      if (blocks.length > maxDepth + 1) dropOldest()
    },
    removeAbove: (number) => {
      const removed = blocks.splice(getIndexAbove(number)).reverse()
      for (const { hash } of removed) forget(hash)
      return removed
    },
    append: (block) => {
      const oldest = blocks[0]
      if (oldest?.parentHash !== block.hash || oldest.number <= block.number) return 'notParent'
      if (blocks.length > maxDepth || !hold(block)) return 'noRoom'
      blocks.unshift(block)
      byHash.set(block.hash, block)
      return 'added'
    },
    setLogs: (hash, logs, keepFrom) => {
      const block = byHash.get(hash)
      if (block === undefined) return true
      const withLogs = { ...block, logs }
      while (!hold(withLogs)) {
        const oldest = blocks[0]
        if (oldest === undefined || oldest === block || oldest.number >= keepFrom) return false
        dropOldest()
      }
      blocks[blocks.indexOf(block)] = withLogs
      byHash.set(hash, withLogs)
      return true
    },
    clear: () => {
      blocks.length = 0
      for (const hash of byHash.keys()) forget(hash)
    },
  }
}
