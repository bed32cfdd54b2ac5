import { setTimeout as wait } from 'node:timers/promises'
import { sendToRedis, readDatabaseFigures } from '@keyrail/gateway/test/usage/clusterStores.ts'
import { createReceived } from '../service/startSoakNode.ts'
import { startSoakService } from '../service/startSoakService.ts'
import type { Outcome, Scenario } from './scenario.ts'
import type { Servers } from './openServers.ts'

// Three processes of `keyrail serve` without calls: what each instance of a large cluster costs the stores and the nodes.

/** Connections report what they did up to 10 seconds late, and the upkeep of each hour runs when an instance starts. */
const startUpSeconds = 12
const seconds = 45

/** Measures idle instances, in the minute after their start: then the network counts as used, and its nodes are checked most often. */
const runIdle = async (servers: Servers): Promise<Outcome> => {
  const service = await startSoakService(servers, createReceived())
  const stop = servers.onStop(service.close)
  try {
    const read = async () => {
      const { commits } = await readDatabaseFigures(service.databaseUrl)
      const [stats = ''] = await sendToRedis(service.redis.url, ['INFO', 'stats'])
      const commands = Number(/total_commands_processed:(\d+)/.exec(stats)?.[1])
      const queries = service.nodes.reduce((total, node) => total + node.queries(), 0)
      return { commits, commands, queries, at: performance.now() }
    }
    await wait(startUpSeconds * 1_000)
    const before = await read()
    await wait(seconds * 1_000)
    const after = await read()
    const perSecond = (name: 'commits' | 'commands' | 'queries', by: number): number =>
      (after[name] - before[name]) / ((after.at - before.at) / 1_000) / by
    const size = service.instances.length
    const connections = await Promise.all(
      service.instances.map(({ readMetric }) => readMetric('keyrail_database_connections{state="idle"}')),
    )
    return {
      figures: { seconds, instances: size },
      bars: [
        { name: 'transactions a second and instance', is: perSecond('commits', size), atMost: 0.5 },
        { name: 'commands to Redis a second and instance', is: perSecond('commands', size), atMost: 3 },
        {
          name: 'queries a second and node, by all instances together',
          is: perSecond('queries', service.nodes.length),
          atMost: 0.5,
        },
        { name: 'idle connections to PostgreSQL of an instance', is: Math.max(...connections), atMost: 10 },
      ],
    }
  } finally {
    await stop()
  }
}

/** The scenario without calls. */
export const idleScenario: Scenario = {
  name: 'idle',
  title: `three instances without calls, for ${seconds} seconds`,
  run: runIdle,
}
