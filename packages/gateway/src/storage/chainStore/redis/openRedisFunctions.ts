import type { RedisThreadData } from '../chainThread.ts'
import { createRedisAccess } from './createRedisAccess.ts'
import { createRedisReader } from './createRedisReader.ts'
import type { RedisReader } from './createRedisReader.ts'
import { createRedisWriter } from './createRedisWriter.ts'
import type { RedisWriter } from './createRedisWriter.ts'

/**
 * Connects to Redis, and creates the functions of a thread.
 * @param options.warn - Called with what an operator should know.
 */
export const openRedisFunctions = ({
  redisUrl,
  mayWrite,
  patienceMs,
  warn,
}: RedisThreadData & { readonly warn: (what: string) => void }): {
  readonly functions: RedisReader | RedisWriter
  readonly close: () => void
} => {
  // One of the two threads warns.
  const access = createRedisAccess({ url: redisUrl, warn: mayWrite ? warn : () => {} })
  return {
    functions: mayWrite ? createRedisWriter(access) : createRedisReader(access, { patienceMs }),
    close: () => void access.link.close(),
  }
}
