import type { PollSchedule } from '@keyrail/core/internal'
import type { ChainStep } from '../followedChain.ts'
import { ChainReadError } from './chainNodes.ts'
import type { ChainNodes } from './chainNodes.ts'
import type { ChainRing } from './createChainRing.ts'
import type { LogReader } from './createLogReader.ts'
import type { ChainBlock } from './parseBlock.ts'
import { readChainBlock, readNumberedBlock } from './readChainBlock.ts'

/** The dependencies of a poll. */
export interface FollowHeadOptions {
  readonly ring: ChainRing
  readonly nodes: ChainNodes
  readonly schedule: PollSchedule
  readonly readLogs: LogReader
  /** Whether the blocks that are emitted now need logs. */
  readonly needLogs: () => boolean
  /** Loads this many blocks below the ring. */
  readonly loadBelow: (count: number) => Promise<boolean>
  readonly emit: (step: ChainStep) => void
  /** Nothing is emitted after it was aborted. */
  readonly signal: AbortSignal
}

/**
 * Reads the head, and follows the chain to it.
 * @returns After how many milliseconds to poll again.
 * @throws {ChainReadError} If that failed. All notifications until then are valid.
 */
export type Poll = () => Promise<number | 'reorgTooDeep'>

/** How many blocks of a gap to read in parallel. */
const lookahead = 8
/** Chains that have numbers without a block have only a few in a row. With a wrong head, there would be no end. */
const maxSkipped = 128
/** If the head stays lower for this many polls and for two block times, the node does not lag: the chain has become shorter. */
const maxLowerPolls = 8
/** How many blocks below the first one are loaded, so that a reorganization soon after the start has an ancestor. */
const firstDepth = 16
/** The timestamps of this many blocks are used to measure the block time. */
const measuredBlocks = 9

const notLower = { polls: 0, since: 0, hash: '', hasMoved: false }

/**
 * Creates the polls that follow a chain block by block. The parent of each emitted block is the block emitted before it, whose number can be lower by
 * more than one. If a new block has another
 * parent, its branch is followed down by hash to a block of the ring, and the blocks above that one are removed. However the chain changes between two
 * calls, the emitted blocks form one continuous chain, which is the node's as soon as it includes the head.
 */
