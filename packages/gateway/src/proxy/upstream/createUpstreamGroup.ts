import { chooseUpstream } from './chooseUpstream.ts'
import type { PickOptions } from './chooseUpstream.ts'
import type { GroupMember } from './groupMember.ts'
import type { LogEntry } from '../log.ts'
import type { Network } from '../../lib/network.ts'
import { createConfirmedNulls } from './createConfirmedNulls.ts'
import type { ConfirmedNulls } from './createConfirmedNulls.ts'
import { createResponseCache } from './createResponseCache.ts'
import type { ResponseCache } from './createResponseCache.ts'
import { createDeadlines } from '../../lib/createDeadlines.ts'
import type { Deadlines } from '../../lib/createDeadlines.ts'
import { createFilters } from './createFilters.ts'
import type { Filters } from './createFilters.ts'
import { createFinality } from './createFinality.ts'
import { createInFlightReads } from './createInFlightReads.ts'
import type { InFlightReads } from './createInFlightReads.ts'
import { createFairQueue } from '../../lib/createFairQueue.ts'
import type { FairQueue } from '../../lib/createFairQueue.ts'
import { createUpstream } from './createUpstream.ts'
import { watchHealth } from './watchHealth.ts'
import type { HealthState } from './watchHealth.ts'
import { watchLag } from './watchLag.ts'

/** The upstreams of one network, and what they share. */
export interface UpstreamGroup {
  readonly network: Network
  readonly chainId: number
  /** After how many milliseconds a cheap read is sent to a second upstream too. */
  readonly hedgeMs: number | undefined
  /** Chooses the upstream for a call. @see `chooseUpstream` */
  readonly pick: (options?: PickOptions) => GroupMember | undefined
  /** Whether there is more than one upstream. */
  readonly several: boolean
  /** The current state of each upstream, in the order of the config. */
  readonly states: () => readonly UpstreamState[]
  readonly inFlightReads: InFlightReads
  readonly queue: FairQueue
  readonly deadlines: Deadlines
  readonly cache: ResponseCache
  readonly confirmedNulls: ConfirmedNulls
  readonly filters: Filters
  /** Starts the health checks. Resolves once each upstream was probed. */
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The state of an upstream. */
export interface UpstreamState {
  readonly network: Network
  /** Its name in the config. Names may repeat. */
  readonly upstream: string
  /** Whether it is reachable, on the right chain, not behind the others, and its circuit breaker is closed. */
  readonly healthy: boolean
}

/** Options of an upstream group. */
export interface UpstreamGroupOptions {
  readonly network: Network
  readonly chainId: number
  /** In the order of preference. Logs use `name`. */
  readonly upstreams: readonly { readonly name: string; readonly url: URL }[]
  readonly maxLagBlocks: number
  readonly hedgeMs: number | undefined
  readonly timeoutMs: number
  /** 0 turns the cache off. */
  readonly maxCacheBytes: number
  /** For each key. */
  readonly maxFilters: number
  readonly log: (entry: LogEntry) => void
}

/** Creates the group of one network's upstreams. */
export const createUpstreamGroup = (options: UpstreamGroupOptions): UpstreamGroup => {
  const { network, chainId, hedgeMs, timeoutMs, log } = options
  const cache = createResponseCache(options.maxCacheBytes)
  const members = options.upstreams.map(({ name, url }, index): GroupMember => {
    const upstream = createUpstream(url)
    const onState = (state: HealthState): void => log({ event: 'upstream', network, upstream: name, state })
    return {
      name,
      upstream,
      health: watchHealth(upstream, { chainId, timeoutMs, onState }),
      finality: createFinality(upstream, { timeoutMs, onBack: cache.clear }),
      head: () => lag.head(index),
      observe: () => {},
    }
  })
  const lag = watchLag(members, { maxLagBlocks: options.maxLagBlocks, timeoutMs })
  return {
    network,
    chainId,
    hedgeMs,
    pick: (pickOptions) => chooseUpstream(members, pickOptions),
    several: members.length > 1,
    states: () => members.map(({ name, health }) => ({ network, upstream: name, healthy: health.isHealthy() })),
    inFlightReads: createInFlightReads({ joinableMs: Math.min(timeoutMs / 2, maxJoinableMs) }),
    queue: createFairQueue(),
    deadlines: createDeadlines(timeoutMs),
    cache,
    confirmedNulls: createConfirmedNulls(maxConfirmedNulls),
    filters: createFilters({ maxPerKey: options.maxFilters }),
    start: async () => {
      await Promise.all(members.map(({ health }) => health.start()))
      await lag.start()
    },
    close: async () => {
      lag.stop()
      for (const { health } of members) health.stop()
      await Promise.all(members.map(({ upstream }) => upstream.close()))
    },
  }
}

const maxConfirmedNulls = 10_000
/** About a block time: the response to a read that is joined later could be out of date. */
const maxJoinableMs = 2_000
