import { createReadAhead, followToHead, switchBranch } from '@keyrail/core/internal'
import type { FollowSteps, KnownChain, PollSchedule } from '@keyrail/core/internal'
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

/** If the head stays lower for this many polls and for two block times, the node does not lag: the chain has become shorter. */
const maxLowerPolls = 8
/** How many blocks below the first one are loaded, so that a reorganization soon after the start has an ancestor. */
const firstDepth = 16
/** The timestamps of this many blocks are used to measure the block time. */
const measuredBlocks = 9

const notLower = { polls: 0, since: 0, hash: '', hasMoved: false }

/**
 * Creates the polls that follow a chain block by block, by the same steps as subscriptions of the SDK that poll. What to do about a head below the
 * newest block differs: the service has other nodes to ask.
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
  const checkAbove = ({ number }: ChainBlock, parent: ChainBlock | undefined): void => {
    if (parent !== undefined && number <= parent.number) throw new ChainReadError('a parent has a wrong number', true)
  }
  const extend = async (block: ChainBlock): Promise<void> => {
    checkAbove(block, ring.newest())
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

  const chain: KnownChain<ChainBlock> = {
    get blocks() {
      return ring.above(-1)
    },
    complete: false,
  }

  /** Performs the steps of a follower. @returns Whether it has reached the head. */
  const follow = async (
    steps: FollowSteps<ChainBlock, ChainBlock>,
    head?: ChainBlock,
  ): Promise<boolean | 'reorgTooDeep'> => {
    const readAhead = createReadAhead(async (number) => {
      const block = number === head?.number ? head : await readNumberedBlock(nodes.followed(), number)
      return block && addLogs(block)
    })
    let step = steps.next()
    while (step.done !== true) {
      const { value } = step
      let block: ChainBlock | undefined
      if ('read' in value) {
        block = await (value.last === undefined ? read(value.read) : readAhead(value.read, value.last))
        // The ring is empty then.
        if (signal.aborted) throw new ChainReadError('stopped')
      } else if ('report' in value) await extend(value.report)
      else if (value.undoAbove !== undefined) {
        checkAbove(value.lowest, value.undoAbove)
        await removeAbove(value.undoAbove)
      }
      step = steps.next(block)
    }
    const end = step.value
    if (typeof end === 'object')
      throw new ChainReadError(`the node has none of the blocks from ${end.missing} on`, true)
    if (end === 'wrongParent') throw new ChainReadError('a parent has a wrong number', true)
    return end === 'tooDeep' ? 'reorgTooDeep' : end
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
    const same = ring.find(head.hash)
    if (same === undefined && head.number >= (ring.oldest()?.number ?? Infinity)) {
      lower = notLower
      return (await follow(switchBranch(chain, head))) === 'reorgTooDeep' ? 'reorgTooDeep' : afterNews()
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
    if (same === undefined) return 'reorgTooDeep'
    await removeAbove(same)
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
    const end = await follow(followToHead(chain, newest.number + 1, head), head)
    if (end === 'reorgTooDeep') return end
    const waitMs = end ? afterNews() : schedule.afterNothing()
    return Math.max(0, waitMs - (performance.now() - polledAt))
  }
}

const ignoreReadError = (error: unknown): void => {
  if (!(error instanceof ChainReadError)) throw error
}
