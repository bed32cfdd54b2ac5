import { setTimeout as wait } from 'node:timers/promises'
import { exactly } from './scenario.ts'
import type { Outcome, Scenario } from './scenario.ts'
import type { Load } from './load.ts'
import type { Servers } from './openServers.ts'
import { sumReports, toFigures, withCluster } from './withCluster.ts'
import type { Cluster, ClusterOptions } from './withCluster.ts'

// No instance is lost: what is granted is exactly the limit.

/** Options of {@link runExact}. */
export interface Exact {
  readonly servers: Servers
  readonly cluster?: ClusterOptions
  readonly load: Load
  readonly only?: (index: number) => Partial<Load>
  /** What happens to the cluster until `isDone` returns true. */
  readonly disturb?: (cluster: Cluster, isDone: () => boolean) => Promise<void>
}

/** Runs a load that uses up every limit. */
export const runExact = ({ servers, cluster: options = {}, load, only, disturb }: Exact): Promise<Outcome> =>
  withCluster(servers, options, async (cluster) => {
    const startedAt = performance.now()
    let isDone = false
    const loaded = Promise.all(cluster.load(load, only)).finally(() => (isDone = true))
    await disturb?.(cluster, () => isDone)
    const total = sumReports(await loaded)
    const seconds = (performance.now() - startedAt) / 1_000
    const closed = await cluster.close()
    const limit = load.users * load.perDay
    const metered = total.granted + total.returned + total.rejected
    return {
      figures: { ...toFigures(total, closed), seconds, over: Math.max(0, total.granted - limit) },
      bars: [
        exactly('units granted', total.granted, limit),
        exactly('most granted to a user', Math.max(...total.byUser), load.perDay),
        exactly('least granted to a user', Math.min(...total.byUser), load.perDay),
        exactly('units in the ledger', closed.ledger, limit),
        exactly('calls in metering', closed.metered, metered),
      ],
    }
  })

/** The load of one user. */
export const dense: Load = { users: 1, perDay: 5_000, requests: 40_000, clients: 64 }
/** Enough clients to use up the limit in seconds although each response takes half a second. */
const manyClients: Load = { ...dense, clients: 640 }

/** Suspends Redis for 500 ms of each second. */
const hangInPulses = async ({ redis }: Cluster, isDone: () => boolean): Promise<void> => {
  while (!isDone()) {
    redis.hang()
    await wait(500)
    redis.resume()
    await wait(500)
  }
}

/** The scenarios in which no instance is lost. */
export const exactScenarios: readonly Scenario[] = [
  {
    name: 'exact',
    title: '40,000 requests of 64 clients for one user with 5,000',
    run: (servers) => runExact({ servers, load: dense }),
  },
  {
    name: 'hangingRedis',
    title: 'the same while Redis hangs for 500 ms of each second',
    // Rejections are decided without Redis: the pause spreads the requests over some pulses.
    run: (servers) => runExact({ servers, load: { ...dense, pauseMs: 5 }, disturb: hangInPulses }),
  },
  {
    name: 'slowRedis',
    title: 'the same with 640 clients and Redis 500 ms away',
    run: (servers) => runExact({ servers, cluster: { redisRoundTripMs: 500 }, load: manyClients }),
  },
  {
    name: 'slowDatabase',
    title: 'the same with PostgreSQL 500 ms away, for 20 users',
    run: (servers) =>
      runExact({
        servers,
        cluster: { databaseRoundTripMs: 500 },
        load: { ...dense, users: 20, perDay: 250 },
      }),
  },
  {
    name: 'users',
    title: '100,000 users with 3 each, all new to Redis, send 4 each at all instances; for 5 % of them one is returned',
    run: (servers) =>
      runExact({
        servers,
        load: { users: 100_000, perDay: 3, requests: 400_000, clients: 192 },
        // Each instance goes through all users and a third of them again, so that a user's requests are seconds apart.
        only: (index) => ({ firstUser: Math.floor((index * 100_000) / 3), returnEvery: index === 0 ? 20 : 0 }),
      }),
  },
]
