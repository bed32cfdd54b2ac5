import { getInfoField, readRedisInfo } from '../../redis/readRedisInfo.ts'
import type { RedisLink } from '../../redis/redisLink.ts'

/**
 * Checks that each master deletes what was not used for longest when its memory is full.
 * @returns What is wrong and how to fix it, to be read after the name of the variable; `unknown` if Redis does not respond.
 */
export const describeCachePolicy = async (link: RedisLink): Promise<string | undefined> => {
  const reports = await readRedisInfo(link, 'memory')
  if (reports === undefined) return 'unknown'
  for (const report of reports) {
    const policy = getInfoField(report, 'maxmemory_policy') ?? 'not reported'
    if (policy !== 'allkeys-lru' && policy !== 'allkeys-lfu')
      return `names a Redis that does not delete what was not used for longest: its maxmemory-policy is ${policy}. Set maxmemory-policy to allkeys-lru or allkeys-lfu, in redis.conf or in the parameters of the managed service`
    if (getInfoField(report, 'maxmemory') === '0')
      return 'names a Redis without a limit: its maxmemory is 0. Set maxmemory to the size of the chain store, in redis.conf'
  }
  return undefined
}

/** Whether two connections have a server in common, also by different names. @returns `false` if one of them does not respond. */
export const isSameRedis = async (one: RedisLink, other: RedisLink): Promise<boolean> => {
  const [ids, others] = await Promise.all(
    [one, other].map(async (link) =>
      ((await readRedisInfo(link, 'server')) ?? []).flatMap((report) => getInfoField(report, 'run_id') ?? []),
    ),
  )
  return ids?.some((id) => others?.includes(id)) === true
}

/** Adds up how many bytes the masters have, and how many they may. @throws {Error} if Redis does not respond. */
export const readCacheMemory = async (
  link: RedisLink,
): Promise<{ readonly bytes: number; readonly maxBytes: number }> => {
  const reports = await readRedisInfo(link, 'memory')
  if (reports === undefined) throw new Error('the Redis of CACHE_REDIS_URL does not respond')
  const add = (name: string): number =>
    reports.reduce((sum, report) => sum + Number(getInfoField(report, name) ?? 0), 0)
  return { bytes: add('used_memory'), maxBytes: add('maxmemory') }
}
