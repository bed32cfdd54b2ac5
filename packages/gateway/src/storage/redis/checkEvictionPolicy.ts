import { getInfoField, readRedisInfo } from './readRedisInfo.ts'
import type { RedisLink } from './redisLink.ts'

/**
 * Checks that no master deletes counters when its memory is full: a deleted counter would start over at 0.
 * @returns The `maxmemory-policy` of a master that has a memory limit and whose policy is not `noeviction`; `undefined` if there is none;
 * `unknown` if Redis did not report its policy within a second.
 */
export const checkEvictionPolicy = async (link: RedisLink): Promise<string | undefined> => {
  const reports = await readRedisInfo(link, 'memory')
  const policies = reports?.map((report) => parsePolicy(report)) ?? ['unknown']
  return policies.find((policy) => policy !== undefined && policy !== 'unknown') ?? policies.find(Boolean)
}

/** @returns `undefined` for a policy that deletes nothing. */
const parsePolicy = (report: string): string | undefined => {
  const limit = getInfoField(report, 'maxmemory')
  const policy = getInfoField(report, 'maxmemory_policy')
  if (limit === undefined || policy === undefined) return 'unknown'
  return limit === '0' || policy === 'noeviction' ? undefined : policy
}
