import type { FollowedLog } from '../followedChain.ts'
import type { ChainBlock } from './parseBlock.ts'

/** How many blocks below the head a subscription can start at. */
export const maxDepth = 128

/** The newest blocks of the followed chain: each is the parent of the next. Numbers increase, but some chains have numbers without a block. */
export interface ChainRing {
  readonly newest: () => ChainBlock | undefined
  readonly oldest: () => ChainBlock | undefined
  /** How many blocks there are. */
  readonly size: () => number
  readonly find: (hash: string) => ChainBlock | undefined
  /** Gets the blocks above a number, oldest first. */
  readonly above: (number: number) => readonly ChainBlock[]
  /** Adds a block on top, and drops the oldest one if there are more than can be removed. @throws {Error} If it is no child of the newest block. */
  readonly extend: (block: ChainBlock) => void
  /** Removes the blocks above a number. @returns Them, newest first. */
  readonly removeAbove: (number: number) => readonly ChainBlock[]
  /** Adds a block below the oldest one. @returns Whether it is the parent of the oldest one, and there is room. */
  readonly append: (block: ChainBlock) => boolean
  /** Sets the logs of a block, if it is still there. */
  readonly setLogs: (hash: string, logs: readonly FollowedLog[]) => void
  readonly clear: () => void
}

/** Creates an empty ring. It has at most 129 blocks: the ancestor of a branch that replaces 128 blocks is still there. */
export const createChainRing = (): ChainRing => {
  const blocks: ChainBlock[] = []
  const byHash = new Map<string, ChainBlock>()
  /** Gets the index of the first block above a number. */
  const getIndexAbove = (number: number): number => blocks.findLastIndex((block) => block.number <= number) + 1
  return {
    newest: () => blocks.at(-1),
    oldest: () => blocks[0],
    size: () => blocks.length,
    find: (hash) => byHash.get(hash),
    above: (number) => blocks.slice(getIndexAbove(number)),
    extend: (block) => {
      const newest = blocks.at(-1)
      if (newest !== undefined && (block.parentHash !== newest.hash || block.number <= newest.number))
        throw new Error(`block ${block.number} is no child of block ${newest.number}`)
      blocks.push(block)
      byHash.set(block.hash, block)
      if (blocks.length > maxDepth + 1) byHash.delete((blocks.shift() as ChainBlock).hash)
    },
    removeAbove: (number) => {
      const removed = blocks.splice(getIndexAbove(number)).reverse()
      for (const { hash } of removed) byHash.delete(hash)
      return removed
    },
    append: (block) => {
      const oldest = blocks[0]
      if (oldest?.parentHash !== block.hash || oldest.number <= block.number || blocks.length > maxDepth) return false
      blocks.unshift(block)
      byHash.set(block.hash, block)
      return true
    },
    setLogs: (hash, logs) => {
      const block = byHash.get(hash)
      if (block === undefined) return
      const withLogs = { ...block, logs }
      blocks[blocks.indexOf(block)] = withLogs
      byHash.set(hash, withLogs)
    },
    clear: () => {
      blocks.length = 0
      byHash.clear()
    },
  }
}
