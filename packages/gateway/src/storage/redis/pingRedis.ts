import { setTimeout as wait } from 'node:timers/promises'
import type { Cluster, Redis } from 'ioredis'
import { timedOut, withTimeout } from '../../lib/withTimeout.ts'

const timeoutMs = 1_000
const pollMs = 20

/**
 * Writes a key of each shard.
 * @param getKeys - `undefined` while a shard is not connected.
 * @throws {Error} If that does not succeed within a second. The message contains no address and no password.
 */
export const pingRedis = async (
  client: Redis | Cluster,
  getKeys: () => readonly string[] | undefined,
): Promise<void> => {
  const endsAt = performance.now() + timeoutMs
  let keys = getKeys()
  while (keys === undefined && performance.now() < endsAt) {
    await wait(pollMs)
    keys = getKeys()
  }
  // Not PING: a replica or a Redis that is out of memory responds to PING but rejects writes.
  const written = Promise.all((keys ?? []).map((key) => client.set(key, '1', 'PX', 10_000))).catch(() => timedOut)
  if (keys === undefined || (await withTimeout(written, endsAt - performance.now())) === timedOut)
    throw new Error('Redis does not respond')
}
