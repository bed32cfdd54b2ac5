import { createPollSchedule } from '@keyrail/core/internal'
import type { PollSchedule } from '@keyrail/core/internal'
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
const readFromAny = async ({
  newest,
  pick,
  timeoutMs,
}: Following): Promise<{ readonly member: GroupMember; readonly block: ReadBlock } | undefined> => {
  const tried: GroupMember[] = []
  const pickNext = (): GroupMember | undefined => pick(newest?.number ?? 0, tried)
  for (let member = pickNext(); member !== undefined; member = pickNext()) {
    tried.push(member)
    const block = readBlock(await queryUpstream(member.upstream, query, timeoutMs))
    if (block !== undefined && member.sawHead(block.number)) return { member, block }
  }
  return undefined
}

/** A network whose newest block is followed. */
interface Following {
  readonly pick: PickNode
  readonly timeoutMs: number
  readonly schedule: PollSchedule
  newest: LatestBlock | undefined
  /** When a node last reported the newest block, and when that query was sent. */
  confirmedAt: number
  queriedAt: number
  /** The queries that failed in a row, and when the last one did. */
  failures: number
  failedAt: number
  /** The last block that nodes were queried for in vain, and when. */
  missing: { readonly block: number; readonly at: number }
  /** The hashes that were replaced at the number of the newest block. */
  readonly replaced: Set<string>
  /** The last block that a query has read, and the timestamps of those until then. */
  last: ReadBlock | undefined
  timestamps: readonly number[]
  /** Whether a call has used the newest block since the last query. */
  isUsed: boolean
  isStopped: boolean
  timer: NodeJS.Timeout | undefined
  reading: { readonly startedAt: number; readonly done: Promise<void> } | undefined
}

/** Takes a block. @returns Whether it is the newest one now. */
const take = (following: Following, block: LatestBlock): boolean => {
  const { newest, replaced, confirmedAt, schedule } = following
  const now = performance.now()
  const { number = -1, hash = '' } = newest ?? {}
  const hasLostBlocks = now - confirmedAt >= Math.max(forgetMs, 2 * schedule.blockMs())
  if (block.number > number || hasLostBlocks) replaced.clear()
  else if (block.number < number || replaced.has(block.hash)) return false
  else if (block.hash !== hash) replaced.add(hash)
  following.newest = block
  following.confirmedAt = now
  return true
}

/** Measures the block time. @returns The wait until the next query. */
const afterBlock = (following: Following, block: ReadBlock): number => {
  const { last, timestamps, schedule } = following
  const blocks = last === undefined ? 1 : block.number - last.number
  if (blocks <= 0) return schedule.afterNothing()
  const since = timestamps.at(-1) ?? block.timestamp
  following.last = block
  // Blocks between two queries had about the same time.
  const between = Array.from(
    { length: Math.min(blocks, measuredBlocks) },
    (_, index) => block.timestamp - ((block.timestamp - since) * index) / blocks,
  )
  following.timestamps = [...timestamps, ...between.toReversed()].slice(-measuredBlocks)
  return schedule.afterNews(following.timestamps)
}

const runRead = async (following: Following, startedAt: number): Promise<void> => {
  following.isUsed = false
  const found = await readFromAny(following)
  following.reading = undefined
  if (following.isStopped) return
  if (found === undefined) {
    following.failedAt = performance.now()
    following.failures += 1
    pollAfter(following, following.schedule.afterNothing())
    return
  }
  following.failures = 0
  const { member, block } = found
  // Before it counts: calls are only sent by its hash.
  await member.hashSupport?.test(block.hash)
  if (take(following, block)) following.queriedAt = Math.max(following.queriedAt, startedAt)
  pollAfter(following, afterBlock(following, block))
}

const read = (following: Following): Promise<void> => {
  if (following.reading === undefined) {
    clearTimeout(following.timer)
    following.timer = undefined
    const startedAt = performance.now()
    following.reading = { startedAt, done: runRead(following, startedAt) }
  }
  return following.reading.done
}

const pollAfter = (following: Following, waitMs: number): void => {
  if (following.isStopped) return
  clearTimeout(following.timer)
  // A poll alone must not keep the process alive.
  following.timer = setTimeout(() => {
    following.timer = undefined
    if (following.isUsed) void read(following)
  }, waitMs).unref()
}

const get = (following: Following, { block, since }: BlockNeed): LatestBlock | undefined => {
  const { newest, confirmedAt, queriedAt, schedule } = following
  following.isUsed = true
  if (newest === undefined || performance.now() - confirmedAt > 2 * schedule.blockMs()) return undefined
  if (following.timer === undefined) void read(following)
  return newest.number >= block && queriedAt > since ? newest : undefined
}

const wait = async (following: Following, need: BlockNeed, tries: number): Promise<LatestBlock | undefined> => {
  const startedAt = performance.now()
  const { missing } = following
  if (need.block >= missing.block && startedAt - missing.at < failedMs) return undefined
  const isOver = ({ isStopped, failures, failedAt }: Following): boolean =>
    isStopped ||
    (failures >= maxFailures && performance.now() - failedAt < failedMs) ||
    performance.now() - startedAt > maxWaitMs
  for (let attempt = 0; attempt < tries && !isOver(following); attempt += 1) {
    if (attempt > 0) await sleep(getRetryMs(attempt - 1))
    const { reading } = following
    if (reading !== undefined && reading.startedAt <= need.since) await reading.done
    await read(following)
    const found = get(following, need)
    if (found !== undefined) return found
  }
  if (tries > 1 && need.block > (following.newest?.number ?? need.block))
    following.missing = { block: need.block, at: performance.now() }
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
export const followLatest = (options: Pick<Following, 'pick' | 'timeoutMs'>): LatestFollower => {
  const following: Following = {
    ...options,
    schedule: createPollSchedule(),
    newest: undefined,
    confirmedAt: -Infinity,
    queriedAt: -Infinity,
    failures: 0,
    failedAt: -Infinity,
    missing: { block: Infinity, at: -Infinity },
    replaced: new Set(),
    last: undefined,
    timestamps: [],
    isUsed: false,
    isStopped: false,
    timer: undefined,
    reading: undefined,
  }
  return {
    get: (need) => get(following, need),
    wait: (need, tries) => wait(following, need, tries),
    adopt: (block) => void take(following, block),
    saw: (block) => {
      if (block > (following.newest?.number ?? Infinity)) void read(following)
    },
    stop: () => {
      following.isStopped = true
      clearTimeout(following.timer)
    },
  }
}

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
