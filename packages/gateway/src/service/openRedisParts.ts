import type { LocalRateLimiter } from '../limit/createRateLimiter.ts'
import type { RateLimiter } from '../limit/rateLimiter.ts'
import type { RedisInvalidation } from '../redis/createRedisInvalidation.ts'
import type { RedisLink } from '../redis/openRedis.ts'
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
    import('../redis/openRedis.ts'),
    import('../redis/createRedisInvalidation.ts'),
    import('../limit/createRedisRateLimiter.ts'),
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
