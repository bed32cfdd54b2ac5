import { hash } from 'node:crypto'
import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { chooseUpstream, drawRoom, hasRoom, isBehind, offers } from './chooseUpstream.ts'
import type { PickOptions } from './chooseUpstream.ts'
import type { LoadBalancing } from '../options/networkOptions.ts'
import { getNodeGroup } from '../options/upstreamOptions.ts'
import type { UpstreamOptions } from '../options/upstreamOptions.ts'
import type { UpstreamEvent } from './health/watchHealth.ts'
import { createBackoff } from './health/createBackoff.ts'
import { createConfirmations } from './confirm/createConfirmations.ts'
import type { Confirmations } from './confirm/createConfirmations.ts'
import type { SavedCounts } from '../../usage/traffic/createNodeTraffic.ts'
import type { Budget } from './health/createBudget.ts'
import { createCallerViews } from './createCallerViews.ts'
import type { CallerViews } from './createCallerViews.ts'
import { createCapabilities } from './health/createCapabilities.ts'
import { createMember, getUpstreamState } from './groupMember.ts'
import type { GroupMember, UpstreamState } from './groupMember.ts'
import type { LogEntry } from '../log.ts'
import type { Network } from '../../lib/network.ts'
import type { ChainStore } from '../../storage/chainStore/chainStore.ts'
import type { SharedChecks } from '../../storage/redis/createSharedChecks.ts'
import { createConfirmedNulls } from './createConfirmedNulls.ts'
import type { ConfirmedNulls } from './createConfirmedNulls.ts'
import { createResponseCache } from './createResponseCache.ts'
import type { ResponseCache } from './createResponseCache.ts'
import { createDeadlines } from '../../lib/createDeadlines.ts'
import type { Deadlines } from '../../lib/createDeadlines.ts'
import { createFilters } from './createFilters.ts'
import type { Filters } from './createFilters.ts'
import { createDisputes } from './health/createDisputes.ts'
import { createFinality } from './health/createFinality.ts'
import { createInFlightReads } from './createInFlightReads.ts'
import type { InFlightReads } from './createInFlightReads.ts'
import { createFairQueue } from '../../lib/createFairQueue.ts'
import type { FairQueue } from '../../lib/createFairQueue.ts'
import { createLogRanges } from './logs/createLogRanges.ts'
import type { LogRanges } from './logs/createLogRanges.ts'
import { createPolls } from './health/createPolls.ts'
import type { Polls } from './health/createPolls.ts'
import { createUpstream } from './createUpstream.ts'
import { isNull } from './getNullMeaning.ts'
import { queryUpstream } from './queryUpstream.ts'
import { readErrorKind } from './classifyFailure.ts'
import { createNetworkStore } from './store/createNetworkStore.ts'
import type { NetworkStore } from './store/networkStore.ts'
import type { NetworkStoreParts } from './store/networkStoreParts.ts'
import { watchHealth } from './health/watchHealth.ts'
import { watchLag } from './health/watchLag.ts'

