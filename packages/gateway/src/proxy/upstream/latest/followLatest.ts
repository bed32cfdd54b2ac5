import { createPollSchedule } from '@keyrail/core/internal'
import { getMember } from '../../../lib/json/scanMembers.ts'
import { parseQuantity } from '../../../lib/rpc/quantity.ts'
import { parseHash } from '../findPinnedBlock.ts'
import type { GroupMember } from '../groupMember.ts'
import { queryUpstream } from '../queryUpstream.ts'
import type { QueryResult } from '../queryUpstream.ts'

/** A block that reads at `latest` are sent for. */
export interface LatestBlock {
  readonly number: number
  readonly hash: string
}

/** What a caller needs of the block that it shares. */
export interface BlockNeed {
  /** The newest block that it has seen. */
  readonly block: number
  /** A node must have reported the block in response to a query that was sent after this time. */
  readonly since: number
}

/** The newest block of a network. */
export interface LatestFollower {
  /** Gets the newest block, if a node has confirmed it within two block times and it is what the caller needs. */
  readonly get: (need: BlockNeed) => LatestBlock | undefined
  /** Queries nodes for such a block. @param tries - How often. Behind a load balancer, another node may respond the next time. */
  readonly wait: (need: BlockNeed, tries: number) => Promise<LatestBlock | undefined>
  /** Takes a block that a node has sent for another reason. */
  readonly adopt: (block: LatestBlock) => void
  /** Call this when a caller was shown a block: if it is newer, nodes are queried at once. */
  readonly saw: (block: number) => void
  readonly stop: () => void
}

/** Chooses a node that was not tried. One that has the block comes first. */
type PickNode = (block: number, tried: readonly GroupMember[]) => GroupMember | undefined

interface ReadBlock extends LatestBlock {
  /** In seconds. */
  readonly timestamp: number
}

const query = { method: 'eth_getBlockByNumber', params: '["latest",false]' }
const getRetryMs = (attempt: number): number => 10 * 1.5 ** attempt
/** How long a call waits for a block that its caller needs. After that, it is sent as it is. */
const maxWaitMs = 2_500
/** After this many failures in a row, and for a block that no node has, nodes are not queried for each call, but once in this time. */
const maxFailures = 3
const failedMs = 1_000
/** Longer than a lagging node needs: then the chain has lost blocks. */
const forgetMs = 10_000
/** The timestamps of this many blocks are used to measure the block time. */
const measuredBlocks = 9

const readBlock = (result: QueryResult): ReadBlock | undefined => {
  if (typeof result === 'string' || result.member !== 'result') return undefined
  const text = result.value.toString('latin1')
  const number = parseQuantity(getMember(text, 'number'))
  const hash = parseHash(getMember(text, 'hash'))
  const timestamp = parseQuantity(getMember(text, 'timestamp'))
  return number === undefined || hash === undefined || timestamp === undefined ? undefined : { number, hash, timestamp }
}

/** Reads the newest block of a node, and of the next one if that fails. */
const readFromAny = async (
  least: number,
  pick: PickNode,
  timeoutMs: number,
): Promise<{ readonly member: GroupMember; readonly block: ReadBlock } | undefined> => {
  const tried: GroupMember[] = []
  for (let member = pick(least, tried); member !== undefined; member = pick(least, tried)) {
    tried.push(member)
    const block = readBlock(await queryUpstream(member.upstream, query, timeoutMs))
    if (block !== undefined && member.sawHead(block.number)) return { member, block }
  }
  return undefined
}

/**
 * Follows the newest block of a network, by queries while calls use it. An idle network gets none.
 *
 * A lower block does not count: it is from a node that lags. A block in the place of the newest one counts once, so that two nodes on different branches
 * do not make it change back and forth.
 * @param options.pick - Chooses the node that is queried.
 * @param options.timeoutMs - Of a query.
 */
