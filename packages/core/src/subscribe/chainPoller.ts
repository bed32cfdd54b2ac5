import { now } from '../clock/now.ts'
import { KeyrailError } from '../failure/keyrailError.ts'
import { getParent, malformed, missingBlock } from './chainBlock.ts'
import type { WholeBlock } from './chainBlock.ts'
import { readExisting } from './chainSource.ts'
import type { ChainSource } from './chainSource.ts'
import type { PollSchedule } from './pollSchedule.ts'
import type { ChainEvent, RecentBlock, RecentChain } from './recentChain.ts'
import { reportBlock, undoAbove } from './reportBlock.ts'
import type { AnyEvent } from './reportBlock.ts'
import type { LogEvent, SubscriptionOptions } from './subscription.ts'

/** The result of a poll. */
export interface Polled {
  /** Whether the newest block of the node has been reported. */
  readonly atHead: boolean
  /** Whether the chain has another newest block than before. */
  readonly news: boolean
  /** The delay before the next poll, in milliseconds. */
  readonly waitMs: number
}

/** One poll: what it reports, and when to poll again. */
export type Poll = () => AsyncGenerator<AnyEvent, Polled, undefined>

/** Options of {@link createChainPoller}. */
export interface ChainPollerOptions {
  readonly chain: RecentChain
  readonly source: ChainSource
  readonly schedule: PollSchedule
  readonly reorgDepth: number
  readonly fromBlock: SubscriptionOptions['fromBlock']
  /** Reports the logs of blocks far below the head in ranges, up to a block. Undefined for subscriptions to blocks. */
  readonly catchUp: ((to: number) => AsyncGenerator<LogEvent, void, undefined>) | undefined
}

/** How many blocks of a gap to read in parallel. */
const lookahead = 8
/** Filecoin skips a few numbers in a row. If more have no block, the node lacks the blocks. */
const mostMissing = 100
/** If the head stays lower for this many polls and for two block times, the node is not lagging: the chain has become shorter. */
const mostLowerPolls = 8

/**
 * Creates the function that polls the chain once. The parent of each reported block is the block before it. If a new block has another parent,
 * its branch is followed down by hash to a block of the chain, and the blocks above that one are undone. However the chain changes between two
 * requests, the blocks reported and not undone always form one continuous chain, which is the canonical one as soon as it includes the head.
 *
 * A poll that fails may be repeated: it continues where it ended.
 */
