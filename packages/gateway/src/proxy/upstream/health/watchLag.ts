import { createHeads } from '../heads/createHeads.ts'
import { queryUpstream, getQuantity } from '../queryUpstream.ts'
import type { QueryResult } from '../queryUpstream.ts'
import type { Polls } from './createPolls.ts'
import type { GroupMember } from '../groupMember.ts'
import type { SharedCheck, SharedChecks } from '../../../storage/redis/createSharedChecks.ts'

const intervalMs = 5_000
/** A single upstream has nothing to lag behind. Its head is only shown. */
const singleIntervalMs = 30_000
const maxTimeoutMs = 2_000
const minRefreshMs = 1_000
/** The first comparison after this time also queries `eth_syncing`: every sixth one while the network is in use. */
const syncingIntervalMs = 27_500

/** Compares the heads of several upstreams periodically. */
export interface LagWatch {
  /** Resolves after the first comparison. */
  readonly start: () => Promise<void>
  readonly stop: () => void
  /** The last known head of the upstream at this place in the list; `undefined` until it had a credible one. */
  readonly head: (index: number) => number | undefined
  /** Records a head that the upstream at this place responded with. @returns Whether it is credible. */
  readonly saw: (index: number, head: number) => boolean
  /** Whether a head that some upstream responded with is credible. @see `createHeads` */
  readonly isCredible: (head: number) => boolean
  /** Queries the head of the upstream at this index, unless it was queried in the last second. */
  readonly refresh: (index: number) => void
  /** Queries the head of the upstream at this index, unless a query is in flight. Resolves when it ends. */
  readonly refreshNow: (index: number) => Promise<void>
}

interface LagOptions {
  readonly maxLagBlocks: number
  readonly rewritable: boolean
  readonly timeoutMs: number
  readonly polls: Polls
  readonly shared?: { readonly checks: SharedChecks; readonly name: string } | undefined
}

/**
 * Watches which upstreams sync or lag behind. All of them are queried at the same moment: on a fast chain, heads read at different times differ
 * even if no node lags. An upstream that does not respond keeps its last state.
 *
 * A node reports by `eth_syncing` that it syncs. That is queried less often, because a node starts to sync only when it starts or has fallen behind:
 * every 30 seconds, and with each comparison while a node syncs or was just unreachable.
 *
 * An upstream whose head is not credible counts as one that lags, because it does not follow the chain of the others.
 * @param options.polls - The polls of the network.
 * @param options.maxLagBlocks - How many blocks an upstream may be behind the highest head.
 * @param options.rewritable - Whether callers can rewrite the chain, so that any head is credible.
 * @param options.shared - The checks that instances share, and the name of this one. What one instance gets in a comparison counts for all of them, and
 * each queries only the upstreams that the result lacks.
 */
export const watchLag = (members: readonly GroupMember[], options: LagOptions): LagWatch => {
  const timeoutMs = Math.min(options.timeoutMs, maxTimeoutMs)
  const several = members.length > 1
  let stopped = false
  let syncingQueriedAt = -Infinity
  const allHeads = createHeads({ tolerance: options.maxLagBlocks, trusting: options.rewritable || !several })
  /** The upstreams whose `eth_syncing` is queried. */
  const toQuery = new Set<GroupMember>()

  const query = ({ upstream, health }: GroupMember, method: string): Promise<QueryResult> | undefined =>
    health.isUsable() ? queryUpstream(upstream, { method, params: '[]' }, timeoutMs) : undefined
  const getHead = async (member: GroupMember, known: Responses): Promise<number | undefined> =>
    member.health.isUsable()
      ? (getKnown(member, known)?.head ?? getQuantity((await query(member, 'eth_blockNumber')) ?? 'skipped'))
      : undefined
  const querySyncing = async (member: GroupMember, known: Responses): Promise<boolean | undefined> => {
    const syncing = getKnown(member, known)?.syncing ?? parseSyncing(await query(member, 'eth_syncing'))
    if (stopped) return undefined
    if (syncing !== true && member.health.isUsable()) toQuery.delete(member)
    if (syncing !== undefined) member.health.setSyncing(syncing)
    return syncing
  }
  /** @param known - What another instance just got. @returns What the upstreams responded. */
  const compareHeads = async (known: Responses = new Map()): Promise<Responses> => {
    const sinceSyncing = performance.now() - syncingQueriedAt
    // The instance that queries the heads queries all upstreams when that is due there.
    const isSyncingDue = sinceSyncing >= (known.size === 0 ? syncingIntervalMs : 2 * syncingIntervalMs)
    if (isSyncingDue || [...known.values()].some(({ syncing }) => syncing !== undefined))
      syncingQueriedAt = performance.now()
    for (const member of members)
      if (several && (isSyncingDue || !member.health.isUsable() || getKnown(member, known)?.syncing !== undefined))
        toQuery.add(member)
    const queried = [...toQuery]
    const [heads, syncing] = await Promise.all([
      Promise.all(members.map((member) => getHead(member, known))),
      Promise.all(queried.map((member) => querySyncing(member, known))),
    ])
    if (stopped) return new Map()
    const highest = allHeads.compare(heads)
    for (const [index, { health }] of members.entries()) {
      const head = heads[index]
      if (head !== undefined) health.setLagging(allHeads.isDoubted(index) || highest - head > options.maxLagBlocks)
    }
    return toResponses(members, heads, new Map(queried.map((member, index) => [member, syncing[index]])))
  }
  const { refresh, refreshNow } = createRefresh(
    async (index) => getQuantity((await query(members[index] as GroupMember, 'eth_blockNumber')) ?? 'skipped'),
    (index, head) => report(index, head),
  )
  const report = (index: number, head: number): boolean => {
    const wasDoubted = members.map((_, place) => allHeads.isDoubted(place))
    const isCredible = allHeads.report(index, head)
    for (const [place, { health }] of members.entries())
      if (several && wasDoubted[place] !== allHeads.isDoubted(place)) health.setLagging(wasDoubted[place] !== true)
    // The others show at once if the chain has got there.
    if (!isCredible) for (const place of members.keys()) if (place !== index) refresh(place)
    return isCredible
  }
  const onSharedResponses = (shared: unknown): void => {
    if (stopped || options.shared?.checks.isTrusted() !== true) return
    const known = parseResponses(shared)
    // Otherwise each instance would query all upstreams at once.
    if (members.every((member) => getKnown(member, known) === undefined)) return
    void compareHeads(known)
    comparisons.postpone()
  }
  const check: SharedCheck | undefined = options.shared?.checks.join(options.shared.name, onSharedResponses)
  const comparisons = options.polls.create(
    async () => {
      const responses = await compareHeads()
      if (!stopped) check?.publish([...responses].map(([id, { head, syncing }]) => [id, head, syncing]))
    },
    () => (several ? intervalMs : singleIntervalMs),
    check?.claim,
  )
  return {
    start: async () => {
      const compared = comparisons.run()
      if (several) await compared
    },
    stop: () => {
      stopped = true
      comparisons.stop()
      check?.leave()
    },
    head: allHeads.get,
    // A response that was slow may be older than what is known. The next comparison finds a chain that went back.
    saw: (index, head) => head <= (allHeads.get(index) ?? -1) || report(index, head),
    isCredible: allHeads.isCredible,
    refresh,
    refreshNow,
  }
}

