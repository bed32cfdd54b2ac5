import { now } from '../clock/now.ts'
import { KeyrailError } from '../failure/keyrailError.ts'
import { getParent, malformed, missingBlock } from './chainBlock.ts'
import type { WholeBlock } from './chainBlock.ts'
import { readExisting } from './chainSource.ts'
import type { ChainSource } from './chainSource.ts'
import { createReadAhead, followToHead, mostMissing, switchBranch } from './followSteps.ts'
import type { FollowSteps } from './followSteps.ts'
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

/** A block, with its events if they were loaded in advance. */
type LoadedBlock = WholeBlock & { readonly events?: readonly ChainEvent[] }

/** If the head stays lower for this many polls and for two block times, the node is not lagging: the chain has become shorter. */
const mostLowerPolls = 8

/**
 * Creates the function that polls the chain once, by the steps of `followSteps.ts`. A poll that fails may be repeated: it continues where it ended.
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

  /** Performs the steps of a follower. Returns whether it has reported the head. */
  async function* follow(
    steps: FollowSteps<LoadedBlock, RecentBlock>,
    head?: WholeBlock,
  ): AsyncGenerator<AnyEvent, boolean, undefined> {
    const readAhead = createReadAhead(async (number): Promise<LoadedBlock | null> => {
      const block = number === head?.number ? head : await read(number)
      if (block && block.number !== number) throw malformed('block.number', 'the requested number')
      return block && { ...block, events: await load(block) }
    })
    let step = steps.next()
    while (!step.done) {
      const { value } = step
      let block: LoadedBlock | null = null
      if ('read' in value)
        block = await (value.last === undefined ? read(value.read) : readAhead(value.read, value.last))
      else if ('report' in value) {
        const { report } = value
        yield* reportBlock(chain, report, report.events ?? (await load(report)))
      } else {
        const { undoAbove: ancestor, lowest } = value
        // A chain may skip numbers, so the number of the parent is known only if it was read.
        yield* undoAbove(chain, chain.blocks.indexOf(ancestor as RecentBlock), ancestor ?? getParent(lowest))
      }
      step = steps.next(block)
    }
    const end = step.value
    if (end === 'tooDeep') throw tooDeep(reorgDepth)
    if (end === 'wrongParent') throw malformed('block', 'the requested parent')
    if (typeof end === 'object') throw missingBlock(end.missing)
    return end
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
    yield* follow(switchBranch(chain, head))
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
          yield* follow(switchBranch(chain, first))
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
    const atHead = yield* follow(followToHead<LoadedBlock, RecentBlock>(chain, chain.next() as number, head), head)
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
