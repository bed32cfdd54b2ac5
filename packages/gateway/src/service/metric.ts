import type { KeyCacheState } from '../auth/key/createStoredKeys.ts'
import type { Durations } from '../lib/createDurations.ts'
import type { WebSocketState } from '../proxy/gateway.ts'
import type { GatewayLoad } from '../proxy/gatewayLoad.ts'
import type { UpstreamState } from '../proxy/upstream/groupMember.ts'
import type { StoreUses } from '../proxy/upstream/store/networkStore.ts'
import type { DropReason as StoreDropReason } from '../storage/chainStore/chainStore.ts'
import type { PoolState } from '../storage/database.ts'
import type { LimitCounts } from '../usage/limits/countDecisions.ts'
import type { MeterStatus } from '../usage/metering/meter.ts'
import type { DropReason } from '../usage/requestLog/createRequestRecorder.ts'
import type { MetricCounts, MetricValue } from './createMetricCounts.ts'
import type { StoreState } from './watchStores.ts'

/** How busy the database and Redis are. */
export interface StoreLoad {
  /** The database and, if there is one, Redis. */
  readonly stores: readonly StoreState[]
  /** `undefined` with SQLite. */
  readonly pool: PoolState | undefined
  /** Commands that Redis has not replied to; `undefined` without Redis. */
  readonly redisPending: number | undefined
}

/** What the chain store had of calls, and what it did not store. */
export interface ChainStoreState {
  readonly uses: readonly StoreUses[]
  readonly dropped: Readonly<Partial<Record<StoreDropReason, number>>>
}

/** The parts of a service whose state is read at each scrape. */
export interface GaugeSources {
  /** Of Keyrail. @default 'unknown' */
  readonly version?: string | undefined
  /** Every upstream of the current config. */
  readonly upstreams: () => readonly UpstreamState[]
  readonly webSockets: () => WebSocketState
  readonly load: () => GatewayLoad
  /** `undefined` without a chain store. */
  readonly chainStore?: (() => ChainStoreState | undefined) | undefined
  readonly keys: () => KeyCacheState
  readonly limits: () => LimitCounts
  readonly stores: () => StoreLoad
  readonly metering: () => MeterStatus
  readonly droppedRequests: () => Readonly<Record<DropReason, number>>
  /** How many log lines were dropped. @default () => 0 */
  readonly droppedLogLines?: (() => number) | undefined
}

/** What metrics are read from. */
export interface MetricSources extends GaugeSources {
  readonly counts: MetricCounts
}

interface MetricHead {
  readonly name: string
  readonly help: string
  /** @default none */
  readonly labels?: readonly string[]
}

/** A metric whose values are read at each scrape. */
export type Metric = MetricHead &
  (
    | {
        readonly type: 'counter' | 'gauge'
        readonly read: (sources: MetricSources) => readonly MetricValue[]
      }
    | {
        readonly type: 'histogram'
        /** In seconds. */
        readonly bounds: readonly number[]
        readonly read: (sources: MetricSources) => readonly MetricValue<Durations>[]
      }
  )

/** Reads one value without labels; none if it is `undefined`. */
export const one =
  (get: (sources: MetricSources) => number | undefined) =>
  (sources: MetricSources): readonly MetricValue[] => {
    const value = get(sources)
    return value === undefined ? [] : [[value]]
  }

export const byName = (values: Readonly<Record<string, number>>): readonly MetricValue[] =>
  Object.entries(values).map(([name, value]) => [value, name])

export const byNetwork = (values: Iterable<readonly [network: string, value: number]>): readonly MetricValue[] =>
  [...values].map(([network, value]) => [value, network])

export const byNetworkAndName = (
  networks: Iterable<readonly [network: string, values: Iterable<readonly [name: string, value: number]>]>,
): readonly MetricValue[] =>
  [...networks].flatMap(([network, values]) => [...values].map(([name, value]): MetricValue => [value, network, name]))

/** Reads one value of each upstream; none if it is `null`. */
export const ofUpstream =
  <Value>(get: (state: UpstreamState) => Value | null) =>
  ({ upstreams }: MetricSources): readonly MetricValue<Value>[] =>
    upstreams().flatMap((state): readonly MetricValue<Value>[] => {
      const value = get(state)
      return value === null ? [] : [[value, state.network, state.upstream]]
    })

/** Reads several values of each upstream, by name. */
export const ofUpstreamByName =
  (get: (state: UpstreamState) => Iterable<readonly [name: string, value: number]>) =>
  ({ upstreams }: MetricSources): readonly MetricValue[] =>
    upstreams().flatMap((state) =>
      [...get(state)].map(([name, value]): MetricValue => [value, state.network, state.upstream, name]),
    )
