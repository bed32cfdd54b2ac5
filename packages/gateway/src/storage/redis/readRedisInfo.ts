import { Cluster } from 'ioredis'
import { setTimeout as wait } from 'node:timers/promises'
import { timedOut, withTimeout } from '../../lib/withTimeout.ts'
import type { RedisLink } from './redisLink.ts'

const timeoutMs = 1_000
const pollMs = 20

/**
 * Reads what each master reports of itself. INFO rather than CONFIG, which managed services forbid.
 * @param section - Of INFO.
 * @returns `undefined` if that takes longer than a second.
 */
export const readRedisInfo = async (link: RedisLink, section: string): Promise<readonly string[] | undefined> => {
  const endsAt = performance.now() + timeoutMs
  while (!link.isReady() && performance.now() < endsAt) await wait(pollMs)
  const { client } = link
  if (!link.isReady()) return undefined
  const masters = client instanceof Cluster ? client.nodes('master') : [client]
  const reading = Promise.all(masters.map((master) => master.info(section))).catch(() => timedOut)
  const reports = await withTimeout(reading, Math.max(pollMs, endsAt - performance.now()))
  return typeof reports === 'symbol' ? undefined : reports
}

/** Gets a number or a word of a report. */
export const getInfoField = (report: string, name: string): string | undefined =>
  new RegExp(`^${name}:([\\w-]+)`, 'm').exec(report)?.[1]
