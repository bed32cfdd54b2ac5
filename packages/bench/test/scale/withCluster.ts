import { setTimeout as wait } from 'node:timers/promises'
import { startTcpProxy } from '@keyrail/gateway/test/startTcpProxy.ts'
import type { TcpProxy } from '@keyrail/gateway/test/startTcpProxy.ts'
import { createTables, readCharged, readDatabaseFigures } from '@keyrail/gateway/test/usage/clusterStores.ts'
import { startRedis } from '@keyrail/gateway/test/usage/startRedis.ts'
import type { TestRedis } from '@keyrail/gateway/test/usage/startRedis.ts'
import type { Load, Report } from './load.ts'
import type { Servers } from './openServers.ts'
import { startInstance } from './startInstance.ts'
import type { Instance } from './startInstance.ts'

/** Options of {@link withCluster}. */
export interface ClusterOptions {
  /** @default 500 */
  readonly outageGrant?: number
  /** How much later responses of Redis arrive, in milliseconds. @default no proxy */
  readonly redisRoundTripMs?: number
  /** How much later responses of PostgreSQL arrive, in milliseconds. @default no proxy */
  readonly databaseRoundTripMs?: number
}

/** What the stores have once all instances are closed. */
export interface Closed {
  /** Units in the ledger, by account. */
  readonly charged: ReadonlyMap<string, number>
  /** Units in the ledger. */
  readonly ledger: number
  /** Calls that metering has. */
  readonly metered: number
  /** Transactions since the instances were started. */
  readonly commits: number
  readonly rows: number
  readonly events: readonly object[]
}

/** Three instances on one PostgreSQL and one Redis. */
export interface Cluster {
  readonly instances: readonly Instance[]
  readonly redis: TestRedis
  readonly redisProxy: TcpProxy | undefined
  readonly databaseUrl: string
  /**
   * Starts a load whose requests, clients and requests a second are shared by all instances.
   * @param only - What is different at an instance.
   * @returns A report of each instance.
   */
  readonly load: (load: Load, only?: (index: number) => Partial<Load>) => readonly Promise<Report>[]
  /** Closes the instances: all, or those that are left. */
  readonly close: (instances?: readonly Instance[]) => Promise<Closed>
}

/** How many instances a cluster has. */
export const size = 3
/** The longest time of a scenario, in milliseconds. It must not span two days, because quotas start again. */
const scenarioMs = 120_000
const dayMs = 86_400_000
/** How long a backend of PostgreSQL needs to exit and to report what it did, in milliseconds. */
const reportMs = 300

const split = (total: number, index: number): number => Math.floor((total + index) / size)

const withPort = (url: string, port: number): string => {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.href
}
const getPort = (url: string): number => Number(new URL(url).port)

/** Sums reports. */
export const sumReports = (reports: readonly Report[]): Omit<Report, 'byUser'> & { byUser: readonly number[] } => {
  const sum = (name: Exclude<keyof Report, 'byUser'>): number =>
    reports.reduce((total, report) => total + report[name], 0)
  const users = reports[0]?.byUser.length ?? 0
  return {
    requests: sum('requests'),
    granted: sum('granted'),
    returned: sum('returned'),
    rejected: sum('rejected'),
    failed: sum('failed'),
    commands: sum('commands'),
    seeds: sum('seeds'),
    slowestMs: Math.round(Math.max(...reports.map(({ slowestMs }) => slowestMs))),
    byUser: Array.from({ length: users }, (_, user) =>
      reports.reduce((total, { byUser }) => total + (byUser[user] ?? 0), 0),
    ),
  }
}

/** The figures that each scenario prints. */
export const toFigures = (
  total: ReturnType<typeof sumReports>,
  { commits, rows }: Pick<Closed, 'commits' | 'rows'>,
): Record<string, number> => ({
  requests: total.requests,
  granted: total.granted,
  rejected: total.rejected,
  failed: total.failed,
  'slowest ms': total.slowestMs,
  commits,
  'commits a call': commits / total.requests,
  'rows a call': rows / total.requests,
  'round trips a call': total.commands / total.requests,
})

/** Starts a cluster with empty stores, and stops it after the work. */
export const withCluster = async <Result>(
  servers: Servers,
  options: ClusterOptions,
  work: (cluster: Cluster) => Promise<Result>,
): Promise<Result> => {
  const { outageGrant = 500, redisRoundTripMs, databaseRoundTripMs } = options
  const leftOfDay = dayMs - (Date.now() % dayMs)
  if (leftOfDay < scenarioMs) await wait(leftOfDay + 100)
  const stops: (() => Promise<void>)[] = []
  const onStop = (stop: () => Promise<unknown>): void => void stops.push(servers.onStop(stop))
  const proxy = async (url: string, roundTripMs: number | undefined): Promise<TcpProxy | undefined> => {
    if (roundTripMs === undefined) return undefined
    const started = await startTcpProxy(getPort(url), { roundTripMs })
    onStop(started.close)
    return started
  }
  try {
    const [redis, databaseUrl] = await Promise.all([startRedis(), servers.createDatabase()])
    onStop(redis.stop)
    await createTables(databaseUrl)
    // Its backend reports what it did as it exits.
    await wait(reportMs)
    const redisProxy = await proxy(redis.url, redisRoundTripMs)
    const databaseProxy = await proxy(databaseUrl, databaseRoundTripMs)
    const stores = {
      databaseUrl: databaseProxy === undefined ? databaseUrl : withPort(databaseUrl, databaseProxy.port),
      redisUrl: redisProxy === undefined ? redis.url : withPort(redis.url, redisProxy.port),
    }
    const before = await readDatabaseFigures(databaseUrl)
    const instances = await Promise.all(Array.from({ length: size }, () => startInstance(stores, outageGrant)))
    for (const instance of instances) onStop(instance.end)
    return await work({
      instances,
      redis,
      redisProxy,
      databaseUrl,
      load: ({ requests, clients, perSecond, ...load }, only = () => ({})) =>
        instances.map((instance, index) =>
          instance.load({
            ...load,
            requests: split(requests, index),
            clients: split(clients, index),
            ...(perSecond === undefined ? {} : { perSecond: perSecond / size }),
            ...only(index),
          }),
        ),
      close: async (left = instances) => {
        const events = await Promise.all(left.map(({ close }) => close()))
        await Promise.all(left.map(({ end }) => end()))
        await wait(reportMs)
        const { commits, rows } = await readDatabaseFigures(databaseUrl)
        const { charged, metered } = await readCharged(databaseUrl)
        return {
          charged,
          metered,
          ledger: [...charged.values()].reduce((total, units) => total + units, 0),
          commits: commits - before.commits,
          rows: rows - before.rows,
          events: events.flat(),
        }
      },
    })
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}
