import { isKeyrailError, KeyrailError } from '@keyrail/core'
import { now } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import type { Block } from '../decode/block.ts'
import { malformed } from '../decode/malformed.ts'
import { missingBlock, resolveBlock } from '../logs/resolveRange.ts'
import { pause } from '../read/pause.ts'
import type { ReadClient } from '../read/readClient.ts'
import { createPollSchedule } from './pollSchedule.ts'
import type { WatchOptions } from './watchOptions.ts'

/** A reported block. */
export interface BlockRef {
  readonly number: bigint
  readonly hash: Hex
  readonly parentHash: Hex
  /** In seconds since 1970. */
  readonly timestamp: bigint
}

/** A reported block, and what was loaded for it. */
export interface FollowedBlock<T> extends BlockRef {
  readonly loaded: T
}

/** A change of the chain: a block was added on top, or the newest blocks were removed. */
export type ChainStep<B, T> =
  | { readonly type: 'block'; readonly block: B; readonly loaded: T }
  | { readonly type: 'reorg'; readonly removed: readonly FollowedBlock<T>[] }
  | CaughtUpStep<T>

/** What `catchUp` loaded of blocks so far below the head that they are treated as final. */
export interface CaughtUpStep<T> {
  readonly type: 'caughtUp'
  readonly loaded: T
}

/** Options of {@link followChain}. */
export interface FollowChainOptions<B, T> extends WatchOptions {
  /** Reads a block. */
  readonly read: (block: bigint | Hex | 'latest') => Promise<B | null>
  /** Loads the data of a block before it is reported. */
  readonly load: (block: B) => Promise<T>
  /** Whether to skip the blocks between the newest reported one and the head. */
  readonly skipMissed?: boolean
  /**
   * Loads blocks far below the head in another way, at the start or after a long pause, and returns the next block to follow.
   * After a failure it is called again with the same first block.
   */
  readonly catchUp?: (from: bigint, to: bigint) => AsyncGenerator<CaughtUpStep<T>, bigint, undefined>
  readonly signal: AbortSignal
}

/** How many blocks of a gap to read in parallel. */
const lookahead = 8
/** If the head stays lower for this many polls and for two block times, the node is not lagging: the chain has become shorter. */
const mostLowerPolls = 8

/**
 * Follows the chain block by block by polling. The parent of each reported block is the block reported before it. If a new block has
 * another parent, its branch is followed down by hash to a reported block, and the blocks above that one are removed. However the chain
 * changes between two requests, the blocks reported and not removed always form one continuous chain, which is the canonical one as soon as
 * it includes the head.
 *
 * @param client - Resolves block tags.
 * @param options - Where to start, how to read, how deep to follow reorganizations.
 */
