import { monotonicClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import { timedOut, withTimeout } from '../../lib/withTimeout.ts'
import type { RedisLink } from '../../storage/redis/redisLink.ts'
import { createRateLimiter } from '../rateLimit/createRateLimiter.ts'
import type { RateLimiter } from '../rateLimit/createRateLimiter.ts'
import type { AccountDays } from './accountDays.ts'
import { createDegradedMode } from './createDegradedMode.ts'
import { createReturns } from './createReturns.ts'
import { createSeenQuotas } from './createSeenQuotas.ts'
import { createSeeds } from './createSeeds.ts'
import type { Ledger } from './ledger.ts'
import { limitsClosed, tooSlow } from './limitsErrors.ts'
import { defineLimitScripts, toRateKey, toUsedKey } from './limitScript.ts'
import { createCounter, toQuotaGrant, toQuotaUsage } from './quotaCounter.ts'
import { isUsedUp, returnUnits, takeUnreported, toFloorCharge } from './redisQuota.ts'
import { createRedisClock, getRedisDay, getRedisTime } from './redisClock.ts'
import { getRedisQuota, giveUp, grantWithoutRedis, returnToRedis, send } from './redisRequests.ts'
import type { RedisInstance, RedisWaiter } from './redisRequests.ts'
import { createRedisShards } from './redisShards.ts'
import type { Shard } from './redisShards.ts'
import { takeRateThenQuota } from './takeRateThenQuota.ts'
import type { LimitGrant, LimitRequest, LimitsEvent, QuotaGrant, UsageLimits } from './usageLimits.ts'
import { toViewKey } from './viewScript.ts'
import { addWaiter, createWaitingRoom, getWaiting, hasRoom, listImpatient, removeAllWaiters } from './waitingRoom.ts'

/** Options of {@link createRedisLimits}. */
export interface RedisLimitsOptions {
  readonly redis: RedisLink
  readonly rows: Pick<AccountDays, 'read'>
  /** Receives all grants. The caller writes them to the storage every 500 ms or less. */
  readonly ledger: Pick<Ledger, 'add'>
  /** Writes the ledger now. */
  readonly flush: () => Promise<void>
  /** Decides on rates while Redis is lost. */
  readonly rates?: RateLimiter | undefined
  /** Units that all instances together may grant to a quota and day while Redis is lost. @default 500 */
  readonly outageGrant?: number | undefined
  /** How long a request waits for Redis, in milliseconds. @default 2_000 */
  readonly patienceMs?: number | undefined
  /** Most requests that wait at once: twice what an instance handles in `patienceMs`. @default 50_000 */
  readonly maxWaiting?: number | undefined
  /** Quotas that this instance remembers. @default 200_000 */
  readonly maxQuotas?: number | undefined
  /** Milliseconds since 1970, until Redis has returned its own time. @default Date.now */
  readonly now?: (() => number) | undefined
  /** Measures how long requests wait. @default a monotonic clock */
  readonly clock?: Clock | undefined
  readonly onEvent?: ((event: LimitsEvent) => void) | undefined
}

/** How long a response waits until its news are shared, in milliseconds. */
const maxShareMs = 500
/** How often waiting requests and hung shards are checked, in milliseconds. */
const tickMs = 100

/**
 * Creates the limits of a service on several machines: one script in Redis decides on the rate and the quota of a request in one round trip. If Redis
 * has no counter for a quota, the script gets it from the ledger in the database.
 */
export const createRedisLimits = (options: RedisLimitsOptions): UsageLimits => {
  const { redis, flush } = options
  const returns = createReturns()
  const instance = createInstance(options, {
    onReady: (shard) => sendFloors(instance, redis, shard),
    onConnected: (shard, wasLost) => {
      for (const waiter of getWaiting(instance.room, shard))
        if (waiter.waitsFor === 'connection') send(instance, waiter)
      if (wasLost) void chargeUnreported(instance, redis, flush)
    },
  })
  const { scripts, rates, readSeed, room, clock } = instance
  const timer = setInterval(() => tick(instance), tickMs)
  timer.unref()
  let isClosed = false

  return {
    take: (request) => {
      const { rate, quota, passed } = request
      if (rate === undefined && (quota === undefined || passed === 0))
        return { granted: passed, rate: undefined, quota: undefined }
      return isClosed ? Promise.reject(limitsClosed()) : takeFromRedis(instance, request)
    },
    giveBack: (grant, units) =>
      grant.day === getRedisDay(clock).text ? returnGranted(instance, grant, returns.take(grant, units)) : 0,
    peek: (id, rate) => rates.peek(id, rate),
    share: ({ id }, view) => {
      if (isClosed || !redis.isReady(toViewKey(view, id))) return undefined
      const shared = scripts.share(id, view).catch(() => undefined)
      return withTimeout(shared, maxShareMs, { unref: true }).then((result) =>
        result === timedOut ? undefined : result,
      )
    },
    usage: async (quota) => {
      const { day, dayUsed, monthUsed } =
        (await scripts.read(quota.id).catch(() => undefined)) ?? (await readSeed(quota.id))
      return toQuotaUsage(createCounter(day, dayUsed, monthUsed), quota)
    },
    close: async () => {
      isClosed = true
      clearInterval(timer)
      for (const { reject } of removeAllWaiters(room)) reject(limitsClosed())
    },
  }
}

/** Creates what the limits consist of. */
const createInstance = (
  options: RedisLimitsOptions,
  listeners: { onReady: (shard: string) => void; onConnected: (shard: Shard, wasLost: boolean) => void },
): RedisInstance => {
  const { redis, rows, ledger, outageGrant = 500, patienceMs = 2_000, maxWaiting = 50_000 } = options
  const clock = createRedisClock(options.clock ?? monotonicClock(), options.now ?? Date.now)
  const degraded = createDegradedMode(options.onEvent)
  const onLost = (): void => degraded.enter()
  return {
    scripts: defineLimitScripts(redis),
    ledger,
    readSeed: createSeeds(rows, () => getRedisTime(clock)),
    shards: createRedisShards({ redis, clock: clock.clock, patienceMs, onLost, ...listeners }),
    rates: options.rates ?? createRateLimiter(),
    outageGrant,
    clock,
    quotas: createRecentMap(options.maxQuotas ?? 200_000),
    unreported: new Map(),
    seen: createSeenQuotas(),
    room: createWaitingRoom<Shard, RedisWaiter>({ maxWaiting, patienceMs }),
    degraded,
  }
}

/** Takes a request: from Redis, unless this instance can or must decide. */
const takeFromRedis = (instance: RedisInstance, request: LimitRequest): LimitGrant | Promise<LimitGrant> => {
  const { room, rates, clock } = instance
  const { id, quota } = request
  if (quota !== undefined) {
    const state = getRedisQuota(instance, quota)
    if (isUsedUp(state, quota, getRedisDay(clock).day, clock.clock()))
      return takeRateThenQuota<never>(rates, request, (_, calls) =>
        toQuotaGrant(state.counter, quota, { calls, granted: 0, charged: 0 }),
      )
  }
  const shard = instance.shards.get(quota === undefined ? toRateKey(id, undefined) : toUsedKey(quota.id))
  const since = clock.clock()
  const { lostSince } = shard
  if (lostSince !== undefined) {
    const grant = grantWithoutRedis(instance, request, true)
    if (grant !== undefined) return grant
    // A connection that is soon back is worth waiting for.
    if (since - lostSince >= room.patienceMs) return Promise.reject(tooSlow())
  }
  if (!hasRoom(room)) return Promise.reject(tooSlow())
  return new Promise((resolve, reject) => {
    const waiter: RedisWaiter = { request, shard, since, waitsFor: 'connection', sentAt: 0, resolve, reject }
    addWaiter(room, shard, waiter)
    if (lostSince === undefined) send(instance, waiter)
  })
}

/** Returns units of a grant of today. */
const returnGranted = (instance: RedisInstance, { quota }: QuotaGrant, units: number): number => {
  if (units === 0) return 0
  const day = getRedisDay(instance.clock)
  const state = getRedisQuota(instance, quota)
  instance.ledger.add(quota.id, day.day, -units)
  const reported = returnUnits(state, quota, units, day)
  if (reported > 0) returnToRedis(instance, quota.id, { units: reported, day: day.day, seededAt: state.seededAt })
  return units
}

/** Sends what this instance has seen to a shard that may have taken over, before another instance is granted the same again. */
const sendFloors = ({ seen, scripts }: RedisInstance, redis: RedisLink, shard: string): void => {
  for (const [quota, state] of seen.list()) {
    const floor = redis.getShard(toUsedKey(quota)) === shard ? toFloorCharge(state) : undefined
    if (floor !== undefined) scripts.charge(quota, floor).catch(() => {})
  }
}

/** Charges the units that were granted while shards were lost that are back now. @param flush - Writes the ledger. */
const chargeUnreported = async (
  { scripts, quotas, unreported, clock, shards, degraded }: RedisInstance,
  redis: RedisLink,
  flush: () => Promise<void>,
): Promise<void> => {
  const isWritten = await flush().then(
    () => true,
    () => false,
  )
  const writtenAt = isWritten ? getRedisTime(clock) : Number.MAX_SAFE_INTEGER
  for (const [quota, state] of unreported) {
    // After a failover another shard may have it.
    if (!redis.isReady(toUsedKey(quota))) continue
    const charges = takeUnreported(state)
    unreported.delete(quota)
    if (quotas.get(quota) === undefined) quotas.set(quota, state)
    for (const charge of charges) scripts.charge(quota, { ...charge, writtenAt }).catch(() => {})
  }
  if (unreported.size === 0 && !shards.isAnyLost()) degraded.leave()
}

/** Checks which shards are lost, and ends the requests that have waited too long. */
const tick = (instance: RedisInstance): void => {
  const { room, shards, clock } = instance
  const now = clock.clock()
  const oldest = new Map<Shard, number>()
  for (const [shard, waiters] of room.groups)
    for (const { waitsFor, sentAt } of waiters)
      if (waitsFor === 'reply') oldest.set(shard, Math.min(sentAt, oldest.get(shard) ?? Infinity))
  shards.check(oldest)
  // After the shards: what is reserved is granted once a shard is lost.
  for (const waiter of listImpatient(room, now)) giveUp(instance, waiter)
}
