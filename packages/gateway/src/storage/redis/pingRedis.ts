import { setTimeout as wait } from 'node:timers/promises'
import type { Cluster, Redis } from 'ioredis'
import { getRedisCode } from '../../errors/causes.ts'
import { timedOut, withTimeout } from '../../lib/withTimeout.ts'

const timeoutMs = 1_000
const pollMs = 20

/**
 * Writes a key of each shard.
 * @param getKeys - `undefined` while a shard is not connected.
 * @param getProblem - The last error of the connection.
 * @throws {Error} If that does not succeed within a second. Its `code` says why. It contains no address and no password.
 */
export const pingRedis = async (
  client: Redis | Cluster,
  getKeys: () => readonly string[] | undefined,
  getProblem: () => unknown,
): Promise<void> => {
  const endsAt = performance.now() + timeoutMs
  let keys = getKeys()
  while (keys === undefined && performance.now() < endsAt) {
    await wait(pollMs)
    keys = getKeys()
  }
  let problem: unknown
  // Not PING: a replica or a Redis that is out of memory responds to PING but rejects writes.
  const written = Promise.all((keys ?? []).map((key) => client.set(key, '1', 'PX', 10_000))).catch((error: unknown) => {
    problem = error
    return timedOut
  })
  if (keys === undefined) problem = getProblem()
  if (keys === undefined || (await withTimeout(written, endsAt - performance.now())) === timedOut)
    throw Object.assign(new Error('Redis does not respond'), { code: getRedisCode(problem) ?? 'timeout' })
}
