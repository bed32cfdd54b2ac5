import { setTimeout as wait } from 'node:timers/promises'
import { sendToRedis } from '@keyrail/gateway/test/usage/clusterStores.ts'
import { exactly } from './scenario.ts'
import type { Outcome, Scenario } from './scenario.ts'
import type { Load } from './load.ts'
import type { Servers } from './openServers.ts'
import { size, sumReports, withCluster } from './withCluster.ts'

const users = 100_000
/** How long Redis needs to enlarge its table of keys while idle, in milliseconds. */
const rehashMs = 3_000
/** How many calls the first request of each user has: the bucket of a key is in Redis until it is full again, which takes as many seconds. */
const calls = 120
const atMost = 400

/** What users take in the memory of Redis: with their quota only, and with a rate that is in use. */
const runMemory = (servers: Servers): Promise<Outcome> =>
  withCluster(servers, {}, async (cluster) => {
    const readMemory = async (): Promise<number> => {
      await wait(rehashMs)
      const [info = ''] = await sendToRedis(cluster.redis.url, ['INFO', 'memory'])
      return Number(/used_memory:(\d+)/.exec(info)?.[1])
    }
    const countKeys = async (): Promise<number> => Number((await sendToRedis(cluster.redis.url, ['DBSIZE']))[0])
    /** Sends a request of each user. */
    const sendAll = async (load: Partial<Load>) =>
      sumReports(
        await Promise.all(
          cluster.load({ users, perDay: 1_000, requests: users, clients: 192, ...load }, (index) => ({
            firstUser: Math.floor((index * users) / size),
          })),
        ),
      )
    const empty = await readMemory()
    const first = await sendAll({})
    const withQuota = (await readMemory()) - empty
    const second = await sendAll({ rate: { perSecond: 1, burst: calls }, calls })
    const withRate = (await readMemory()) - empty
    const keys = await countKeys()
    return {
      figures: { requests: first.requests + second.requests, keys },
      bars: [
        { name: 'bytes a user with a quota', is: withQuota / users, atMost },
        { name: 'bytes a user with a quota and a rate in use', is: withRate / users, atMost },
        exactly('keys in Redis', keys, 2 * users),
        exactly('units granted', first.granted + second.granted, users * (calls + 1)),
      ],
    }
  })

/** The scenario of many users. */
export const memoryScenario: Scenario = {
  name: 'memory',
  title: `the memory of Redis for ${users.toLocaleString('en')} users`,
  run: runMemory,
}
