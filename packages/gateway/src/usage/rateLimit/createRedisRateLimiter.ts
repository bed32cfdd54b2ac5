import type { RedisLink } from '../../storage/redis/openRedis.ts'
import type { LocalRateLimiter } from './createRateLimiter.ts'
import type { RateDecision, RateLimiter, RateLimits } from './rateLimiter.ts'
import { toRateDecision, unitsPerToken } from './tokenBucket.ts'

/** Options of `createRedisRateLimiter`. */
export interface RedisRateLimiterOptions {
  readonly redis: RedisLink
  /** Decides while Redis is slow or unreachable. */
  readonly local: LocalRateLimiter
  /** How long a request waits for Redis before the local limiter decides, in milliseconds. @default 100 */
  readonly patienceMs?: number | undefined
}

/** Most requests that wait for Redis at once; the local limiter decides the rest. */
const maxPending = 5_000
/** How long Redis gets no requests after it was slow. After that a single probe goes first. */
const backoffMs = 1_000

// The same arithmetic as in tokenBucket.ts, on the clock of Redis, because each instance has its own. If Redis hangs and runs the script after
// the deadline (ARGV[4]), the local limiter has decided long ago, so the script takes nothing.
// The clock of Redis is not monotonic. If it was set back, the bucket refills from now on instead of waiting for the clock to catch up.
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local perSecond, burst, calls = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if now > tonumber(ARGV[4]) then return { -1, 0, now } end
local spent, updatedAt = 0, now
local stored = redis.call('GET', KEYS[1])
if stored then
  local storedSpent, storedAt = string.match(stored, '^(%d+):(%d+)$')
  spent, updatedAt = tonumber(storedSpent), tonumber(storedAt)
  if now > updatedAt then
    spent = math.max(0, spent - (now - updatedAt) * perSecond)
  end
end
local setBack = updatedAt > now
local granted = math.max(0, math.min(calls, math.floor((burst * ${unitsPerToken} - spent) / ${unitsPerToken})))
if granted > 0 or setBack then
  local after = spent + granted * ${unitsPerToken}
  redis.call('SET', KEYS[1], string.format('%.0f:%.0f', after, now), 'PX', math.ceil(after / perSecond) + 1000)
end
return { granted, spent, now }`

interface PendingTake {
  readonly since: number
  readonly decideLocally: () => void
}

/**
 * Creates a rate limiter that several instances share through Redis: one round trip per request. While Redis is slow or unreachable each
 * instance decides locally with the full limit, so no caller within its limit is rejected; on `n` instances a key may then make up to `n`
 * times as many calls.
 */
export const createRedisRateLimiter = ({ redis, local, patienceMs = 100 }: RedisRateLimiterOptions): RateLimiter => {
  const { client } = redis
  client.defineCommand('keyrailTake', { numberOfKeys: 1, lua: script })
  const runScript = (
    client as unknown as { keyrailTake: (...values: (string | number)[]) => Promise<[number, number, number]> }
  ).keyrailTake.bind(client)

  /** The clock of Redis minus `performance.now`; `undefined` until it is known. */
  let clockOffsetMs: number | undefined
  const readClock = async (): Promise<void> => {
    try {
      const [seconds, micros] = await client.time()
      clockOffsetMs = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000) - performance.now()
    } catch {
      // The next 'ready' event reads it again.
    }
  }
  client.on('ready', () => void readClock())
  client.on('close', () => (clockOffsetMs = undefined))
  if (redis.isReady()) void readClock()

  let backoffUntil = 0
  let probing = false
  const pending = new Set<PendingTake>()
  let timer: NodeJS.Timeout | undefined
  const expirePending = (): void => {
    timer = undefined
    const expired = performance.now() - patienceMs
    for (const take of pending) {
      if (take.since > expired) break
      backoffUntil = performance.now() + backoffMs
      take.decideLocally()
    }
    scheduleExpiry()
  }
  const scheduleExpiry = (): void => {
    if (pending.size > 0) timer ??= setTimeout(expirePending, patienceMs / 4)
  }

  const mayUseRedis = (): boolean => {
    if (!redis.isReady() || clockOffsetMs === undefined || pending.size >= maxPending) return false
    if (performance.now() < backoffUntil) return false
    // After a backoff a single request probes Redis.
    if (backoffUntil !== 0 && probing) return false
    probing = backoffUntil !== 0
    return true
  }

  const takeFromRedis = (id: string, limits: RateLimits, calls: number): Promise<RateDecision> =>
    new Promise((resolve) => {
      const since = performance.now()
      const deadline = Math.ceil(since + (clockOffsetMs ?? 0) + patienceMs)
      const finish = (decision: RateDecision): void => {
        if (pending.delete(take)) resolve(decision)
      }
      const take: PendingTake = { since, decideLocally: () => finish(local.take(id, limits, calls)) }
      pending.add(take)
      scheduleExpiry()
      runScript(`keyrail:rate:${id}`, limits.perSecond, limits.burst, calls, deadline).then(
        ([granted, spent, now]) => {
          probing = false
          clockOffsetMs = now - performance.now()
          if (granted < 0 || !pending.has(take)) {
            take.decideLocally()
            return
          }
          backoffUntil = 0
          // Counted locally too, so that the local bucket is up to date if Redis becomes unreachable.
          local.take(id, limits, granted)
          finish(toRateDecision(spent, limits, { calls, granted }))
        },
        () => {
          probing = false
          backoffUntil = performance.now() + backoffMs
          take.decideLocally()
        },
      )
    })

  return {
    take: (id, limits, calls) => (mayUseRedis() ? takeFromRedis(id, limits, calls) : local.take(id, limits, calls)),
    // The local limiter knows the calls that this instance was granted, a part of what Redis counts.
    peek: (id, limits) => local.peek(id, limits),
  }
}
