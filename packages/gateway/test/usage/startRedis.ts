import { randomBytes } from 'node:crypto'
import { startRedisProcess } from './redisProcess.ts'
import type { RedisProcess } from './redisProcess.ts'

/** A Redis server for one test file. */
export interface TestRedis extends Omit<RedisProcess, 'port'> {
  /** Includes the password. */
  readonly url: string
  readonly password: string
}

/**
 * Starts Redis on a free port, in a temporary folder, with a random password.
 * @param settings - More lines of its config file.
 */
export const startRedis = async (settings: readonly string[] = []): Promise<TestRedis> => {
  const password = randomBytes(16).toString('hex')
  const { port, ...server } = await startRedisProcess({ settings: [`requirepass ${password}`, ...settings] })
  return { ...server, url: `redis://:${password}@127.0.0.1:${port}/0`, password }
}
