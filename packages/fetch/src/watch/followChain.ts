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

/** A block that was announced. */
export interface BlockRef {
  readonly number: bigint
  readonly hash: Hex
  readonly parentHash: Hex
  /** In seconds since 1970. */
  readonly timestamp: bigint
}

/** A block that was announced, and what was loaded for it. */
export interface FollowedBlock<T> extends BlockRef {
  readonly loaded: T
}

/** What happened to the chain: a block stands on the one before it, or the newest ones were taken off. */
export type ChainStep<B, T> =
  | { readonly type: 'block'; readonly block: B; readonly loaded: T }
  | { readonly type: 'reorg'; readonly removed: readonly FollowedBlock<T>[] }
  | CaughtUpStep<T>

/** What was loaded, by `catchUp`, of blocks so far below the head that they stay. */
export interface CaughtUpStep<T> {
  readonly type: 'settled'
  readonly loaded: T
}

/** Options of {@link followChain}. */
export interface FollowChainOptions<B, T> extends WatchOptions {
  /** Reads a block. */
  readonly read: (block: bigint | Hex | 'latest') => Promise<B | null>
  /** Loads what belongs to a block, before it is announced. */
  readonly load: (block: B) => Promise<T>
  /** Whether to pass over blocks between the newest announced one and the head. */
  readonly skipMissed?: boolean
  /**
   * Deals with blocks that are far below the head in another way, before the first is followed or after a long pause.
   * Gives the next block that is left to be followed. Called again with the same first block where it failed.
   */
  readonly catchUp?: (from: bigint, to: bigint) => AsyncGenerator<CaughtUpStep<T>, bigint, undefined>
  readonly signal: AbortSignal
}

/** How many blocks of a gap are read at a time. */
const lookahead = 8
/** A head that stays lower for so many looks, and for two block times, was not told by a node that lags: the chain is shorter now. */
const mostLowerLooks = 8

/**
 * Follows the chain from block to block by polling. Each block that is announced stands, by its parent hash, on the one announced before;
 * where that does not hold, the branch of the new block is walked down by hash to a block that was announced, and what stood on that is
 * taken back. So whatever the chain does between two requests, what was announced and not taken back is always one unbroken chain, and it
 * is the canonical one as soon as the head is the newest of it.
 *
 * @param client - Finds the block of a tag.
 * @param options - Where to begin, how to read, how deep to follow reorganizations.
 */
