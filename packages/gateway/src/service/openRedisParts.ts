import type { RedisInvalidation } from '../storage/redis/createRedisInvalidation.ts'
import type { RedisLink } from '../storage/redis/openRedis.ts'
import type { Change } from '../storage/changes.ts'
import type { RedisLimitsOptions } from '../usage/limits/createRedisLimits.ts'
import type { UsageLimits } from '../usage/limits/usageLimits.ts'

/** The parts of a service that use Redis. */
export interface RedisParts {
  readonly link: RedisLink
  readonly invalidation: RedisInvalidation
  readonly createLimits: (options: Omit<RedisLimitsOptions, 'redis'>) => UsageLimits
  readonly close: () => Promise<void>
}

/**
 * Connects to Redis.
 * @param url - `undefined` for a service without Redis.
 * @param onChange - Called with the changes of other instances.
 */
export const openRedisParts = async (
  url: string | undefined,
  onChange: (changes: readonly Change[]) => void,
): Promise<RedisParts | undefined> => {
  if (url === undefined) return undefined
  // Imported lazily: a service on one machine has no Redis.
  const [{ openRedis }, { createRedisInvalidation }, { createRedisLimits }] = await Promise.all([
    import('../storage/redis/openRedis.ts'),
    import('../storage/redis/createRedisInvalidation.ts'),
    import('../usage/limits/createRedisLimits.ts'),
  ])
  const link = openRedis(url)
  const invalidation = createRedisInvalidation({ redis: link, onChange })
  return {
    link,
    invalidation,
    createLimits: (options) => createRedisLimits({ ...options, redis: link }),
    close: async () => {
      await invalidation.close()
      await link.close()
    },
  }
}
