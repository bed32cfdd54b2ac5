import type { GroupMember } from './groupMember.ts'
import type { LogEntry } from '../log.ts'
import type { Network } from '../../lib/network.ts'
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

/** The upstreams of one network, and what their answers have in common. */
export interface UpstreamGroup {
  readonly network: Network
  readonly chainId: number
  /** After how many milliseconds a light read is asked of a second upstream too. */
  readonly hedgeMs: number | undefined
  /**
   * The upstream to ask, but for `not`: the first in the order of the configuration that nothing speaks against, else the first
   * that can be reached at all. The order is kept, rather than load spread, so that a caller's next read meets the node that took
   * its last write.
   * @param mayFail - For a call that can be sent to another upstream if it fails: the upstream may be one that is due for a trial.
   */
  readonly pick: (not?: GroupMember, mayFail?: boolean) => GroupMember | undefined
  /** Whether there is more than one. */
  readonly several: boolean
  /** What is known of each upstream now, in the order of the configuration. */
  readonly states: () => readonly UpstreamState[]
  readonly inFlightReads: InFlightReads
  readonly queue: FairQueue
  readonly deadlines: Deadlines
  readonly cache: ResponseCache
  readonly filters: Filters
  /** Probes all once, then goes on probing. */
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

/** What is known of an upstream. */
export interface UpstreamState {
  readonly network: Network
  /** Its name in the configuration; two may have the same. */
  readonly upstream: string
  /** Whether it is reachable, on the right chain, not behind the others, and its circuit breaker is closed. */
  readonly healthy: boolean
}

/** What a group is made of. */
export interface UpstreamGroupOptions {
  readonly network: Network
  readonly chainId: number
  /** In the order of preference; `name` is what logs call one. */
  readonly upstreams: readonly { readonly name: string; readonly address: URL }[]
  readonly maxLagBlocks: number
  readonly hedgeMs: number | undefined
  readonly timeoutMs: number
  /** 0 keeps no answers. */
  readonly maxCacheBytes: number
  /** Of one key. */
  readonly maxFilters: number
  readonly log: (entry: LogEntry) => void
}

/** Makes the group of one network's upstreams. */
export const createUpstreamGroup = (options: UpstreamGroupOptions): UpstreamGroup => {
  const { network, chainId, hedgeMs, timeoutMs, log } = options
  const cache = createResponseCache(options.maxCacheBytes)
  const members = options.upstreams.map(({ name, address }): GroupMember => {
    const upstream = createUpstream(address)
    const onState = (state: HealthState): void => log({ event: 'upstream', network, upstream: name, state })
    return {
      name,
      upstream,
      health: watchHealth(upstream, { chainId, timeoutMs, onState }),
      finality: createFinality(upstream, { timeoutMs, onBack: cache.clear }),
    }
  })
  const lag = watchLag(members, { maxLagBlocks: options.maxLagBlocks, timeoutMs })
  return {
    network,
    chainId,
    hedgeMs,
    pick: (not, mayFail = false) => {
      for (const member of members)
        if (member !== not && (member.health.sound() || (mayFail && member.health.trialDue()))) return member
      return members.find((member) => member !== not && member.health.healthy())
    },
    several: members.length > 1,
    states: () => members.map(({ name, health }) => ({ network, upstream: name, healthy: health.sound() })),
    inFlightReads: createInFlightReads({ joinableMs: Math.min(timeoutMs / 2, longestJoinableMs) }),
    queue: createFairQueue(),
    deadlines: createDeadlines(timeoutMs),
    cache,
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

/** About the time of a block: a read joined later than that would tell of a chain that is gone. */
const longestJoinableMs = 2_000