export const followLatest = ({ pick, timeoutMs }: { pick: PickNode; timeoutMs: number }): LatestFollower => {
  const schedule = createPollSchedule()
  let newest: LatestBlock | undefined
  /** When a node last reported the newest block, and when that query was sent. */
  let confirmedAt = -Infinity
  let queriedAt = -Infinity
  let failedAt = -Infinity
  let failures = 0
  /** The lowest block that nodes were queried for in vain, and when. */
  let missing = { block: Infinity, at: -Infinity }
  /** The hashes that were replaced at the number of the newest block. */
  const replaced = new Set<string>()
  let timestamps: readonly number[] = []
  let last: ReadBlock | undefined
  let isUsed = false
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let reading: { readonly startedAt: number; readonly done: Promise<void> } | undefined

  /** Takes a block. @returns Whether it is the newest one now. */
  const take = (block: LatestBlock): boolean => {
    const now = performance.now()
    const { number = -1, hash = '' } = newest ?? {}
    const hasLostBlocks = now - confirmedAt >= Math.max(forgetMs, 2 * schedule.blockMs())
    if (block.number > number || hasLostBlocks) replaced.clear()
    else if (block.number < number || replaced.has(block.hash)) return false
    else if (block.hash !== hash) replaced.add(hash)
    newest = block
    confirmedAt = now
    return true
  }
  /** Measures the block time. @returns The wait until the next query. */
  const afterBlock = (block: ReadBlock): number => {
    const blocks = last === undefined ? 1 : block.number - last.number
    if (blocks <= 0) return schedule.afterNothing()
    const since = timestamps.at(-1) ?? block.timestamp
    last = block
    // Blocks between two queries had about the same time.
    const between = Array.from(
      { length: Math.min(blocks, measuredBlocks) },
      (_, index) => block.timestamp - ((block.timestamp - since) * index) / blocks,
    )
    timestamps = [...timestamps, ...between.toReversed()].slice(-measuredBlocks)
    return schedule.afterNews(timestamps)
  }
  const runRead = async (startedAt: number): Promise<void> => {
    isUsed = false
    const found = await readFromAny(newest?.number ?? 0, pick, timeoutMs)
    reading = undefined
    if (isStopped) return
    if (found === undefined) {
      failedAt = performance.now()
      failures += 1
      pollAfter(schedule.afterNothing())
      return
    }
    failures = 0
    const { member, block } = found
    // Before it counts: calls are only sent by its hash.
    await member.hashSupport?.test(block.hash)
    if (take(block)) queriedAt = Math.max(queriedAt, startedAt)
    pollAfter(afterBlock(block))
  }
  const isFailing = (): boolean => failures >= maxFailures && performance.now() - failedAt < failedMs
  const read = (): Promise<void> => {
    if (reading === undefined) {
      clearTimeout(timer)
      timer = undefined
      const startedAt = performance.now()
      reading = { startedAt, done: runRead(startedAt) }
    }
    return reading.done
  }
  const pollAfter = (waitMs: number): void => {
    if (isStopped) return
    clearTimeout(timer)
    // A poll alone must not keep the process alive.
    timer = setTimeout(() => {
      timer = undefined
      if (isUsed) void read()
    }, waitMs).unref()
  }
  const get: LatestFollower['get'] = ({ block, since }) => {
    isUsed = true
    if (newest === undefined || performance.now() - confirmedAt > 2 * schedule.blockMs()) return undefined
    if (timer === undefined) void read()
    return newest.number >= block && queriedAt > since ? newest : undefined
  }
  return {
    get,
    wait: async (need, tries) => {
      if (need.block >= missing.block && performance.now() - missing.at < failedMs) return undefined
      const startedAt = performance.now()
      const isOver = (): boolean => isStopped || isFailing() || performance.now() - startedAt > maxWaitMs
      for (let attempt = 0; attempt < tries && !isOver(); attempt += 1) {
        if (attempt > 0) await sleep(getRetryMs(attempt - 1))
        if (reading !== undefined && reading.startedAt <= need.since) await reading.done
        await read()
        const found = get(need)
        if (found !== undefined) return found
      }
      if (tries > 1) missing = { block: need.block, at: performance.now() }
      return undefined
    },
    adopt: (block) => void take(block),
    saw: (block) => {
      if (block > (newest?.number ?? Infinity)) void read()
    },
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
