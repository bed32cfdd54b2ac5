import type { LocalRateLimiter } from '../usage/rateLimit/createRateLimiter.ts'
import type { RateLimiter } from '../usage/rateLimit/rateLimiter.ts'
import type { RedisInvalidation } from '../storage/redis/createRedisInvalidation.ts'
import type { RedisLink } from '../storage/redis/openRedis.ts'
import type { Change } from '../storage/changes.ts'

/** The parts of a service that use Redis. */
export interface RedisParts {
  readonly link: RedisLink
  readonly invalidation: RedisInvalidation
  /** @param local - The rate limiter to use while Redis is unavailable. */
  readonly createRates: (local: LocalRateLimiter) => RateLimiter
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
  const [{ openRedis }, { createRedisInvalidation }, { createRedisRateLimiter }] = await Promise.all([
    import('../storage/redis/openRedis.ts'),
    import('../storage/redis/createRedisInvalidation.ts'),
    import('../usage/rateLimit/createRedisRateLimiter.ts'),
  ])
  const link = openRedis(url)
  const invalidation = createRedisInvalidation({ redis: link, onChange })
  return {
    link,
    invalidation,
    createRates: (local) => createRedisRateLimiter({ redis: link, local }),
    close: async () => {
      await invalidation.close()
      await link.close()
    },
  }
}