export const followHead = (options: FollowHeadOptions): Poll => {
  const { ring, nodes, schedule, signal } = options
  /** How many polls in a row have found the same head below the newest block, since when, and whether the node before it had a lower head, too. */
  let lower = notLower

  const read = (block: number | string): Promise<ChainBlock> => readChainBlock(nodes.followed(), block)

  const addLogs = async (block: ChainBlock): Promise<ChainBlock> =>
    options.needLogs() && block.logs === undefined ? { ...block, logs: await options.readLogs(block) } : block

  /** Ends the turn of the event loop, so that each step has its own. */
  const endTurn = async (): Promise<void> => {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    if (signal.aborted) throw new ChainReadError('stopped')
  }
  const extend = async (block: ChainBlock): Promise<void> => {
    let ready = await addLogs(block)
    await endTurn()
    // Logs may be needed only since the last turn.
    while (options.needLogs() && ready.logs === undefined) {
      ready = await addLogs(ready)
      await endTurn()
    }
    ring.extend(ready)
    options.emit({ type: 'block', block: ready })
  }
  const removeAbove = async ({ number, hash }: ChainBlock): Promise<void> => {
    await endTurn()
    options.emit({ type: 'reorg', ancestor: { number, hash }, removed: ring.removeAbove(number) })
  }

  /** Follows a block whose parent is not the newest block. @returns False if its branch starts below the ring. */
  const switchBranch = async (block: ChainBlock): Promise<boolean> => {
    const branch = [block]
    let lowest = block
    let ancestor = ring.find(lowest.parentHash)
    while (ancestor === undefined) {
      if (lowest.number <= (ring.oldest()?.number ?? 0)) return false
      const parent = await read(lowest.parentHash)
      // Without this check, a faulty node could make the branch grow forever.
      if (parent.number >= lowest.number) throw new ChainReadError('a parent has a wrong number', true)
      branch.push(parent)
      lowest = parent
      ancestor = ring.find(lowest.parentHash)
    }
    if (ancestor.number >= lowest.number) throw new ChainReadError('a parent has a wrong number', true)
    if (ancestor.hash !== ring.newest()?.hash) await removeAbove(ancestor)
    for (const next of branch.reverse()) await extend(next)
    return true
  }

  /** Follows the blocks from the newest one to the head. */
  const followTo = async (head: ChainBlock, first: number): Promise<number | 'reorgTooDeep'> => {
    const get = async (number: number): Promise<ChainBlock | undefined> => {
      const block = number === head.number ? head : await readNumberedBlock(nodes.followed(), number)
      return block && addLogs(block)
    }
    const ahead: Promise<ChainBlock | undefined>[] = []
    let requested = first
    let isFirst = true
    let skipped = 0
    for (let number = first; number <= head.number; number += 1) {
      for (; requested <= head.number && requested < number + lookahead; requested += 1) {
        const reading = get(requested)
        // Its failure is handled when its turn comes, or never if an earlier block has failed.
        reading.catch(() => {})
        ahead.push(reading)
      }
      const block = await (ahead.shift() as Promise<ChainBlock | undefined>)
      if (block === undefined) {
        skipped += 1
        if (skipped > maxSkipped)
          throw new ChainReadError(`the node has none of the blocks ${first} to ${number}`, true)
        continue
      }
      skipped = 0
      if (ring.newest()?.hash === block.parentHash) await extend(block)
      // Blocks that were read in parallel may belong to different branches: only the first one shows which branch is current.
      else if (!isFirst) return schedule.afterNothing()
      else if (!(await switchBranch(block))) return 'reorgTooDeep'
      isFirst = false
    }
    return afterNews()
  }

  const afterNews = (): number => {
    const newest = ring.newest()?.number ?? 0
    return schedule.afterNews(ring.above(newest - measuredBlocks).map(({ timestamp }) => timestamp))
  }

  /** Handles a head that is not above the newest block. */
  const checkLowerHead = async (head: ChainBlock, newest: ChainBlock): Promise<number | 'reorgTooDeep'> => {
    if (head.hash === newest.hash) {
      lower = notLower
      return schedule.afterNothing()
    }
    const known = ring.find(head.hash)
    if (known === undefined && head.number >= (ring.oldest()?.number ?? Infinity)) {
      lower = notLower
      return (await switchBranch(head)) ? afterNews() : 'reorgTooDeep'
    }
    // A node whose head rises catches up.
    if (lower.hash !== head.hash) lower = { ...lower, polls: 0, since: performance.now(), hash: head.hash }
    lower = { ...lower, polls: lower.polls + 1 }
    const waitMs = schedule.afterNothing()
    if (lower.polls < maxLowerPolls || performance.now() - lower.since < 2 * schedule.blockMs()) return waitMs
    if (!lower.hasMoved && nodes.leave()) {
      lower = { ...notLower, hasMoved: true }
      return 0
    }
    lower = notLower
    if (known === undefined) return 'reorgTooDeep'
    await removeAbove(known)
    return waitMs
  }

  return async () => {
    const polledAt = performance.now()
    const head = await read('latest')
    if (signal.aborted) throw new ChainReadError('stopped')
    if (!nodes.sawHead(head.number)) throw new ChainReadError('the head of the node is far above the others', true)
    const newest = ring.newest()
    if (newest === undefined) {
      ring.extend(head)
      // Not awaited: a subscription that starts at the head does not need them.
      void options.loadBelow(firstDepth).catch(ignoreReadError)
      return afterNews()
    }
    if (head.number <= newest.number) return checkLowerHead(head, newest)
    lower = notLower
    const waitMs = await followTo(head, newest.number + 1)
    return waitMs === 'reorgTooDeep' ? waitMs : Math.max(0, waitMs - (performance.now() - polledAt))
  }
}

const ignoreReadError = (error: unknown): void => {
  if (!(error instanceof ChainReadError)) throw error
}