/**
 * Reads heads between two comparisons. An upstream gets one query at a time and, with `refresh`, one a second.
 * @param onHead - Called with each head that is read.
 */
const createRefresh = (
  readHead: (index: number) => Promise<number | undefined>,
  onHead: (index: number, head: number) => void,
): Pick<LagWatch, 'refresh' | 'refreshNow'> => {
  const startedAt: (number | undefined)[] = []
  const running: (Promise<void> | undefined)[] = []
  const run = async (index: number): Promise<void> => {
    startedAt[index] = performance.now()
    const head = await readHead(index)
    running[index] = undefined
    if (head !== undefined) onHead(index, head)
  }
  const refreshNow = (index: number): Promise<void> => (running[index] ??= run(index))
  return {
    refresh: (index) => {
      if (performance.now() - (startedAt[index] ?? -Infinity) >= minRefreshMs) void refreshNow(index)
    },
    refreshNow,
  }
}

/** What an upstream responded in a comparison. */
interface Response {
  readonly head: number
  /** `undefined`: it was not queried, or did not respond. */
  readonly syncing?: boolean | undefined
}

/** By the id of the upstream that instances share. */
type Responses = ReadonlyMap<string, Response>

const toResponses = (
  members: readonly GroupMember[],
  heads: readonly (number | undefined)[],
  syncing: ReadonlyMap<GroupMember, boolean | undefined>,
): Responses => {
  const responses = new Map<string, Response>()
  for (const [index, member] of members.entries()) {
    const { sharedId } = member.health
    const head = heads[index]
    if (head !== undefined && sharedId !== undefined) responses.set(sharedId, { head, syncing: syncing.get(member) })
  }
  return responses
}

const getKnown = ({ health }: GroupMember, known: Responses): Response | undefined =>
  health.sharedId === undefined ? undefined : known.get(health.sharedId)

/** Parses what another instance published. */
const parseResponses = (shared: unknown): Responses => {
  const known = new Map<string, Response>()
  for (const one of Array.isArray(shared) ? (shared as unknown[]) : []) {
    const [id, head, syncing] = Array.isArray(one) ? (one as unknown[]) : []
    if (typeof id !== 'string' || typeof head !== 'number' || !Number.isSafeInteger(head) || head < 0) continue
    known.set(id, { head, syncing: typeof syncing === 'boolean' ? syncing : undefined })
  }
  return known
}

/**
 * Parses the response to `eth_syncing`: `false`, or an object with the progress. A node that has all blocks that it knows of does not sync, even if it
 * sends an object all the same: then its head shows if it is behind.
 * @returns `undefined` for anything else, such as an error.
 */
const parseSyncing = (result: QueryResult | undefined): boolean | undefined => {
  if (result === undefined || typeof result === 'string' || result.member !== 'result') return undefined
  const text = result.value.toString('latin1')
  if (text === 'false') return false
  if (!text.startsWith('{')) return undefined
  const { currentBlock, highestBlock } = JSON.parse(text) as { readonly [name: string]: unknown }
  return !(parseProgress(currentBlock) >= parseProgress(highestBlock))
}

/** Parses a block of the progress, which some nodes send as a number; `NaN` if it is none. */
const parseProgress = (block: unknown): number =>
  typeof block === 'number' || (typeof block === 'string' && block !== '') ? Number(block) : NaN
