import type { KeyCacheState } from '../auth/key/createStoredKeys.ts'
import { durationBounds } from '../lib/createDurations.ts'
import type { Durations } from '../lib/createDurations.ts'
import type { WebSocketState } from '../proxy/gateway.ts'
import type { GatewayLoad } from '../proxy/gatewayLoad.ts'
import type { UpstreamState } from '../proxy/upstream/groupMember.ts'
import type { PoolState } from '../storage/database.ts'
import { limitWaitBounds } from '../usage/limits/countDecisions.ts'
import type { LimitCounts } from '../usage/limits/countDecisions.ts'
import type { MeterStatus } from '../usage/metering/meter.ts'
import type { DropReason } from '../usage/requestLog/createRequestLog.ts'
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

/** The parts of a service whose state is read at each scrape. */
export interface GaugeSources {
  /** Of Keyrail. @default 'unknown' */
  readonly version?: string | undefined
  /** Every upstream of the current config. */
  readonly upstreams: () => readonly UpstreamState[]
  readonly webSockets: () => WebSocketState
  readonly load: () => GatewayLoad
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
const one =
  (get: (sources: MetricSources) => number | undefined) =>
  (sources: MetricSources): readonly MetricValue[] => {
    const value = get(sources)
    return value === undefined ? [] : [[value]]
  }

const byName = (values: Readonly<Record<string, number>>): readonly MetricValue[] =>
  Object.entries(values).map(([name, value]) => [value, name])

const byNetwork = (values: Iterable<readonly [network: string, value: number]>): readonly MetricValue[] =>
  [...values].map(([network, value]) => [value, network])

const byNetworkAndName = (
  networks: Iterable<readonly [network: string, values: Iterable<readonly [name: string, value: number]>]>,
): readonly MetricValue[] =>
  [...networks].flatMap(([network, values]) => [...values].map(([name, value]): MetricValue => [value, network, name]))

/** Reads one value of each upstream; none if it is `null`. */
const ofUpstream =
  <Value>(get: (state: UpstreamState) => Value | null) =>
  ({ upstreams }: MetricSources): readonly MetricValue<Value>[] =>
    upstreams().flatMap((state): readonly MetricValue<Value>[] => {
      const value = get(state)
      return value === null ? [] : [[value, state.network, state.upstream]]
    })

/** Reads several values of each upstream, by name. */
const ofUpstreamByName =
  (get: (state: UpstreamState) => Iterable<readonly [name: string, value: number]>) =>
  ({ upstreams }: MetricSources): readonly MetricValue[] =>
    upstreams().flatMap((state) =>
      [...get(state)].map(([name, value]): MetricValue => [value, state.network, state.upstream, name]),
    )

/** The metrics of a service, in the order of the exposition. Every label has few values: networks, methods of the schema, outcomes, names of upstreams. */
export const metrics: readonly Metric[] = [
  {
    name: 'keyrail_build_info',
    help: 'The version of Keyrail and of Node. Always 1.',
    type: 'gauge',
    labels: ['version', 'node'],
    read: ({ version = 'unknown' }) => [[1, version, process.versions.node]],
  },
  {
    name: 'keyrail_requests_total',
    help: 'Requests to the networks, by HTTP status and rejection reason.',
    type: 'counter',
    labels: ['network', 'status', 'reason'],
    read: ({ counts }) => counts.requests(),
  },
  {
    name: 'keyrail_calls_total',
    help: 'Calls with a known API key, by outcome. Each call of a batch counts.',
    type: 'counter',
    labels: ['network', 'method', 'outcome'],
    read: ({ counts }) => counts.calls(),
  },
  {
    name: 'keyrail_units_total',
    help: 'The calls of keyrail_calls_total in units of rates and quotas: each counts as the weight of its method.',
    type: 'counter',
    labels: ['network', 'method', 'outcome'],
    read: ({ counts }) => counts.units(),
  },
  {
    name: 'keyrail_request_duration_seconds',
    help: 'Time from the request header to the end of the response.',
    type: 'histogram',
    labels: ['network'],
    bounds: durationBounds,
    read: ({ counts }) => counts.durations(),
  },
  {
    name: 'keyrail_client_disconnects_total',
    help: 'Requests whose client disconnected before the response was ready.',
    type: 'counter',
    read: one(({ counts }) => counts.state.disconnects),
  },
  {
    name: 'keyrail_websocket_connections',
    help: 'Open WebSockets.',
    type: 'gauge',
    labels: ['network'],
    read: ({ webSockets }) => byNetwork(webSockets().connections),
  },
  {
    name: 'keyrail_subscriptions',
    help: 'Subscriptions of open WebSockets, by kind.',
    type: 'gauge',
    labels: ['network', 'kind'],
    read: ({ webSockets }) =>
      [...webSockets().subscriptions].flatMap(([network, kinds]) =>
        byNetworkAndName([[network, Object.entries(kinds)]]),
      ),
  },
  {
    name: 'keyrail_notifications_total',
    help: 'Notifications of subscriptions that were sent, by kind.',
    type: 'counter',
    labels: ['network', 'kind'],
    read: ({ webSockets }) => byNetworkAndName(webSockets().notifications),
  },
  {
    name: 'keyrail_subscription_incomplete_blocks_total',
    help: 'Blocks whose logs were delivered although nothing confirmed that they are complete.',
    type: 'counter',
    labels: ['network'],
    read: ({ webSockets }) => byNetwork(webSockets().incompleteBlocks),
  },
  {
    name: 'keyrail_websocket_closed_total',
    help: 'WebSockets that have closed, by reason.',
    type: 'counter',
    labels: ['network', 'reason'],
    read: ({ counts }) => byNetworkAndName(counts.state.closedSockets),
  },
  {
    name: 'keyrail_upstream_healthy',
    help: 'Whether an upstream can be used: 1 if so, else 0.',
    type: 'gauge',
    labels: ['network', 'upstream'],
    read: ofUpstream(({ healthy }) => Number(healthy)),
  },
  {
    name: 'keyrail_upstream_in_flight',
    help: 'Requests to an upstream that have not ended.',
    type: 'gauge',
    labels: ['network', 'upstream'],
    read: ofUpstream(({ inFlight }) => inFlight),
  },
  {
    name: 'keyrail_upstream_head_block',
    help: 'The newest block of an upstream.',
    type: 'gauge',
    labels: ['network', 'upstream'],
    read: ofUpstream(({ head }) => head),
  },
  {
    name: 'keyrail_upstream_lag_blocks',
    help: 'How many blocks an upstream is behind the highest head of its network.',
    type: 'gauge',
    labels: ['network', 'upstream'],
    read: ofUpstream(({ lag }) => lag),
  },
  {
    name: 'keyrail_upstream_breaker_open',
    help: 'Whether the circuit breaker of an upstream is open: 1 if so, else 0.',
    type: 'gauge',
    labels: ['network', 'upstream'],
    read: ofUpstream(({ breakerOpen }) => Number(breakerOpen)),
  },
  {
    name: 'keyrail_upstream_latency_seconds',
    help: 'Moving average of the latency of cheap calls to an upstream.',
    type: 'gauge',
    labels: ['network', 'upstream'],
    read: ofUpstream(({ latencyMs }) => (latencyMs === null ? null : latencyMs / 1_000)),
  },
  {
    name: 'keyrail_upstream_budget_left',
    help: 'What is left of a limit of an upstream in the current second or day.',
    type: 'gauge',
    labels: ['network', 'upstream', 'limit'],
    read: ofUpstreamByName(({ budgets }) => budgets.map(({ name, left }) => [name, left])),
  },
  {
    name: 'keyrail_upstream_calls_total',
    help: 'Calls that an upstream was sent, by outcome: result, or the kind of failure. A call counts once for each upstream that it was sent to.',
    type: 'counter',
    labels: ['network', 'upstream', 'outcome'],
    read: ofUpstreamByName(({ outcomes }) => outcomes),
  },
  {
    name: 'keyrail_upstream_call_duration_seconds',
    help: 'Time from when a call was sent to an upstream until it ended.',
    type: 'histogram',
    labels: ['network', 'upstream'],
    bounds: durationBounds,
    read: ofUpstream(({ durations }) => durations),
  },
  {
    name: 'keyrail_http_connections',
    help: 'Open connections of callers, WebSockets included.',
    type: 'gauge',
    read: one(({ load }) => load().connections),
  },
  {
    name: 'keyrail_http_max_connections',
    help: 'The bound maxConnections of the config.',
    type: 'gauge',
    read: one(({ load }) => load().maxConnections),
  },
  {
    name: 'keyrail_http_requests_in_flight',
    help: 'Requests and WebSocket messages without a response yet.',
    type: 'gauge',
    read: one(({ load }) => load().requests),
  },
  {
    name: 'keyrail_buffered_bytes',
    help: "Bytes that requests, WebSockets, subscriptions and the service's own reads hold in memory.",
    type: 'gauge',
    read: one(({ load }) => load().bufferedBytes),
  },
  {
    name: 'keyrail_buffered_bytes_largest_owner',
    help: 'The part of keyrail_buffered_bytes that belongs to the keys of one owner: that of the owner with the most.',
    type: 'gauge',
    read: one(({ load }) => load().largestShareBytes),
  },
  {
    name: 'keyrail_max_buffered_bytes',
    help: 'The bound maxBufferedBytes of the config.',
    type: 'gauge',
    read: one(({ load }) => load().maxBufferedBytes),
  },
  {
    name: 'keyrail_buffered_bytes_by_kind',
    help: 'The parts of keyrail_buffered_bytes, by what they are for.',
    type: 'gauge',
    labels: ['kind'],
    read: ({ load }) => byName(load().bufferedByKind),
  },
  {
    name: 'keyrail_calls_queued',
    help: 'Calls that wait for a slot of their network, because their key or its owner has too many in flight.',
    type: 'gauge',
    labels: ['network'],
    read: ({ load }) => load().queues.map(({ network, queued }) => [queued, network]),
  },
  {
    name: 'keyrail_call_slots_used',
    help: 'Slots of a network that calls in flight use. There are 128.',
    type: 'gauge',
    labels: ['network'],
    read: ({ load }) => load().queues.map(({ network, active }) => [active, network]),
  },
  {
    name: 'keyrail_key_cache_entries',
    help: 'Keys in memory.',
    type: 'gauge',
    read: one(({ keys }) => keys().entries),
  },
  {
    name: 'keyrail_key_cache_max_entries',
    help: 'The most keys in memory.',
    type: 'gauge',
    read: one(({ keys }) => keys().maxEntries),
  },
  {
    name: 'keyrail_key_cache_hits_total',
    help: 'Key lookups that memory had the result of, unknown keys included.',
    type: 'counter',
    read: one(({ keys }) => keys().hits),
  },
  {
    name: 'keyrail_key_cache_misses_total',
    help: 'Key lookups that read the database.',
    type: 'counter',
    read: one(({ keys }) => keys().misses),
  },
  {
    name: 'keyrail_limit_decisions_total',
    help: 'Calls by decision of the limits: granted, rejected by the rate or by the quota of the day or month, or unavailable.',
    type: 'counter',
    labels: ['result'],
    read: ({ limits }) => byName(limits().decisions),
  },
  {
    name: 'keyrail_limit_wait_seconds',
    help: 'How long requests waited for Redis or the database to decide on their limits. Those decided in memory are not counted.',
    type: 'histogram',
    bounds: limitWaitBounds,
    read: ({ limits }) => [[limits().waits]],
  },
  {
    name: 'keyrail_limit_waiting_requests',
    help: 'Requests that wait for Redis or the database to decide on their limits.',
    type: 'gauge',
    read: one(({ limits }) => limits().waiting),
  },
  {
    name: 'keyrail_degraded',
    help: 'Whether the database or Redis is unavailable: 1 if so, else 0.',
    type: 'gauge',
    labels: ['part'],
    read: ({ stores }) => stores().stores.map(({ name, isAvailable }) => [isAvailable ? 0 : 1, name]),
  },
  {
    name: 'keyrail_store_check_duration_seconds',
    help: 'How long the last check of the database or Redis took. 2 is a timeout.',
    type: 'gauge',
    labels: ['part'],
    read: ({ stores }) =>
      stores().stores.flatMap(({ name, checkMs }) => (checkMs === null ? [] : [[checkMs / 1_000, name] as const])),
  },
  {
    name: 'keyrail_database_connections',
    help: 'Connections to PostgreSQL, by state: active or idle.',
    type: 'gauge',
    labels: ['state'],
    read: ({ stores }) => {
      const { pool } = stores()
      return pool === undefined ? [] : byName({ active: pool.active, idle: pool.idle })
    },
  },
  {
    name: 'keyrail_database_max_connections',
    help: 'The most connections to PostgreSQL that this instance opens.',
    type: 'gauge',
    read: one(({ stores }) => stores().pool?.max),
  },
  {
    name: 'keyrail_database_waiting_requests',
    help: 'Queries that wait for a connection to PostgreSQL.',
    type: 'gauge',
    read: one(({ stores }) => stores().pool?.waiting),
  },
  {
    name: 'keyrail_redis_pending_commands',
    help: 'Commands that Redis has not replied to.',
    type: 'gauge',
    read: one(({ stores }) => stores().redisPending),
  },
  {
    name: 'keyrail_config_reloads_total',
    help: 'Config reloads, by result.',
    type: 'counter',
    labels: ['result'],
    read: ({ counts }) => byName(counts.state.reloads),
  },
  {
    name: 'keyrail_config_last_reload_successful',
    help: 'Whether the last config was applied: 1 if so, 0 if it was rejected and the one before is in use.',
    type: 'gauge',
    read: one(({ counts }) => Number(counts.state.isConfigApplied)),
  },
  {
    name: 'keyrail_config_last_reload_success_timestamp_seconds',
    help: 'When the config in use was applied: at the start, or at the last reload that succeeded.',
    type: 'gauge',
    read: one(({ counts }) => counts.state.configAppliedAt / 1_000),
  },
  {
    name: 'keyrail_outage_granted_total',
    help: 'Units granted while Redis, or without Redis PostgreSQL, was lost, and charged to their quotas later.',
    type: 'counter',
    read: one(({ counts }) => counts.state.outageGranted),
  },
  {
    name: 'keyrail_log_lines_dropped_total',
    help: 'Log lines dropped because the log reader was slow.',
    type: 'counter',
    read: one(({ droppedLogLines }) => droppedLogLines?.() ?? 0),
  },
  {
    name: 'keyrail_request_log_dropped_total',
    help: 'Failed or sampled requests that the request log did not record, by reason.',
    type: 'counter',
    labels: ['reason'],
    read: ({ droppedRequests }) => byName(droppedRequests()),
  },
  {
    name: 'keyrail_metering_lag_seconds',
    help: 'Age of the oldest count that is not written to the database.',
    type: 'gauge',
    read: one(({ metering }) => metering().lagMs / 1_000),
  },
  {
    name: 'keyrail_metering_backlog_rows',
    help: 'Rows, one per key and minute, with counts that are not written to the database.',
    type: 'gauge',
    read: one(({ metering }) => metering().backlogRows),
  },
  {
    name: 'keyrail_metering_rollup_lag_seconds',
    help: 'How long ago the oldest hour ended that is not rolled up.',
    type: 'gauge',
    read: one(({ metering }) => metering().rollUpLagMs / 1_000),
  },
  {
    name: 'keyrail_metering_lost_calls_total',
    help: 'Calls whose counts were dropped because the database was unavailable for too long.',
    type: 'counter',
    read: one(({ metering }) => metering().lostCalls),
  },
  {
    name: 'keyrail_metering_skipped_rows_total',
    help: 'Stored rows that a roll-up skipped because they could not be parsed.',
    type: 'counter',
    read: one(({ metering }) => metering().skippedRows),
  },
  {
    name: 'keyrail_metering_failures_total',
    help: 'Failed writes and roll-ups, which are retried.',
    type: 'counter',
    labels: ['work'],
    read: ({ metering }) => byName(metering().failures),
  },
]
