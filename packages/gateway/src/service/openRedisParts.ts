import type { RedisLimitsOptions } from '../usage/limits/createRedisLimits.ts'
import type { UsageLimits } from '../usage/limits/usageLimits.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import type { RedisInvalidation } from '../storage/redis/createRedisInvalidation.ts'
import type { Instances } from '../storage/redis/createInstances.ts'
import type { RedisMessages } from '../storage/redis/createRedisMessages.ts'
import type { SharedChecks } from '../storage/redis/createSharedChecks.ts'
import type { RedisLink } from '../storage/redis/redisLink.ts'
import type { Change } from '../storage/changes.ts'
import { ConfigError } from './configError.ts'

/** The parts of a service that use Redis. */
export interface RedisParts {
  readonly link: RedisLink
  readonly messages: RedisMessages
  readonly invalidation: RedisInvalidation
  readonly checks: SharedChecks
  readonly instances: Instances
  readonly createLimits: (options: Omit<RedisLimitsOptions, 'redis'>) => UsageLimits
  readonly close: () => Promise<void>
}

/** How to fix a `maxmemory-policy` that deletes counters. */
const toEvictionFix = (policy: string): string =>
  `names a Redis that may delete counters when its memory is full: its maxmemory-policy is ${policy}. Set maxmemory-policy to noeviction, in redis.conf or in the parameters of the managed service`

/**
 * Opens a connection to Redis, which takes a second if Redis is unreachable.
 * @throws {ConfigError} if Redis may delete counters: its `maxmemory-policy` must be `noeviction`.
 */
export const openCheckedRedis = async (url: string): Promise<RedisLink> => {
  // Imported lazily: a service on one machine has no Redis.
  const [{ openRedis }, { checkEvictionPolicy }] = await Promise.all([
    import('../storage/redis/openRedis.ts'),
    import('../storage/redis/checkEvictionPolicy.ts'),
  ])
  const link = openRedis(url)
  const policy = await checkEvictionPolicy(link)
  if (policy === undefined || policy === 'unknown') return link
  await link.close()
  throw new ConfigError([{ path: 'REDIS_URL', fix: toEvictionFix(policy) }])
}

/**
 * Connects to Redis. If Redis is unreachable, that takes a second, and the service starts without it.
 * @param options.url - `undefined` for a service without Redis.
 * @param options.secret - The same at all instances.
 * @param options.onChange - Called with the changes of other instances.
 * @param options.warn - Called if Redis turns out to delete counters later, for example after a failover.
 * @throws {ConfigError} if Redis may delete counters: its `maxmemory-policy` must be `noeviction`.
 */
export const openRedisParts = async ({
  url,
  secret,
  onChange,
  warn,
}: {
  url: string | undefined
  secret: ServerSecret
  onChange: (changes: readonly Change[]) => void
  warn: (what: string) => void
}): Promise<RedisParts | undefined> => {
  if (url === undefined) return undefined
  const [
    { checkEvictionPolicy },
    { createRedisMessages },
    { createRedisInvalidation },
    { createSharedChecks },
    { createInstances },
    { createRedisLimits },
  ] = await Promise.all([
    import('../storage/redis/checkEvictionPolicy.ts'),
    import('../storage/redis/createRedisMessages.ts'),
    import('../storage/redis/createRedisInvalidation.ts'),
    import('../storage/redis/createSharedChecks.ts'),
    import('../storage/redis/createInstances.ts'),
    import('../usage/limits/createRedisLimits.ts'),
  ])
  const link = await openCheckedRedis(url)
  link.onReady(() => {
    void checkEvictionPolicy(link).then((found) => {
      if (found !== undefined && found !== 'unknown') warn(`REDIS_URL ${toEvictionFix(found)}`)
    })
  })
  const messages = createRedisMessages(link)
  const instances = createInstances({ messages })
  return {
    link,
    messages,
    invalidation: createRedisInvalidation({ messages, onChange }),
    checks: createSharedChecks({ redis: link, messages, secret }),
    instances,
    createLimits: (options) => createRedisLimits({ ...options, redis: link }),
    close: async () => {
      instances.leave()
      await messages.close()
      await link.close()
    },
  }
}