export async function* followChain<B extends Block<unknown>, T>(
  client: ReadClient<'eth_getBlockByNumber'>,
  options: FollowChainOptions<B, T>,
): AsyncGenerator<ChainStep<B, T>, void, undefined> {
  const {
    read,
    load,
    catchUp,
    fromBlock = 'latest',
    reorgDepth = 64,
    signal,
    onError: onError,
    skipMissed = false,
  } = options
  const pace = createPollSchedule(options.pollingIntervalMs)
  /** What was announced, oldest first: enough of it to find where a branch leaves it. */
  const chain: FollowedBlock<T>[] = []
  /** The first block to follow, while `chain` is empty. */
  let start: bigint | undefined
  /** Whether `chain` goes down to `start`, so that a branch may leave it anywhere. */
  let whole = true
  /** How many looks failed since something was found. */
  let failures = 0
  let waitMs = 0
  /** How many looks in a row found a lower head, and since when. */
  let lowerLooks = 0
  let lowerSince = 0

  const newestTimestamps = (): bigint[] => chain.slice(-9).map(({ timestamp }) => timestamp)

  /** Takes off everything above a place in `chain`. */
  const takeBack = (above: number): ChainStep<B, T> => {
    if (above < 0) start = chain[0]?.number
    return { type: 'reorg', removed: chain.splice(above + 1).reverse() }
  }

  const extend = (block: B, loaded: T): ChainStep<B, T> => {
    const { number, hash, parentHash, timestamp } = block
    chain.push({ number, hash, parentHash, timestamp, loaded })
    // One more than can be taken back: the block that a branch leaves.
    if (chain.length > reorgDepth + 1) {
      chain.shift()
      whole = false
    }
    return { type: 'block', block, loaded }
  }

  /** Makes a block the newest one that does not stand on the newest one. */
  async function* changeBranch(block: B): AsyncGenerator<ChainStep<B, T>, void, undefined> {
    const oldest = (chain[0] as FollowedBlock<T>).number
    const branch = [block]
    let fork: number
    for (let lowest = block; ; branch.push(lowest)) {
      const { number, parentHash } = lowest
      fork = chain.findLastIndex(({ hash }) => hash === parentHash)
      if (fork >= 0 || (whole && number <= oldest)) break
      if (number <= oldest) throw tooDeep(reorgDepth)
      const parent = await read(parentHash)
      if (parent === null) throw missingBlock(parentHash)
      // A node that answers otherwise would have the branch grow for ever.
      if (parent.hash !== parentHash || parent.number !== number - 1n)
        throw malformed('block', 'the parent that was asked for')
      lowest = parent
    }
    yield takeBack(fork)
    for (const next of branch.reverse()) yield extend(next, await load(next))
  }

  /** Follows what lies between the newest block and the head. Tells whether to look again at once. */
  async function* climb(first: bigint, head: B): AsyncGenerator<ChainStep<B, T>, boolean, undefined> {
    const get = async (number: bigint): Promise<{ block: B; loaded: T }> => {
      const block = number === head.number ? head : await read(number)
      if (block === null) throw missingBlock(Number(number))
      if (block.number !== number) throw malformed('block.number', 'the number that was asked for')
      return { block, loaded: await load(block) }
    }
    const ahead: Promise<{ block: B; loaded: T }>[] = []
    let asked = first
    for (let number = first; number <= head.number; number++) {
      for (; asked <= head.number && asked < number + BigInt(lookahead); asked++) {
        const reading = get(asked)
        // Its failure is met in its turn, or never, where an earlier one ended the climb.
        reading.catch(() => {})
        ahead.push(reading)
      }
      const { block, loaded } = await (ahead.shift() as Promise<{ block: B; loaded: T }>)
      if (chain.length === 0 || chain.at(-1)?.hash === block.parentHash) yield extend(block, loaded)
      else {
        // Of blocks that were read together some may be of the old branch, some of the new: only the first says which holds now.
        if (number === first) yield* changeBranch(block)
        return true
      }
    }
    return false
  }

  /** Deals with a head that is not above the newest block. */
  async function* lookBelow(head: B, newest: BlockRef): AsyncGenerator<ChainStep<B, T>, void, undefined> {
    const same = chain.findIndex(({ number }) => number === head.number)
    if (same >= 0 && chain[same]?.hash !== head.hash) {
      lowerLooks = 0
      yield* changeBranch(head)
      waitMs = pace.afterNews(newestTimestamps())
      return
    }
    const lower = head.number < newest.number && (same >= 0 || whole)
    if (lowerLooks === 0) lowerSince = now()
    lowerLooks = lower ? lowerLooks + 1 : 0
    if (lowerLooks >= mostLowerLooks && now() - lowerSince >= 2 * pace.blockMs()) {
      lowerLooks = 0
      yield takeBack(same)
    }
  }

  /** One look at the chain. Sets how long to wait for the next. */
  async function* look(): AsyncGenerator<ChainStep<B, T>, void, undefined> {
    const lookedAt = now()
    const head = await read('latest')
    if (head === null) throw missingBlock('latest')
    start ??= BigInt(await resolveBlock(client, fromBlock, Number(head.number)))
    const newest = chain.at(-1)
    const next = newest ? newest.number + 1n : start
    if (head.number < next) {
      waitMs = pace.afterNothing()
      if (newest) yield* lookBelow(head, newest)
      return
    }
    lowerLooks = 0
    let first = next
    if (skipMissed && newest && head.number > next) {
      chain.length = 0
      whole = true
      first = head.number
    } else if (catchUp && head.number - next > 2 * reorgDepth) {
      if (newest) {
        const onNewest = await read(next)
        if (onNewest === null) throw missingBlock(Number(next))
        if (onNewest.parentHash !== newest.hash) {
          yield* changeBranch(onNewest)
          waitMs = 0
          return
        }
      }
      start = first = yield* catchUp(next, head.number - BigInt(reorgDepth) - 1n)
      chain.length = 0
      // What was dealt with that way is settled: no branch may leave below it.
      whole = false
    }
    const again = yield* climb(first, head)
    waitMs = again ? 0 : Math.max(0, pace.afterNews(newestTimestamps()) - (now() - lookedAt))
  }

  for (;;) {
    try {
      for await (const step of look()) {
        failures = 0
        yield step
      }
      failures = 0
    } catch (error) {
      if (signal.aborted || !isKeyrailError(error) || !error.retryable) throw error
      failures++
      waitMs = pace.afterFailure(failures, error.retryAfterMs)
      onError?.({ error, failures, waitMs })
    }
    await pause(waitMs, signal)
  }
}

const tooDeep = (reorgDepth: number): KeyrailError =>
  new KeyrailError(
    `the chain was reorganized deeper than reorgDepth (${reorgDepth} blocks): start over from a block below`,
    {
      kind: 'badResponse',
      source: 'node',
      retryable: false,
      hint: 'Or the address now leads to another chain.',
    },
  )
