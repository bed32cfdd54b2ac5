import type { Redis } from 'ioredis'
import { timedOut, withTimeout } from '../../../lib/withTimeout.ts'
import { openRedis } from '../../redis/openRedis.ts'
import type { RedisLink } from '../../redis/redisLink.ts'
import { describeCachePolicy } from './checkCacheRedis.ts'
import { coverScript, numberScript, swapScript } from './redisScripts.ts'

/** The commands of a client, with those of the scripts. */
export interface CacheClient extends Redis {
  readonly keyrailCover: (...args: readonly (string | number | Uint8Array)[]) => Promise<number>
  readonly keyrailNumber: (...args: readonly string[]) => Promise<number>
  readonly keyrailSwap: (...args: readonly string[]) => Promise<number>
}

/** Sends a command about a key. @returns Rejects at once while the shard of the key cannot be used. */
export type SendCommand = <Result>(key: string, command: (client: CacheClient) => Promise<Result>) => Promise<Result>

/** Functions of a thread that wait for Redis. */
export type RedisFunctions<Functions extends Readonly<Record<keyof Functions, (...args: never) => unknown>>> = {
  readonly [Name in keyof Functions]: (...args: Parameters<Functions[Name]>) => Promise<ReturnType<Functions[Name]>>
}

/** The Redis of a chain store. */
export interface RedisAccess {
  /** Runs commands, for at most this long. @throws {Error} if one fails or is late. The message contains no address. */
  readonly run: <Result>(waitMs: number, work: (send: SendCommand) => Promise<Result>) => Promise<Result>
  /** The masters, to scan or to ask for their state. */
  readonly link: RedisLink
}

/** Most look-ups and writes at a time. */
const maxRuns = 2_000
/** Failures in a row after which a shard is left alone. */
const maxFailures = 3
/** For how long. Then one look-up or write is the trial. */
const pauseMs = 5_000
/** If a look-up or a write with more commands is late, the shard may be well. */
const maxNarrow = 100
/** A Redis that did not respond to the check is checked again after this long, in milliseconds. */
const recheckMs = 500

/** What happened to the commands of a shard. */
interface ShardState {
  failures: number
  pausedUntil: number
}

const unavailable = (): Error => new Error('the Redis of CACHE_REDIS_URL does not respond')

/**
 * Connects to the Redis of a chain store in the background, and reconnects. It is used once each master has been found to delete what was not used for
 * longest.
 * @param options.url - A secret.
 * @param options.warn - Called with what an operator should know.
 */
export const createRedisAccess = ({
  url,
  warn,
}: {
  readonly url: string
  readonly warn: (what: string) => void
}): RedisAccess => {
  const link = openRedis(url)
  link.client.defineCommand('keyrailCover', { lua: coverScript })
  link.client.defineCommand('keyrailNumber', { lua: numberScript, numberOfKeys: 1 })
  link.client.defineCommand('keyrailSwap', { lua: swapScript, numberOfKeys: 1 })
  const client = link.client as unknown as CacheClient
  const shards = new Map<string, ShardState>()
  let isChecked = false
  let runs = 0
  const check = async (): Promise<void> => {
    const problem = await describeCachePolicy(link)
    // Without a connection, it is checked when there is one.
    if (problem === 'unknown' && link.isReady()) setTimeout(() => void check(), recheckMs).unref()
    if (problem !== undefined && problem !== 'unknown') warn(`CACHE_REDIS_URL ${problem}. The chain store is off.`)
    isChecked = problem === undefined
  }
  link.onReady(() => void check())

  const getShard = (key: string): ShardState => {
    const name = link.getShard(key)
    const known = shards.get(name) ?? { failures: 0, pausedUntil: 0 }
    shards.set(name, known)
    return known
  }
  const fail = (shard: ShardState): void => {
    shard.failures += 1
    if (shard.failures >= maxFailures) shard.pausedUntil = performance.now() + pauseMs
  }
  const mayUse = (shard: ShardState): boolean => {
    if (shard.failures < maxFailures) return true
    if (performance.now() < shard.pausedUntil) return false
    shard.pausedUntil = performance.now() + pauseMs
    return true
  }
  return {
    link,
    run: async (waitMs, work) => {
      if (runs >= maxRuns) throw unavailable()
      /** The commands that Redis has not replied to. */
      const open = new Set<{ readonly shard: ShardState }>()
      const replied = new Set<ShardState>()
      const used = new Set<ShardState>()
      let sent = 0
      let isLate = false
      const send: SendCommand = async (key, command) => {
        const shard = getShard(key)
        if (isLate || !isChecked || !link.isReady(key)) throw unavailable()
        if (!used.has(shard) && !mayUse(shard)) throw unavailable()
        used.add(shard)
        link.cork(key)
        const own = { shard }
        open.add(own)
        sent += 1
        try {
          const result = await command(client)
          if (open.delete(own)) replied.add(shard)
          return result
        } catch {
          // Its message can have an address.
          if (open.delete(own)) fail(shard)
          replied.delete(shard)
          throw unavailable()
        }
      }
      runs += 1
      const working = work(send).finally(() => {
        runs -= 1
        // Not after each command: of a Redis that is slow, the first ones can be in time.
        if (!isLate) for (const shard of replied) shard.failures = 0
      })
      let result = await withTimeout(working, waitMs, { unref: true })
      // What arrived while this thread was busy is read before the next turn.
      if (result === timedOut) result = await withTimeout(working, 0, { unref: true })
      if (result !== timedOut) return result
      isLate = true
      working.catch(() => {})
      // Many commands take long in a Redis that is well too.
      if (sent <= maxNarrow) for (const shard of new Set([...open].map((one) => one.shard))) fail(shard)
      open.clear()
      throw unavailable()
    },
  }
}
