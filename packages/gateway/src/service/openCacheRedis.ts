import type { ChainStore } from '../storage/chainStore/chainStore.ts'
import type { RedisStoreOptions } from '../storage/chainStore/openRedisStore.ts'
import type { RedisLink } from '../storage/redis/redisLink.ts'
import { ConfigError } from './configError.ts'

/**
 * Checks whether a Redis may have the chain store, which takes a second if it is unreachable.
 * @param options.limits - The Redis of the limits, which must be another one.
 * @returns Whether it responds.
 * @throws {ConfigError} if it may not: it must delete what was not used for longest when its memory is full.
 */
export const isCacheRedisReady = async (
  redisUrl: string,
  { limits }: { readonly limits: RedisLink | undefined },
): Promise<boolean> => {
  // Imported lazily: most services have no such Redis.
  const [{ openRedis }, { describeCachePolicy, isSameRedis }] = await Promise.all([
    import('../storage/redis/openRedis.ts'),
    import('../storage/chainStore/redis/checkCacheRedis.ts'),
  ])
  const link = openRedis(redisUrl)
  let problem: string | undefined
  try {
    problem =
      limits !== undefined && (await isSameRedis(link, limits))
        ? 'names the Redis of REDIS_URL, whose counters must not be deleted. Use another server: another database of the same one has the same memory and the same maxmemory-policy'
        : await describeCachePolicy(link)
  } finally {
    await link.close()
  }
  if (problem !== undefined && problem !== 'unknown') throw new ConfigError([{ path: 'CACHE_REDIS_URL', fix: problem }])
  return problem === undefined
}

/**
 * Opens the chain store in the Redis of `CACHE_REDIS_URL`. If that is unreachable, the store is used once it responds.
 * @param options.limits - The Redis of the limits, which must be another one.
 * @throws {ConfigError} if Redis may not be used.
 */
export const openCacheRedis = async ({
  limits,
  ...options
}: RedisStoreOptions & { readonly limits: RedisLink | undefined }): Promise<ChainStore> => {
  const isReady = await isCacheRedisReady(options.redisUrl, { limits })
  const { openRedisStore, waitForRedis } = await import('../storage/chainStore/openRedisStore.ts')
  const store = openRedisStore(options)
  // Otherwise, the first calls would go to nodes while the threads connect.
  // The service starts without it too.
  if (isReady) await waitForRedis(store, 1_000)
  else options.warn('The Redis of CACHE_REDIS_URL does not respond. Until it does, calls go to nodes.')
  return store
}
