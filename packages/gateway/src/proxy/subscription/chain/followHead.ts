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
 * @throws {ChainReadError} If that failed. All notifications until then are valid.
 */
export type Poll = () => Promise<PollResult>

/** After how many milliseconds to poll again. */
type PollResult = number | 'reorgTooDeep'

/** If the head stays lower for this many polls and for two block times, the node does not lag: the chain has become shorter. */
const maxLowerPolls = 8
/** How many blocks below the first one are loaded, so that a reorganization soon after the start has an ancestor. */
const firstDepth = 16
/** The timestamps of this many blocks are used to measure the block time. */
const measuredBlocks = 9

const notLower = { polls: 0, since: 0, hash: '', hasMoved: false }

/** A chain while it is followed. */
interface Following extends FollowHeadOptions {
  readonly chain: KnownChain<ChainBlock>
  /** How many polls in a row have found the same head below the newest block, since when, and whether the node before it had a lower head, too. */
  lower: typeof notLower
}

/**
 * Creates the polls that follow a chain block by block, by the same steps as subscriptions of the SDK that poll. What to do about a head below the
 * newest block differs: the service has other nodes.
 */
export const followHead = (options: FollowHeadOptions): Poll => {
  const chain = { blocks: options.ring.blocks, complete: false }
  const following: Following = { ...options, chain, lower: notLower }
  return () => poll(following)
}

const poll = async (following: Following): Promise<PollResult> => {
  const { ring, nodes, schedule, chain } = following
  const polledAt = performance.now()
  const head = await readChainBlock(nodes.followed(), 'latest')
  checkRunning(following)
  if (!nodes.sawHead(head.number)) throw new ChainReadError('the head of the node is far above the others', true)
  const newest = ring.newest()
  if (newest === undefined) {
    ring.extend(head)
    // Not awaited: a subscription that starts at the head does not need them.
    void following.loadBelow(firstDepth).catch(ignoreReadError)
    return afterNews(following)
  }
  if (head.number <= newest.number) return checkLowerHead(following, head, newest)
  following.lower = notLower
  const end = await follow(following, followToHead(chain, newest.number + 1, head), head)
  if (end === 'reorgTooDeep') return end
  const waitMs = end ? afterNews(following) : schedule.afterNothing()
  return Math.max(0, waitMs - (performance.now() - polledAt))
}

/** The ring is empty after a stop. */
const checkRunning = ({ signal }: Following): void => {
  if (signal.aborted) throw new ChainReadError('stopped')
}

const ignoreReadError = (error: unknown): void => {
  if (!(error instanceof ChainReadError)) throw error
}

const afterNews = ({ ring, schedule }: Following): number => {
  const newest = ring.newest()?.number ?? 0
  return schedule.afterNews(ring.above(newest - measuredBlocks).map(({ timestamp }) => timestamp))
}

/** Handles a head that is not above the newest block. */
const checkLowerHead = async (following: Following, head: ChainBlock, newest: ChainBlock): Promise<PollResult> => {
  const { ring, nodes, schedule, chain } = following
  if (head.hash === newest.hash) {
    following.lower = notLower
    return schedule.afterNothing()
  }
  const same = ring.find(head.hash)
  if (same === undefined && head.number >= (ring.oldest()?.number ?? Infinity)) {
    following.lower = notLower
    const end = await follow(following, switchBranch(chain, head))
    return end === 'reorgTooDeep' ? end : afterNews(following)
  }
  let { lower } = following
  // A node whose head rises catches up.
  if (lower.hash !== head.hash) lower = { ...lower, polls: 0, since: performance.now(), hash: head.hash }
  lower = { ...lower, polls: lower.polls + 1 }
  following.lower = lower
  const waitMs = schedule.afterNothing()
  if (lower.polls < maxLowerPolls || performance.now() - lower.since < 2 * schedule.blockMs()) return waitMs
  if (!lower.hasMoved && nodes.leave()) {
    following.lower = { ...notLower, hasMoved: true }
    return 0
  }
  following.lower = notLower
  if (same === undefined) return 'reorgTooDeep'
  await removeAbove(following, same)
  return waitMs
}

/** Performs the steps of a follower. @returns Whether it has reached the head. */
const follow = async (
  following: Following,
  steps: FollowSteps<ChainBlock, ChainBlock>,
  head?: ChainBlock,
): Promise<boolean | 'reorgTooDeep'> => {
  const { nodes } = following
  const readAhead = createReadAhead(async (number) => {
    const block = number === head?.number ? head : await readNumberedBlock(nodes.followed(), number)
    return block && addLogs(following, block)
  })
  let step = steps.next()
  while (step.done !== true) {
    const { value } = step
    let block: ChainBlock | undefined
    if ('read' in value) {
      if (value.last === undefined) block = await readChainBlock(nodes.followed(), value.read)
      else block = await readAhead(value.read, value.last)
      checkRunning(following)
    } else if ('report' in value) await extend(following, value.report)
    else if (value.undoAbove !== undefined) {
      checkAbove(value.lowest, value.undoAbove)
      await removeAbove(following, value.undoAbove)
    }
    step = steps.next(block)
  }
  const end = step.value
  if (typeof end === 'object') throw new ChainReadError(`the node has none of the blocks from ${end.missing} on`, true)
  if (end === 'wrongParent') throw new ChainReadError(wrongParent, true)
  return end === 'tooDeep' ? 'reorgTooDeep' : end
}

const wrongParent = 'a parent has a wrong number'

const checkAbove = ({ number }: ChainBlock, parent: ChainBlock | undefined): void => {
  if (parent !== undefined && number <= parent.number) throw new ChainReadError(wrongParent, true)
}

const extend = async (following: Following, block: ChainBlock): Promise<void> => {
  checkAbove(block, following.ring.newest())
  let ready = block
  // Logs may be needed only since the last turn.
  do {
    ready = await addLogs(following, ready)
    await endTurn(following)
  } while (following.needLogs() && ready.logs === undefined)
  following.ring.extend(ready)
  following.emit({ type: 'block', block: ready })
}

const addLogs = async ({ needLogs, readLogs }: Following, block: ChainBlock): Promise<ChainBlock> =>
  needLogs() && block.logs === undefined ? { ...block, logs: await readLogs(block) } : block

const removeAbove = async (following: Following, { number, hash }: ChainBlock): Promise<void> => {
  await endTurn(following)
  following.emit({ type: 'reorg', ancestor: { number, hash }, removed: following.ring.removeAbove(number) })
}

/** Ends the turn of the event loop, so that each step has its own. */
const endTurn = async (following: Following): Promise<void> => {
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  checkRunning(following)
}
