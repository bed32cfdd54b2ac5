import { formatCause, getRedisCode } from '../errors/causes.ts'
import { isCacheRedisReady } from './openCacheRedis.ts'
import { openCheckedRedis } from './openRedisParts.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import { readServiceEnvironment } from './serviceEnvironment.ts'
import type { Environment } from './serviceEnvironment.ts'

/** The result of {@link checkRedis} and {@link checkCacheRedis}. */
export interface RedisCheck {
  /** Why Redis cannot be used, and how to fix it; `undefined` if it can. It contains no part of the URL. */
  readonly problem: string | undefined
}

/**
 * Connects to the Redis of `REDIS_URL`, and does the small write that the service does to check it. That takes at most two seconds.
 * @param file - The path of the config file.
 * @param options.environment - @default process.env
 * @returns The result; `undefined` without `REDIS_URL`.
 * @throws {ConfigError} if the file or the environment cannot be used, or Redis may delete counters: the service would not start.
 * @example
 * await checkRedis('keyrail.config.json') // { problem: 'its user or password is wrong (WRONGPASS): correct REDIS_URL' }
 */
export const checkRedis = async (
  file: string,
  { environment = process.env }: { environment?: Environment } = {},
): Promise<RedisCheck | undefined> => {
  const { redisUrl } = readServiceEnvironment(readServiceConfig(file, { environment }), environment)
  if (redisUrl === undefined) return undefined
  const link = await openCheckedRedis(redisUrl)
  try {
    await link.ping()
    return { problem: undefined }
  } catch (error) {
    return { problem: formatCause('redis', getRedisCode(error) ?? 'timeout') }
  } finally {
    await link.close()
  }
}

/**
 * Connects to the Redis of `CACHE_REDIS_URL`, and checks that it may have the chain store. That takes at most three seconds.
 * @param file - The path of the config file.
 * @param options.environment - @default process.env
 * @returns The result; `undefined` without `CACHE_REDIS_URL`.
 * @throws {ConfigError} if the file or the environment cannot be used, or Redis may not: the service would not start.
 * @example
 * await checkCacheRedis('keyrail.config.json') // { problem: undefined }
 */
export const checkCacheRedis = async (
  file: string,
  { environment = process.env }: { environment?: Environment } = {},
): Promise<RedisCheck | undefined> => {
  const { redisUrl, cacheRedisUrl } = readServiceEnvironment(readServiceConfig(file, { environment }), environment)
  if (cacheRedisUrl === undefined) return undefined
  const limits = redisUrl === undefined ? undefined : await openCheckedRedis(redisUrl)
  try {
    const isReady = await isCacheRedisReady(cacheRedisUrl, { limits })
    return { problem: isReady ? undefined : formatCause('redis', 'timeout') }
  } finally {
    await limits?.close()
  }
}
