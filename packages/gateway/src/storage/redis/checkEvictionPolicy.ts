import { Cluster } from 'ioredis'
import { setTimeout as wait } from 'node:timers/promises'
import { timedOut, withTimeout } from '../../lib/withTimeout.ts'
import type { RedisLink } from './redisLink.ts'

const timeoutMs = 1_000
const pollMs = 20

/**
 * Checks that no master deletes counters when its memory is full: a deleted counter would start over at 0.
 * @returns The `maxmemory-policy` of a master that has a memory limit and whose policy is not `noeviction`; `undefined` if there is none;
 * `unknown` if Redis did not report its policy within a second.
 */
export const checkEvictionPolicy = async (link: RedisLink): Promise<string | undefined> => {
  const endsAt = performance.now() + timeoutMs
  while (!link.isReady() && performance.now() < endsAt) await wait(pollMs)
  const { client } = link
  if (!link.isReady()) return 'unknown'
  const masters = client instanceof Cluster ? client.nodes('master') : [client]
  // INFO rather than CONFIG, which managed services forbid.
  const reading = Promise.all(masters.map((master) => master.info('memory'))).catch(() => timedOut)
  const reports = await withTimeout(reading, endsAt - performance.now())
  if (typeof reports === 'symbol') return 'unknown'
  const policies = reports.map((report) => parsePolicy(report))
  return policies.find((policy) => policy !== undefined && policy !== 'unknown') ?? policies.find(Boolean)
}

/** @returns `undefined` for a policy that deletes nothing. */
const parsePolicy = (report: string): string | undefined => {
  const limit = /^maxmemory:(\d+)/m.exec(report)?.[1]
  const policy = /^maxmemory_policy:([\w-]+)/m.exec(report)?.[1]
  if (limit === undefined || policy === undefined) return 'unknown'
  return limit === '0' || policy === 'noeviction' ? undefined : policy
}
