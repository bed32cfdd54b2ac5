import { createRedisAccess } from './createRedisAccess.ts'
import { createRedisReader } from './createRedisReader.ts'
import type { RedisReader } from './createRedisReader.ts'
import { createRedisWriter } from './createRedisWriter.ts'
import type { RedisWriter } from './createRedisWriter.ts'

/** A thread that reads or writes Redis. */
export interface RedisThreadData {
  /** A secret. */
  readonly redisUrl: string
  readonly mayWrite: boolean
  /** How long a look-up may take, in milliseconds. @default 20 */
  readonly patienceMs?: number | undefined
}

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