export function createChainPoller(options: ChainPollerOptions): Poll {
  const { chain, source, schedule, reorgDepth, fromBlock, catchUp } = options
  const { read, load } = source
  /** How many polls in a row have found a lower head, and since when. */
  let lowerPolls = 0
  let lowerSince = 0

  const waitAfterNews = (): number => {
    const timestamps = chain.blocks.slice(-9).map(({ timestamp }) => timestamp)
    return schedule.afterNews(timestamps.filter((timestamp) => timestamp !== undefined))
  }

  const findIndex = (hash: string): number => chain.blocks.findLastIndex((block) => block.hash === hash)

  /** Undoes what is not part of the branch of a block, and reports the branch up to that block. */
  async function* switchBranch(tip: WholeBlock): AsyncGenerator<AnyEvent, void, undefined> {
    const oldest = (chain.blocks[0] as RecentBlock).number
    const branch: WholeBlock[] = []
    let fork = findIndex(tip.hash)
    let ancestor: Pick<WholeBlock, 'number' | 'hash'> = tip
    for (let lowest = tip; fork < 0;) {
      branch.push(lowest)
      const { number, parentHash } = lowest
      ancestor = getParent(lowest)
      fork = findIndex(parentHash)
      if (fork >= 0 || (chain.complete && number <= oldest)) break
      if (number <= oldest) throw tooDeep(reorgDepth)
      const parent = await read(parentHash)
      if (parent === null) throw missingBlock(parentHash)
      // Without this check, a faulty node could make the branch grow forever.
      if (parent.hash !== parentHash || parent.number >= number) throw malformed('block', 'the requested parent')
      lowest = parent
    }
    // A chain may skip numbers, so the number of the parent is known only if it was read.
    if (fork < chain.blocks.length - 1) yield* undoAbove(chain, fork, chain.blocks[fork] ?? ancestor)
    for (const block of branch.reverse()) yield* reportBlock(chain, block, await load(block))
  }

  /** Follows the blocks up to the head. Returns whether it has reported the head. */
  async function* followToHead(first: number, head: WholeBlock): AsyncGenerator<AnyEvent, boolean, undefined> {
    const get = async (number: number): Promise<{ block: WholeBlock; events: readonly ChainEvent[] } | undefined> => {
      const block = number === head.number ? head : await read(number)
      if (!block) return undefined
      if (block.number !== number) throw malformed('block.number', 'the requested number')
      return { block, events: await load(block) }
    }
    const ahead: ReturnType<typeof get>[] = []
    let requested = first
    let isFirst = true
    /** The first of the numbers in a row for which the node has no block. */
    let missing: number | undefined
    for (let number = first; number <= head.number; number++) {
      for (; requested <= head.number && requested < number + lookahead; requested++) {
        const reading = get(requested)
        // Its failure is handled when its turn comes, or never if an earlier block has failed.
        reading.catch(() => {})
        ahead.push(reading)
      }
      const found = await (ahead.shift() as ReturnType<typeof get>)
      if (!found) {
        missing ??= number
        if (number - missing >= mostMissing) throw missingBlock(missing)
        continue
      }
      const { block, events } = found
      const newest = chain.newest()
      // Filecoin skips numbers. If the parent is below them, there are no such blocks. Otherwise, the node is behind.
      if (missing !== undefined && newest?.hash !== block.parentHash) {
        const parent = await read(block.parentHash)
        if (!parent || parent.number >= missing) throw missingBlock(missing)
      }
      missing = undefined
      if (newest && newest.hash !== block.parentHash) {
        // Blocks that were read in parallel may belong to different branches: only the first one shows which branch is current.
        if (isFirst) yield* switchBranch(block)
        return false
      }
      isFirst = false
      yield* reportBlock(chain, block, events)
    }
    return true
  }

  /** Reads the first block from a number on. */
  const readFirst = async (from: number, head: WholeBlock): Promise<WholeBlock> => {
    for (let number = from; number < head.number; number++) {
      const block = await read(number)
      if (block) return block
      if (number - from >= mostMissing) throw missingBlock(from)
    }
    return head
  }

  /** Handles a head that is not above the newest block. Returns whether the chain ends with it. */
  async function* checkLowerHead(head: WholeBlock, newest: RecentBlock): AsyncGenerator<AnyEvent, boolean, undefined> {
    if (head.hash === newest.hash) {
      lowerPolls = 0
      return true
    }
    const same = chain.blocks.find(({ number }) => number === head.number)
    const replaced = same !== undefined && same.hash !== head.hash
    if (!replaced) {
      // So far below the head that only a lagging node is likely.
      if (!chain.complete && head.number < (chain.blocks[0] as RecentBlock).number) return false
      if (lowerPolls++ === 0) lowerSince = now()
      if (lowerPolls < mostLowerPolls || now() - lowerSince < 2 * schedule.blockMs()) return false
    }
    lowerPolls = 0
    yield* switchBranch(head)
    return true
  }

  async function* pollOnce(): AsyncGenerator<AnyEvent, Omit<Polled, 'news'>, undefined> {
    const polledAt = now()
    const head = await readExisting(source, 'latest')
    const newest = chain.newest()
    if (chain.first === undefined && !newest) {
      chain.first = fromBlock === undefined ? head.number + 1 : await resolveBlock(source, fromBlock, head.number)
      // So that a cursor contains hashes from the start. Two, because another node may not have the head yet.
      if (fromBlock === undefined) {
        const { number, hash, parentHash, timestamp } = head
        if (number > 0) chain.extend({ number: number - 1, hash: parentHash, reported: [] })
        chain.extend({ number, hash, timestamp, reported: [] })
      }
    }
    const next = chain.next() as number
    if (head.number < next) {
      const atHead = newest ? yield* checkLowerHead(head, newest) : true
      return {
        atHead,
        waitMs: atHead && newest && head.hash !== newest.hash ? waitAfterNews() : schedule.afterNothing(),
      }
    }
    lowerPolls = 0
    // After a deep reorganization, the chain may end below the first block.
    const wanted = Math.max(next, chain.first ?? 0)
    if (catchUp && head.number - wanted > 2 * reorgDepth) {
      if (newest) {
        const first = await readFirst(next, head)
        if (first.parentHash !== newest.hash) {
          yield* switchBranch(first)
          return { atHead: false, waitMs: 0 }
        }
      }
      if (chain.partial) {
        const block = await readExisting(source, chain.partial.number)
        // Its new logs are reported below.
        if (block.hash !== chain.partial.hash) {
          yield* undoAbove(chain, chain.blocks.length - 1, getParent(block))
        }
      }
      yield* catchUp(head.number - reorgDepth - 1)
    }
    const atHead = yield* followToHead(chain.next() as number, head)
    return { atHead, waitMs: atHead ? Math.max(0, waitAfterNews() - (now() - polledAt)) : 0 }
  }

  return async function* poll() {
    const before = chain.newest()
    const polled = yield* pollOnce()
    return { ...polled, news: chain.newest() !== before }
  }
}

/** Returns the number of a block that is given by number or tag. */
async function resolveBlock(source: ChainSource, block: bigint | number | string, head: number): Promise<number> {
  if (typeof block !== 'string') return Number(block)
  return block === 'latest' ? head : (await readExisting(source, block)).number
}

/** Creates the error for a reorganization that cannot be followed. */
export const tooDeep = (reorgDepth: number): KeyrailError =>
  new KeyrailError(
    `the chain was reorganized deeper than reorgDepth (${reorgDepth} blocks): restart from an earlier block, or raise reorgDepth`,
    {
      kind: 'badResponse',
      source: 'node',
      retryable: false,
      hint: 'if this happens again, check whether the endpoint now serves another chain',
    },
  )
