import type * as PromClient from 'prom-client'
import type { PoolState } from '../storage/database.ts'
import { registerMetric } from './registerMetric.ts'
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

/** Registers the metrics of the database and Redis, which are read at each scrape. */
export const registerStores = (read: () => StoreLoad, registers: readonly PromClient.Registry[]): void => {
  const registerGauge = (
    name: string,
    help: string,
    value: (load: StoreLoad) => readonly (readonly [label: Readonly<Record<string, string>>, value: number])[],
  ): void =>
    registerMetric(registers, {
      name,
      help,
      type: 'gauge',
      samples: () => value(read()).map(([labels, one]) => ({ labels, value: one })),
    })

  registerGauge('keyrail_degraded', 'Whether the database or Redis is unavailable: 1 if so, else 0.', ({ stores }) =>
    stores.map(({ name, isAvailable }) => [{ part: name }, isAvailable ? 0 : 1]),
  )
  registerGauge(
    'keyrail_store_check_duration_seconds',
    'How long the last check of the database or Redis took. 2 is a timeout.',
    ({ stores }) =>
      stores.flatMap(({ name, checkMs }) => (checkMs === null ? [] : [[{ part: name }, checkMs / 1_000]])),
  )
  registerGauge('keyrail_database_connections', 'Connections to PostgreSQL, by state: active or idle.', ({ pool }) =>
    pool === undefined
      ? []
      : [
          [{ state: 'active' }, pool.active],
          [{ state: 'idle' }, pool.idle],
        ],
  )
  registerGauge(
    'keyrail_database_max_connections',
    'The most connections to PostgreSQL that this instance opens.',
    ({ pool }) => (pool === undefined ? [] : [[{}, pool.max]]),
  )
  registerGauge('keyrail_database_waiting_requests', 'Queries that wait for a connection to PostgreSQL.', ({ pool }) =>
    pool === undefined ? [] : [[{}, pool.waiting]],
  )
  registerGauge('keyrail_redis_pending_commands', 'Commands that Redis has not replied to.', ({ redisPending }) =>
    redisPending === undefined ? [] : [[{}, redisPending]],
  )
}
