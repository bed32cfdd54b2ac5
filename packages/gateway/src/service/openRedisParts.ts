import type { LocalRateLimiter } from '../usage/rateLimit/createRateLimiter.ts'
import type { RateLimiter } from '../usage/rateLimit/rateLimiter.ts'
import type { RedisInvalidation } from '../storage/redis/createRedisInvalidation.ts'
import type { RedisLink } from '../storage/redis/openRedis.ts'
import type { Change } from '../storage/changes.ts'

/** What a service has of Redis. */
export interface RedisParts {
  readonly link: RedisLink
  readonly invalidation: RedisInvalidation
  /** @param local - Decides while Redis does not. */
  readonly createRates: (local: LocalRateLimiter) => RateLimiter
  readonly close: () => Promise<void>
}

/**
 * Opens what a service has of Redis. Loaded late: who has none does not wait for it.
 * @param url - `undefined`: there is none.
 * @param onChange - Told of what other instances changed.
 */
export const openRedisParts = async (
  url: string | undefined,
  onChange: (changes: readonly Change[]) => void,
): Promise<RedisParts | undefined> => {
  if (url === undefined) return undefined
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