export async function* followChain<B extends Block<unknown>, T>(
  client: ReadClient<'eth_getBlockByNumber'>,
  options: FollowChainOptions<B, T>,
): AsyncGenerator<ChainStep<B, T>, void, undefined> {
  const { read, load, catchUp, fromBlock = 'latest', reorgDepth = 64, signal, onError, skipMissed = false } = options
  const schedule = createPollSchedule(options.pollingIntervalMs)
  /** The newest reported blocks, oldest first: enough to find where a branch starts. */
  const chain: FollowedBlock<T>[] = []
  /** The first block to follow, while `chain` is empty. */
  let start: bigint | undefined
  /** Whether `chain` reaches down to `start`, so that a branch may replace all of it. */
  let complete = true
  /** How many polls in a row have failed. */
  let failures = 0
  let waitMs = 0
  /** How many polls in a row have found a lower head, and since when. */
  let lowerPolls = 0
  let lowerSince = 0

  const newestTimestamps = (): bigint[] => chain.slice(-9).map(({ timestamp }) => timestamp)

  /** Removes the blocks above an index of `chain`. */
  const removeAbove = (index: number): ChainStep<B, T> => {
    if (index < 0) start = chain[0]?.number
    return { type: 'reorg', removed: chain.splice(index + 1).reverse() }
  }

  const extend = (block: B, loaded: T): ChainStep<B, T> => {
    const { number, hash, parentHash, timestamp } = block
    chain.push({ number, hash, parentHash, timestamp, loaded })
    // One block more than can be removed: the parent of a branch.
    if (chain.length > reorgDepth + 1) {
      chain.shift()
      complete = false
    }
    return { type: 'block', block, loaded }
  }

  /** Follows a block whose parent is not the newest reported block. */
  async function* switchBranch(block: B): AsyncGenerator<ChainStep<B, T>, void, undefined> {
    const oldest = (chain[0] as FollowedBlock<T>).number
    const branch = [block]
    let fork: number
    for (let lowest = block; ; branch.push(lowest)) {
      const { number, parentHash } = lowest
      fork = chain.findLastIndex(({ hash }) => hash === parentHash)
      if (fork >= 0 || (complete && number <= oldest)) break
      if (number <= oldest) throw tooDeep(reorgDepth)
      const parent = await read(parentHash)
      if (parent === null) throw missingBlock(parentHash)
      // Without this check, a faulty node could make the branch grow forever.
      if (parent.hash !== parentHash || parent.number !== number - 1n) throw malformed('block', 'the requested parent')
      lowest = parent
    }
    yield removeAbove(fork)
    for (const next of branch.reverse()) yield extend(next, await load(next))
  }

  /** Follows the blocks up to the head. Returns whether to poll again at once. */
  async function* followToHead(first: bigint, head: B): AsyncGenerator<ChainStep<B, T>, boolean, undefined> {
    const get = async (number: bigint): Promise<{ block: B; loaded: T }> => {
      const block = number === head.number ? head : await read(number)
      if (block === null) throw missingBlock(Number(number))
      if (block.number !== number) throw malformed('block.number', 'the requested number')
      return { block, loaded: await load(block) }
    }
    const ahead: Promise<{ block: B; loaded: T }>[] = []
    let requested = first
    for (let number = first; number <= head.number; number++) {
      for (; requested <= head.number && requested < number + BigInt(lookahead); requested++) {
        const reading = get(requested)
        // Its failure is handled when its turn comes, or never if an earlier block has failed.
        reading.catch(() => {})
        ahead.push(reading)
      }
      const { block, loaded } = await (ahead.shift() as Promise<{ block: B; loaded: T }>)
      if (chain.length === 0 || chain.at(-1)?.hash === block.parentHash) yield extend(block, loaded)
      else {
        // Blocks that were read in parallel may belong to different branches: only the first one shows which branch is current.
        if (number === first) yield* switchBranch(block)
        return true
      }
    }
    return false
  }

  /** Handles a head that is not above the newest reported block. */
  async function* checkLowerHead(head: B, newest: BlockRef): AsyncGenerator<ChainStep<B, T>, void, undefined> {
    const same = chain.findIndex(({ number }) => number === head.number)
    if (same >= 0 && chain[same]?.hash !== head.hash) {
      lowerPolls = 0
      yield* switchBranch(head)
      waitMs = schedule.afterNews(newestTimestamps())
      return
    }
    const lower = head.number < newest.number && (same >= 0 || complete)
    if (lowerPolls === 0) lowerSince = now()
    lowerPolls = lower ? lowerPolls + 1 : 0
    if (lowerPolls >= mostLowerPolls && now() - lowerSince >= 2 * schedule.blockMs()) {
      lowerPolls = 0
      yield removeAbove(same)
    }
  }

  /** Polls once, and sets the delay before the next poll. */
  async function* poll(): AsyncGenerator<ChainStep<B, T>, void, undefined> {
    const polledAt = now()
    const head = await read('latest')
    if (head === null) throw missingBlock('latest')
    start ??= BigInt(await resolveBlock(client, fromBlock, Number(head.number)))
    const newest = chain.at(-1)
    const next = newest ? newest.number + 1n : start
    if (head.number < next) {
      waitMs = schedule.afterNothing()
      if (newest) yield* checkLowerHead(head, newest)
      return
    }
    lowerPolls = 0
    let first = next
    if (skipMissed && newest && head.number > next) {
      chain.length = 0
      complete = true
      first = head.number
    } else if (catchUp && head.number - next > 2 * reorgDepth) {
      if (newest) {
        const onNewest = await read(next)
        if (onNewest === null) throw missingBlock(Number(next))
        if (onNewest.parentHash !== newest.hash) {
          yield* switchBranch(onNewest)
          waitMs = 0
          return
        }
      }
      start = first = yield* catchUp(next, head.number - BigInt(reorgDepth) - 1n)
      chain.length = 0
      // Blocks that were caught up are treated as final: no branch may start below them.
      complete = false
    }
    const again = yield* followToHead(first, head)
    waitMs = again ? 0 : Math.max(0, schedule.afterNews(newestTimestamps()) - (now() - polledAt))
  }

  for (;;) {
    try {
      for await (const step of poll()) {
        failures = 0
        yield step
      }
      failures = 0
    } catch (error) {
      if (signal.aborted || !isKeyrailError(error) || !error.retryable) throw error
      failures++
      waitMs = schedule.afterFailure(failures, error.retryAfterMs)
      onError?.({ error, failures, waitMs })
    }
    await pause(waitMs, signal)
  }
}

const tooDeep = (reorgDepth: number): KeyrailError =>
  new KeyrailError(
    `the chain was reorganized deeper than reorgDepth (${reorgDepth} blocks): restart from an earlier block, or raise reorgDepth`,
    {
      kind: 'badResponse',
      source: 'node',
      retryable: false,
      hint: 'if this happens again, check whether the endpoint now serves another chain',
    },
  )
