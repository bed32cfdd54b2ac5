import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { startRedisProcess } from './redisProcess.ts'
import type { RedisProcess } from './redisProcess.ts'

/** A Redis master with a replica, watched by 3 sentinels of which 2 must agree. */
export interface TestRedisSentinel {
  /** A `redis+sentinel:` URL, with the passwords of Redis and of the sentinels, which differ. */
  readonly url: string
  readonly password: string
  readonly sentinelPassword: string
  /** The URLs of the two Redis servers, with the password. */
  readonly nodeUrls: readonly string[]
  /** The master that the sentinels know: a process to kill, hang or start. */
  master(): Promise<RedisProcess>
  /** Waits until the master has a replica in sync, and each sentinel knows all others. */
  whenHealthy(): Promise<void>
  close(): Promise<void>
}

const masterName = 'mymaster'

const connect = (port: number, password: string): Redis => {
  const client = new Redis({ port, host: '127.0.0.1', password, maxRetriesPerRequest: 0, enableReadyCheck: false })
  client.on('error', () => {})
  return client
}

/** Starts Redis with sentinels on free ports of 127.0.0.1, with random passwords. */
export const startRedisSentinel = async (): Promise<TestRedisSentinel> => {
  const [password, sentinelPassword] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')]
  const shared = ['repl-diskless-sync-delay 0', `requirepass ${password}`, `masterauth ${password}`]
  const first = await startRedisProcess({ settings: shared })
  const second = await startRedisProcess({ settings: [...shared, `replicaof 127.0.0.1 ${first.port}`] })
  const servers = [first, second]
  const sentinels: RedisProcess[] = []
  for (let index = 0; index < 3; index += 1)
    sentinels.push(
      await startRedisProcess({
        isSentinel: true,
        settings: [
          `requirepass ${sentinelPassword}`,
          `sentinel monitor ${masterName} 127.0.0.1 ${first.port} 2`,
          `sentinel auth-pass ${masterName} ${password}`,
          `sentinel down-after-milliseconds ${masterName} 1000`,
          `sentinel failover-timeout ${masterName} 4000`,
        ],
      }),
    )
  const admins = sentinels.map(({ port }) => connect(port, sentinelPassword))

  const isHealthy = async (): Promise<boolean> => {
    const reports = await Promise.all(
      admins.map(async (admin) => {
        const fields = (await admin.call('SENTINEL', ['MASTER', masterName])) as string[]
        const get = (name: string): string | undefined => fields[fields.indexOf(name) + 1]
        const replicas = (await admin.call('SENTINEL', ['REPLICAS', masterName])) as string[][]
        const isInSync = replicas.some((replica) => replica[replica.indexOf('master-link-status') + 1] === 'ok')
        return get('num-other-sentinels') === '2' && get('flags') === 'master' && isInSync
      }),
    ).catch(() => [false])
    return reports.every(Boolean)
  }
  const whenHealthy = async (): Promise<void> => {
    const endsAt = performance.now() + 40_000
    while (!(await isHealthy())) {
      if (performance.now() > endsAt) throw new Error('Redis with Sentinel did not become healthy in 40 s')
      await wait(50)
    }
  }
  await whenHealthy()
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return {
    url: `redis+sentinel://:${password}@${hosts}/${masterName}/0?sentinel_password=${sentinelPassword}`,
    password,
    sentinelPassword,
    nodeUrls: servers.map(({ port }) => `redis://:${password}@127.0.0.1:${port}/0`),
    master: async () => {
      const [, port] = ((await admins[0]?.call('SENTINEL', ['GET-MASTER-ADDR-BY-NAME', masterName])) ?? []) as string[]
      const found = servers.find((server) => server.port === Number(port))
      if (found === undefined) throw new Error('the sentinels know no master')
      return found
    },
    whenHealthy,
    close: async () => {
      for (const admin of admins) admin.disconnect()
      await Promise.all([...servers, ...sentinels].map((each) => each.stop()))
    },
  }
}
