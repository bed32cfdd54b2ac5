import { setTimeout as wait } from 'node:timers/promises'
import { sendToRedis } from '@keyrail/gateway/test/usage/clusterStores.ts'
import { startRedis } from '@keyrail/gateway/test/usage/startRedis.ts'
import { exactly } from './scenario.ts'
import type { Outcome, Scenario } from './scenario.ts'
import type { Load, Report } from './load.ts'
import type { Servers } from './openServers.ts'
import { sumReports, toFigures, withCluster } from './withCluster.ts'
import type { Cluster } from './withCluster.ts'

// An instance or Redis is lost in the middle of the load.

const clients = 64
/** Clients of the last instance, which is killed. */
const clientsOfOne = 22
const perDay = 20_000
/** Each client pauses, so that the limit lasts for some seconds: about 6,000 requests a second. */
const load: Load = { users: 1, perDay, requests: 10_000_000, clients, pauseMs: 8, acknowledge: true }

const sumAcknowledged = ({ instances }: Cluster): number =>
  instances.reduce((total, { acknowledged }) => total + acknowledged(), 0)

/** Waits until this many units are granted. */
const whenGranted = async (cluster: Cluster, units: number): Promise<void> => {
  while (sumAcknowledged(cluster) < units) await wait(5)
}

/** Lets the clients go on until the limit is used up, and a second longer. */
const useUp = async (cluster: Cluster, limit: number, timeoutMs: number): Promise<void> => {
  const endsAt = performance.now() + timeoutMs
  while (sumAcknowledged(cluster) < limit && performance.now() < endsAt) await wait(20)
  await wait(1_000)
}

const stopAll = async (cluster: Cluster, loads: readonly Promise<Report>[]): Promise<readonly Report[]> => {
  await Promise.all(cluster.instances.map(({ stop }) => stop()))
  return Promise.all(loads)
}

/** Kills the last instance in the middle of its load; with `andEmpty`, Redis loses its data at the same time. */
export const runKilled = (
  servers: Servers,
  { andEmpty = false, perDay = load.perDay }: { readonly andEmpty?: boolean; readonly perDay?: number },
): Promise<Outcome> =>
  withCluster(servers, {}, async (cluster) => {
    const { instances, redis } = cluster
    const loads = cluster.load({ ...load, perDay })
    await whenGranted(cluster, perDay / 2)
    const killed = instances[2]
    if (killed === undefined) throw new Error('there is no third instance')
    await Promise.all([killed.kill(), andEmpty ? redis.kill() : undefined])
    if (andEmpty) await redis.start()
    await useUp(cluster, perDay - clientsOfOne, 15_000)
    const left = instances.slice(0, 2)
    await Promise.all(left.map(({ stop }) => stop()))
    const total = sumReports(await Promise.all(loads.slice(0, 2)))
    const closed = await cluster.close(left)
    const granted = total.granted + killed.acknowledged()
    /** Units that the killed instance granted and had not written to the ledger. */
    const unwritten = killed.acknowledged() - (closed.ledger - total.granted)
    return {
      figures: {
        ...toFigures(total, closed),
        'granted by the killed one': killed.acknowledged(),
        'of these not in the ledger': unwritten,
        over: Math.max(0, granted - perDay),
        lost: Math.max(0, perDay - granted),
      },
      bars: andEmpty
        ? [
            { name: 'units over the limit', is: granted - perDay, atMost: Math.max(0, unwritten) + clientsOfOne },
            { name: 'units lost', is: perDay - granted, atMost: clientsOfOne },
          ]
        : [
            { name: 'units over the limit', is: granted - perDay, atMost: 0 },
            { name: 'units lost', is: perDay - granted, atMost: clientsOfOne },
          ],
    }
  })

/** Sums the units that instances reported to have granted without Redis. */
const sumPermitted = (events: readonly object[]): number =>
  events.reduce((total, event) => total + ('units' in event && typeof event.units === 'number' ? event.units : 0), 0)

/** Redis is gone for 20 seconds: it hangs, or it is killed and starts again empty. */
const runStopped = (servers: Servers, { andEmpty }: { andEmpty: boolean }): Promise<Outcome> =>
  withCluster(servers, { outageGrant }, async (cluster) => {
    const { redis } = cluster
    const loads = cluster.load(load)
    await whenGranted(cluster, perDay / 2)
    if (andEmpty) await redis.kill()
    else redis.hang()
    // What was in flight is granted or rejected by then. If the connection was reset, permits are granted at once.
    await wait(100)
    const before = sumAcknowledged(cluster)
    await wait(20_000)
    const later = sumAcknowledged(cluster) - before
    if (andEmpty) await redis.start()
    else redis.resume()
    await useUp(cluster, perDay, 15_000)
    const total = sumReports(await stopAll(cluster, loads))
    const closed = await cluster.close()
    const permitted = sumPermitted(closed.events)
    return {
      figures: {
        ...toFigures(total, closed),
        'granted without Redis': permitted,
        over: Math.max(0, total.granted - perDay),
        lost: Math.max(0, perDay - total.granted),
      },
      bars: [
        { name: 'units granted without Redis', is: permitted, atMost: outageGrant, atLeast: 1 },
        { name: 'of these later than after 100 ms', is: later, atMost: outageGrant },
        { name: 'units over the limit', is: total.granted - perDay, atMost: 0 },
        { name: 'units lost', is: perDay - total.granted, atMost: clients },
        exactly('units in the ledger', closed.ledger, total.granted),
      ],
    }
  })
