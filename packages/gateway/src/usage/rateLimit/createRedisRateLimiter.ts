import type { RedisLink } from '../../storage/redis/openRedis.ts'
import type { RateDecision } from './rateDecision.ts'
import type { LocalRateLimiter } from './createRateLimiter.ts'
import type { RateLimiter, RateLimits } from './rateLimiter.ts'
import { bucket, decide } from './takeFromBucket.ts'

/** What a limiter of a cluster is made of. */
export interface RedisRateLimiterOptions {
  readonly redis: RedisLink
  /** Decides while Redis does not. */
  readonly local: LocalRateLimiter
  /** How long a request waits for Redis before it is decided here, in milliseconds. @default 100 */
  readonly patienceMs?: number | undefined
}

/** Requests that may wait for Redis; what comes beyond is decided here. */
const maxWaiting = 5_000
/** After Redis was slow, how long it is not asked, but by one request at a time to see whether it is back. */
const restMs = 1_000

// The same sums as in takeFromBucket.ts. By Redis' own clock: there is one, where instances have each their own. What is run too late, as Redis
// hung, was decided without it long ago, and would be counted at a time at which nobody called.
// Redis has no monotonic clock. If its clock was set back, what is owed is paid off from now on, and not only once the clock has caught up.
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local perSecond, burst, calls = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if now > tonumber(ARGV[4]) then return { -1, 0, now } end
local debt, at = 0, now
local kept = redis.call('GET', KEYS[1])
if kept then
  local keptDebt, keptAt = string.match(kept, '^(%d+):(%d+)$')
  debt, at = tonumber(keptDebt), tonumber(keptAt)
  if now > at then
    debt = math.max(0, debt - (now - at) * perSecond)
  end
end
local setBack = at > now
local granted = math.max(0, math.min(calls, math.floor((burst * ${bucket} - debt) / ${bucket})))
if granted > 0 or setBack then
  local after = debt + granted * ${bucket}
  redis.call('SET', KEYS[1], string.format('%.0f:%.0f', after, now), 'PX', math.ceil(after / perSecond) + 1000)
end
return { granted, debt, now }`

interface Asked {
  readonly since: number
  readonly decideHere: () => void
}

/**
 * Makes a limiter that several instances share through Redis: one question a request. While Redis is slow or gone each instance decides for itself,
 * by the whole limit, so that nobody is rejected who keeps to it; on `n` instances a key may then call up to `n` times as often, and no more.
 */
export const createRedisRateLimiter = ({ redis, local, patienceMs = 100 }: RedisRateLimiterOptions): RateLimiter => {
  const { client } = redis
  client.defineCommand('keyrailTake', { numberOfKeys: 1, lua: script })
  const ask = (
    client as unknown as { keyrailTake: (...values: (string | number)[]) => Promise<[number, number, number]> }
  ).keyrailTake.bind(client)

  /** How far Redis' clock is ahead of ours; `undefined` until it was asked. */
  let aheadMs: number | undefined
  const askTime = async (): Promise<void> => {
    try {
      const [seconds, micros] = await client.time()
      aheadMs = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000) - performance.now()
    } catch {
      // Asked again once it is back.
    }
  }
  client.on('ready', () => void askTime())
  client.on('close', () => (aheadMs = undefined))
  if (redis.isReady()) void askTime()

  let restUntil = 0
  let probing = false
  const waiting = new Set<Asked>()
  let timer: NodeJS.Timeout | undefined
  const watch = (): void => {
    timer = undefined
    const late = performance.now() - patienceMs
    for (const asked of waiting) {
      if (asked.since > late) break
      restUntil = performance.now() + restMs
      asked.decideHere()
    }
    watchLater()
  }
  const watchLater = (): void => {
    if (waiting.size > 0) timer ??= setTimeout(watch, patienceMs / 4)
  }

  const mayAsk = (): boolean => {
    if (!redis.isReady() || aheadMs === undefined || waiting.size >= maxWaiting) return false
    if (performance.now() < restUntil) return false
    // The first after a rest goes alone.
    if (restUntil !== 0 && probing) return false
    probing = restUntil !== 0
    return true
  }

  const askRedis = (id: string, limits: RateLimits, calls: number): Promise<RateDecision> =>
    new Promise((resolve) => {
      const since = performance.now()
      const wanted = Math.ceil(since + (aheadMs ?? 0) + patienceMs)
      const finish = (decision: RateDecision): void => {
        if (waiting.delete(asked)) resolve(decision)
      }
      const asked: Asked = { since, decideHere: () => finish(local.take(id, limits, calls)) }
      waiting.add(asked)
      watchLater()
      ask(`keyrail:rate:${id}`, limits.perSecond, limits.burst, calls, wanted).then(
        ([granted, debt, now]) => {
          probing = false
          aheadMs = now - performance.now()
          if (granted < 0 || !waiting.has(asked)) {
            asked.decideHere()
            return
          }
          restUntil = 0
          // So that what is decided here, should Redis go, goes on from what was taken.
          local.take(id, limits, granted)
          finish(decide(debt, limits, { calls, granted }))
        },
        () => {
          probing = false
          restUntil = performance.now() + restMs
          asked.decideHere()
        },
      )
    })

  return {
    take: (id, limits, calls) => (mayAsk() ? askRedis(id, limits, calls) : local.take(id, limits, calls)),
    // The local limiter has what this instance was granted, which is part of what Redis counts.
    peek: (id, limits) => local.peek(id, limits),
  }
}