/** The upstreams of one network, and what they share. */
export interface UpstreamGroup {
  readonly network: Network
  readonly chainId: number
  /** After how many milliseconds a cheap read is sent to a second upstream too; `undefined`: it is not hedged, or the percentile is not known yet. */
  readonly getHedgeMs: (member: GroupMember) => number | undefined
  /** Chooses the upstream for a call. @see `chooseUpstream` */
  readonly pick: (options?: PickOptions) => GroupMember | undefined
  /** Call this for a call that goes to an upstream without `pick`, so that the network does not count as idle. */
  readonly markUsed: () => void
  /**
   * Gets room in a budget if `pick` found no upstream for these options.
   * @param only - The only upstream that may get the calls.
   * @returns Resolves to whether to pick again; `undefined`: nothing changes by waiting.
   */
  readonly drawRoom: (options: PickOptions, only?: GroupMember) => Promise<boolean> | undefined
  /** Explains why `pick` found no upstream for these options. */
  readonly explainNoPick: (options?: PickOptions) => Rejection
  /** Whether any upstream is reachable, and on the right chain or too busy to say on which. */
  readonly isUsable: () => boolean
  /** Whether there is more than one upstream. */
  readonly several: boolean
  /** The newest block that any upstream is known to have; 0 if none is known. */
  readonly highestHead: () => number
  /** The newest block of an upstream that another one is at most `maxLagBlocks` from; 0 if there is none. */
  readonly supportedHead: () => number
  /** Whether a head that some upstream responded with is credible. @see `createHeads` */
  readonly isCredibleHead: (head: number) => boolean
  /** The current state of each upstream, in the order of the config. */
  readonly states: () => readonly UpstreamState[]
  readonly inFlightReads: InFlightReads
  readonly queue: FairQueue
  readonly deadlines: Deadlines
  readonly cache: ResponseCache
  readonly confirmedNulls: ConfirmedNulls
  readonly confirmations: Confirmations
  /** Counts the calls that no upstream was sent. */
  readonly saved: SavedCounts
  /** The upstreams of the same group as this one, itself included. */
  readonly getPeers: (member: GroupMember) => readonly GroupMember[]
  /** Queries the heads of the upstreams that are not known to have a block. Resolves once they have responded. */
  readonly refreshHeads: (block: number) => Promise<void>
  readonly filters: Filters
  /** What the chain store has of this network; `undefined` without a chain store. */
  readonly store: NetworkStore | undefined
  /** `undefined` if `eth_getLogs` must not be split. */
  readonly logRanges: LogRanges<GroupMember> | undefined
  /** What each key's callers have seen: the newest block, and the upstream of their last write. */
  readonly views: CallerViews<GroupMember>
  /** The same for the newest safe and finalized block, of this instance only. */
  readonly finalViews: {
    readonly safe: CallerViews<GroupMember>
    readonly finalized: CallerViews<GroupMember>
  }
  readonly maxLagBlocks: number
  /** To how many upstreams a raw transaction is sent at once. */
  readonly broadcast: number
  /** Whether results are verified. */
  readonly verifyResults: boolean
  /** Starts the health checks. Resolves once each upstream was probed. */
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Options of an upstream group. */
export interface UpstreamGroupOptions {
  readonly network: Network
  readonly chainId: number
  /** In the order of preference. Logs use `name`. */
  readonly upstreams: readonly UpstreamOptions[]
  readonly loadBalancing: LoadBalancing
  readonly maxLagBlocks: number
  /** How many blocks behind its head a block is final at nodes without the tag `finalized`. @default none is final */
  readonly finalityDepth?: number
  readonly hedgeMs?: number | 'p95'
  readonly broadcast: number | 'all'
  readonly verifyResults: boolean
  readonly splitLogs: boolean
  /** Whether callers can rewrite the chain of the nodes, as that of a development node. */
  readonly rewritable: boolean
  /** Creates the budget of an upstream, with what it was sent before, also by an earlier group. */
  readonly createBudget: (upstream: UpstreamOptions) => Budget
  /** Counts the calls that no upstream was sent. */
  readonly saved: SavedCounts
  readonly timeoutMs: number
  /** 0 turns the cache off. */
  readonly maxCacheBytes: number
  /** @default none */
  readonly chainStore?: ChainStore | undefined
  /** Whether traces are stored in it. @default false */
  readonly cacheTraces?: boolean
  /** For each key. */
  readonly maxFilters: number
  /** The checks that the instances of a cluster share; `undefined`: there are no others. */
  readonly checks: SharedChecks | undefined
  readonly log: (entry: LogEntry) => void
}

/** What a member shares with the others of its group. */
interface MemberContext extends Pick<GroupMember, 'head' | 'sawHead'> {
  readonly polls: Polls
  /** Called when the node has a chain that goes back behind what was final. */
  readonly onBack: () => void
  readonly shared: { readonly checks: SharedChecks; readonly name: string } | undefined
}

const createGroupMember = (
  upstreamOptions: UpstreamOptions,
  { network, chainId, timeoutMs, finalityDepth, createBudget, log }: UpstreamGroupOptions,
  { polls, head, sawHead, onBack, shared }: MemberContext,
): GroupMember => {
  const { name, url, wsUrl: _wsUrl, headers, ...nodeOptions } = upstreamOptions
  const budget = createBudget(upstreamOptions)
  const onState = (state: UpstreamEvent, reason?: string): void =>
    log({ event: 'upstream', network, upstream: name, state, reason })
  const backoff = createBackoff({ onPause: () => onState('throttled') })
  const upstream = createUpstream(url, { headers, budget, backoff })
  const capabilities = createCapabilities(nodeOptions, {
    head,
    testState: async (test) => {
      const response = await queryUpstream(upstream, test, timeoutMs)
      if (typeof response === 'string') return undefined
      if (response.member === 'result') return !isNull(response.value)
      return readErrorKind(response.value, test.method) === 'missingData' ? false : undefined
    },
  })
  const member: GroupMember = createMember({
    name,
    urlHash: hash('sha256', url.href),
    upstream,
    health: watchHealth(upstream, {
      chainId,
      timeoutMs,
      polls,
      hasChainId: capabilities.offers('eth_chainId'),
      onState,
      onLatency: (ms) => member.latency.addProbe(ms),
      shared,
    }),
    finality: createFinality(upstream, { timeoutMs, onBack, depth: finalityDepth, head }),
    budget,
    disputes: createDisputes({ onDemote: () => onState('outvoted') }),
    group: getNodeGroup(nodeOptions, url),
    capabilities,
    head,
    sawHead,
    weight: nodeOptions.weight,
    privateTransactions: nodeOptions.privateTransactions,
    maxLogBlocks: nodeOptions.maxLogBlocks,
  })
  return member
}

/** Creates the group of one network's upstreams. */
export const createUpstreamGroup = (options: UpstreamGroupOptions): UpstreamGroup => {
  const { network, chainId, loadBalancing, hedgeMs, timeoutMs, checks } = options
  const share = (...names: unknown[]) => checks && { checks, name: JSON.stringify([network, chainId, ...names]) }
  const cache = createResponseCache(options.maxCacheBytes)
  const polls = createPolls()
  const members = options.upstreams.map((upstream, index) =>
    createGroupMember(upstream, options, {
      polls,
      head: () => lag.head(index),
      sawHead: (block) => lag.saw(index, block),
      onBack: () => {
        cache.clear()
        store?.verifyAgain()
      },
      shared: share(upstream.url, upstream.headers),
    }),
  )
  const lag = watchLag(members, {
    maxLagBlocks: options.maxLagBlocks,
    rewritable: options.rewritable,
    timeoutMs,
    polls,
    shared: share('heads'),
  })
  const logRanges: UpstreamGroup['logRanges'] = options.splitLogs
    ? createLogRanges({ getLimit: ({ maxLogBlocks }) => maxLogBlocks })
    : undefined
  const store = createStore(options, { members, polls, logRanges, onReplaced: cache.clear })
  const several = members.length > 1
  const views = createCallerViews({ members, heads: options.rewritable ? 'none' : several ? 'monotonic' : 'latest' })
  /** Heads are compared every few seconds: upstreams that a caller's head would exclude for this long are queried again. */
  const refreshHeads = (picked: GroupMember | undefined, seenHead: number): void => {
    for (let index = 0; index < members.length; index += 1) {
      const member = members[index] as GroupMember
      if (isBehind(member, seenHead)) lag.refresh(index)
      // In order, those after the chosen one are not needed.
      if (loadBalancing === 'order' && member === picked) return
    }
  }
  const highestHead = (): number => getHighestHead(members)
  return {
    network,
    chainId,
    highestHead,
    supportedHead: () => getSupportedHead(members, options.maxLagBlocks),
    isCredibleHead: lag.isCredible,
    getHedgeMs: hedgeMs === 'p95' ? getP95HedgeMs : () => hedgeMs,
    markUsed: polls.markUsed,
    pick: (pickOptions) => {
      polls.markUsed()
      const keyId = pickOptions?.keyId
      const preferred = keyId === undefined ? undefined : views.getWriter(keyId)
      const picked = chooseUpstream(members, pickOptions, { loadBalancing, preferred })
      if (pickOptions?.seenHead !== undefined) refreshHeads(picked, pickOptions.seenHead)
      return picked
    },
    drawRoom: (pickOptions, only) => drawRoom(only === undefined ? members : [only], pickOptions),
    explainNoPick: (pickOptions) => explainNoPick(members, network, pickOptions),
    isUsable: () => members.some(({ health }) => health.isUsable()) || members.some(isOnlyBusy),
    several,
    views,
    states: () => {
      const highest = highestHead()
      return members.map((member) => getUpstreamState(member, network, highest))
    },
    inFlightReads: createInFlightReads({ joinableMs: Math.min(timeoutMs / 2, maxJoinableMs) }),
    queue: createFairQueue(),
    deadlines: createDeadlines(timeoutMs),
    cache,
    saved: options.saved,
    confirmedNulls: createConfirmedNulls(maxConfirmedNulls),
    confirmations: createConfirmations(network, options.log),
    getPeers: ({ group }) => members.filter((member) => member.group === group),
    refreshHeads: async (block) => {
      await Promise.all(members.flatMap((member, index) => (isBehind(member, block) ? lag.refreshNow(index) : [])))
    },
    filters: createFilters({ maxPerKey: options.maxFilters }),
    finalViews: createFinalViews(members, options.rewritable),
    maxLagBlocks: options.maxLagBlocks,
    store,
    verifyResults: options.verifyResults,
    broadcast: options.broadcast === 'all' ? members.length : options.broadcast,
    logRanges,
    start: async () => {
      await Promise.all(members.map(async ({ health }) => health.start()))
      await lag.start()
      store?.start()
    },
    close: async () => {
      store?.stop()
      lag.stop()
      for (const { health } of members) health.stop()
      await Promise.all(members.map(({ upstream }) => upstream.close()))
    },
  }
}

const getP95HedgeMs: UpstreamGroup['getHedgeMs'] = ({ latency }) => {
  const p95 = latency.p95()
  return p95 === undefined ? undefined : Math.max(p95, minHedgeMs)
}

/** Creates what the chain store has of the network, if there is one. */
const createStore = (
  { chainStore, cacheTraces: traces = false, network, chainId, timeoutMs, log }: UpstreamGroupOptions,
  parts: Pick<NetworkStoreParts, 'members' | 'polls' | 'logRanges' | 'onReplaced'>,
): NetworkStore | undefined =>
  chainStore &&
  createNetworkStore({
    store: chainStore,
    network,
    chainId,
    ...parts,
    traces,
    timeoutMs,
    warn: (what) => log({ event: 'warning', what }),
  })

const getHighestHead = (members: readonly GroupMember[]): number => {
  let highest = 0
  for (const member of members) highest = Math.max(highest, member.head() ?? 0)
  return highest
}

/** The highest head that a second member is near. */
const getSupportedHead = (members: readonly GroupMember[], maxLagBlocks: number): number => {
  const heads = members.flatMap((member) => member.head() ?? [])
  const isSupported = (head: number): boolean =>
    heads.filter((other) => Math.abs(head - other) <= maxLagBlocks).length > 1
  return Math.max(0, ...heads.filter(isSupported))
}

/** Whether an upstream may work: it rejects calls for their rate, or its budget of the day is used up, so that it is not checked. */
const isOnlyBusy = ({ health, budget }: GroupMember): boolean => health.isOnlyThrottled() || budget.isUsedUp()

/** The views of the tags of final blocks, which are older than those of `latest`, and forgotten later. */
const createFinalViews = (members: readonly GroupMember[], rewritable: boolean): UpstreamGroup['finalViews'] => {
  const create = (): CallerViews<GroupMember> =>
    createCallerViews({ members, heads: rewritable ? 'none' : 'monotonic', forgetMs: forgetFinalMs })
  return { safe: create(), finalized: create() }
}

const explainNoPick = (members: readonly GroupMember[], network: Network, options: PickOptions = {}): Rejection => {
  const usable = members.filter(({ health }) => health.isUsable())
  if (usable.length === 0) return members.some(isOnlyBusy) ? rejections.upstreamBusy() : rejections.noUpstream(network)
  const unknown = options.calls?.find((call) => !members.some((member) => offers(member, call)))
  if (unknown !== undefined) return rejections.methodNotFound(unknown.method)
  return usable.some((member) => !hasRoom(member, options)) ? rejections.upstreamBusy() : rejections.noUpstream(network)
}

/** A hedge after less time than this would only double the load. */
const minHedgeMs = 10

const maxConfirmedNulls = 10_000
/** Nodes differ by minutes in which block is final, and some chains finalize only a few times an hour. */
const forgetFinalMs = 3_600_000
/** About a block time: the response to a read that is joined later could be out of date. */
const maxJoinableMs = 2_000