const outageGrant = 500

/** Users that have used up their limit stay rejected while Redis is gone. */
const runUsedUp = (servers: Servers): Promise<Outcome> =>
  withCluster(servers, {}, async (cluster) => {
    const { redis } = cluster
    const small = { ...load, users: 100, perDay: 10, pauseMs: 2, acknowledge: false }
    const first = sumReports(await Promise.all(cluster.load({ ...small, requests: 30_000 })))
    await redis.kill()
    const loads = cluster.load({ ...small, pauseMs: 20 })
    await wait(3_000)
    const without = sumReports(await stopAll(cluster, loads))
    const closed = await cluster.close()
    return {
      figures: { ...toFigures(without, closed), 'granted before': first.granted },
      bars: [
        exactly('units granted before', first.granted, 1_000),
        exactly('units granted without Redis', without.granted, 0),
        exactly('requests that got an error', without.failed, 0),
      ],
    }
  })

/** Redis is killed and starts empty at once. */
const runEmptied = (servers: Servers): Promise<Outcome> =>
  withCluster(servers, { outageGrant: 0 }, async (cluster) => {
    const { redis } = cluster
    const loads = cluster.load(load)
    const kills = [0.3, 0.6]
    for (const part of kills) {
      await whenGranted(cluster, perDay * part)
      await redis.kill()
      await redis.start()
    }
    await useUp(cluster, perDay, 15_000)
    const total = sumReports(await stopAll(cluster, loads))
    const closed = await cluster.close()
    return {
      figures: {
        ...toFigures(total, closed),
        over: Math.max(0, total.granted - perDay),
        lost: Math.max(0, perDay - total.granted),
      },
      bars: [
        { name: 'units over the limit', is: total.granted - perDay, atMost: 0 },
        // Another instance may have seen what was charged for a request whose reply was lost.
        { name: 'units lost', is: perDay - total.granted, atMost: kills.length * clients },
        exactly('units in the ledger', closed.ledger, total.granted),
      ],
    }
  })

const whenInSync = async (replicaUrl: string): Promise<void> => {
  for (;;) {
    const [state = ''] = await sendToRedis(replicaUrl, ['INFO', 'replication'])
    if (state.includes('master_link_status:up')) return
    await wait(50)
  }
}

/** A replica takes over that has lost the last 500 ms. */
const runFailover = (servers: Servers): Promise<Outcome> =>
  withCluster(servers, { outageGrant: 0, redisRoundTripMs: 0 }, async (cluster) => {
    const { redis, redisProxy } = cluster
    const replica = await startRedis([
      `replicaof 127.0.0.1 ${new URL(redis.url).port}`,
      `masterauth ${redis.password}`,
      // Instances go on with the password of the master.
      `requirepass ${redis.password}`,
      'repl-diskless-sync-delay 0',
    ])
    const replicaUrl = new URL(replica.url)
    replicaUrl.password = redis.password
    const stopReplica = servers.onStop(replica.stop)
    try {
      await whenInSync(replicaUrl.href)
      const loads = cluster.load(load)
      await whenGranted(cluster, perDay / 2)
      await sendToRedis(replicaUrl.href, ['REPLICAOF', 'NO', 'ONE'])
      const before = sumAcknowledged(cluster)
      await wait(500)
      await redis.kill()
      redisProxy?.switchTo(Number(replicaUrl.port))
      const lostByRedis = sumAcknowledged(cluster) - before
      await useUp(cluster, perDay, 15_000)
      const total = sumReports(await stopAll(cluster, loads))
      const closed = await cluster.close()
      return {
        figures: {
          ...toFigures(total, closed),
          'lost by Redis': lostByRedis,
          over: Math.max(0, total.granted - perDay),
          lost: Math.max(0, perDay - total.granted),
        },
        bars: [
          { name: 'units lost by Redis', is: lostByRedis, atMost: perDay / 2, atLeast: 10 * clients },
          { name: 'units over the limit', is: total.granted - perDay, atMost: clients },
          { name: 'units lost', is: perDay - total.granted, atMost: clients },
          exactly('units in the ledger', closed.ledger, total.granted),
        ],
      }
    } finally {
      await stopReplica()
    }
  })

/** The scenarios in which something is lost. */
export const lostScenarios: readonly Scenario[] = [
  {
    name: 'killed',
    title: 'one of three instances is killed',
    run: (servers) => runKilled(servers, {}),
  },
  {
    name: 'killedAndEmptied',
    title: 'one of three instances is killed, and Redis starts again empty at the same time',
    run: (servers) => runKilled(servers, { andEmpty: true }),
  },
  {
    name: 'hung',
    title: 'Redis hangs for 20 s',
    run: (servers) => runStopped(servers, { andEmpty: false }),
  },
  {
    name: 'stopped',
    title: 'Redis is stopped for 20 s, and starts again empty',
    run: (servers) => runStopped(servers, { andEmpty: true }),
  },
  { name: 'usedUp', title: '100 users that have used up their limit, without Redis', run: runUsedUp },
  { name: 'emptied', title: 'Redis starts again empty, twice', run: runEmptied },
  { name: 'failover', title: 'a replica of Redis takes over that has lost 500 ms', run: runFailover },
]
