import { Cluster } from 'ioredis'
import type { Redis } from 'ioredis'
import { setTimeout as wait } from 'node:timers/promises'
import { timedOut, withTimeout } from '../../../lib/withTimeout.ts'
import type { RedisLink } from '../../redis/redisLink.ts'

const timeoutMs = 1_000
const pollMs = 20

/** Gets the masters of a connection. */
export const getMasters = ({ client }: RedisLink): readonly Redis[] =>
  client instanceof Cluster ? client.nodes('master') : [client]

/** Reads a section of INFO of each master. @returns `undefined` if that takes longer than a second. */
const readInfo = async (link: RedisLink, section: string): Promise<readonly string[] | undefined> => {
  const endsAt = performance.now() + timeoutMs
  while (!link.isReady() && performance.now() < endsAt) await wait(pollMs)
  if (!link.isReady()) return undefined
  const reading = Promise.all(getMasters(link).map((master) => master.info(section))).catch(() => timedOut)
  const reports = await withTimeout(reading, Math.max(pollMs, endsAt - performance.now()))
  return typeof reports === 'symbol' ? undefined : reports
}

/** Gets a number or word of a report of INFO. */
const getField = (report: string, name: string): string | undefined =>
  new RegExp(`^${name}:([\\w-]+)`, 'm').exec(report)?.[1]

/**
 * Checks that each master deletes what was not used for longest when its memory is full.
 * @returns What is wrong and how to fix it, to be read after the name of the variable; `unknown` if Redis does not respond.
 */
export const describeCachePolicy = async (link: RedisLink): Promise<string | undefined> => {
  const reports = await readInfo(link, 'memory')
  if (reports === undefined) return 'unknown'
  for (const report of reports) {
    const policy = getField(report, 'maxmemory_policy') ?? 'not reported'
    if (!/^allkeys-(?:lru|lfu)$/.test(policy))
      return `names a Redis that does not delete what was not used for longest: its maxmemory-policy is ${policy}. Set maxmemory-policy to allkeys-lru or allkeys-lfu, in redis.conf or in the parameters of the managed service`
    if (getField(report, 'maxmemory') === '0')
      return 'names a Redis without a limit: its maxmemory is 0. Set maxmemory to the size of the chain store, in redis.conf'
  }
  return undefined
}

/** Whether two connections have a server in common, also by different names. @returns `false` if one of them does not respond. */
export const isSameRedis = async (one: RedisLink, other: RedisLink): Promise<boolean> => {
  const [ids, others] = await Promise.all(
    [one, other].map(async (link) =>
      ((await readInfo(link, 'server')) ?? []).flatMap((report) => getField(report, 'run_id') ?? []),
    ),
  )
  return ids?.some((id) => others?.includes(id)) === true
}

/** Adds up how many bytes the masters have, and how many they may. @throws {Error} if Redis does not respond. */
export const readCacheMemory = async (link: RedisLink): Promise<{ readonly bytes: number; readonly maxBytes: number }> => {
  const reports = await readInfo(link, 'memory')
  if (reports === undefined) throw new Error('the Redis of CACHE_REDIS_URL does not respond')
  const add = (name: string): number => reports.reduce((sum, report) => sum + Number(getField(report, name) ?? 0), 0)
  return { bytes: add('used_memory'), maxBytes: add('maxmemory') }
}
