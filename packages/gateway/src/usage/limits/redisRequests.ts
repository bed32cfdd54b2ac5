import type { RateLimiter } from '../rateLimit/createRateLimiter.ts'
import { toRateDecision } from '../rateLimit/tokenBucket.ts'
import type { DegradedMode } from './createDegradedMode.ts'
import type { RecentMap } from '../../lib/createRecentMap.ts'
import type { SeenQuotas } from './createSeenQuotas.ts'
import type { Seed } from './createSeeds.ts'
import type { Ledger } from './ledger.ts'
import { tooSlow } from './limitsErrors.ts'
import type { Charge, LimitScripts, TakenFromRedis, TakeResult } from './limitScript.ts'
import { createCounter, toQuotaGrant } from './quotaCounter.ts'
import { createRedisQuota, grantReserved, returnCharged, setTaken, toTakeOptions } from './redisQuota.ts'
import type { RedisQuota } from './redisQuota.ts'
import { getRedisDay, setRedisTime, toRedisDeadline } from './redisClock.ts'
import type { RedisClock } from './redisClock.ts'
import type { RedisShards, Shard } from './redisShards.ts'
import { takeRateThenQuota } from './takeRateThenQuota.ts'
import type { LimitGrant, LimitRequest, Quota } from './usageLimits.ts'
import { getWaiting, removeWaiter } from './waitingRoom.ts'
import type { Waiter, WaitingRoom } from './waitingRoom.ts'

/*
 * A request on one instance of a cluster: it is sent to Redis, which decides. If the ledger has to be read first, it is sent again. If Redis does not
 * decide in time, this instance does, as far as it can.
 */

/** A request that waits for Redis. */
export interface RedisWaiter extends Waiter<LimitRequest, LimitGrant> {
  readonly shard: Shard
  /** It is sent once the shard is connected, or once the ledger was read. */
  waitsFor: 'connection' | 'reply' | 'ledger'
  /** When it was sent last. */
  sentAt: number
}

/** What the limits of one instance consist of. */
export interface RedisInstance {
  readonly scripts: LimitScripts
  readonly ledger: Pick<Ledger, 'add'>
  readonly readSeed: (quota: string) => Promise<Seed>
  readonly shards: RedisShards
  /** Decides on rates while Redis is lost. */
  readonly rates: RateLimiter
  readonly outageGrant: number
  readonly clock: RedisClock
  readonly quotas: RecentMap<RedisQuota>
  /** Quotas with units that were not reported to Redis yet. They are never evicted. */
  readonly unreported: Map<string, RedisQuota>
  readonly seen: SeenQuotas
  readonly room: WaitingRoom<Shard, RedisWaiter>
  readonly degraded: DegradedMode
}

/** Gets the state of a quota. It is created if there is none. */
export const getRedisQuota = ({ quotas, unreported, clock }: RedisInstance, { id }: Quota): RedisQuota => {
  let state = quotas.get(id) ?? unreported.get(id)
  if (state === undefined) {
    state = createRedisQuota(getRedisDay(clock))
    quotas.set(id, state)
  }
  return state
}

/**
 * Decides on a request without Redis.
 * @param isLost - Whether Redis is lost. If it is not, what is reserved is not granted: others may take what is left of the quota.
 * @returns `undefined` if only Redis can decide.
 */
export const grantWithoutRedis = (
  instance: RedisInstance,
  request: LimitRequest,
  isLost: boolean,
): LimitGrant | undefined =>
  takeRateThenQuota(instance.rates, request, (quota, calls) => {
    const state = getRedisQuota(instance, quota)
    const today = getRedisDay(instance.clock)
    const granted = grantReserved(state, quota, { calls, weights: request.weights, today, isLost })
    if (granted === 'wait') return undefined
    if (granted.charged > 0) {
      instance.unreported.set(quota.id, state)
      instance.ledger.add(quota.id, state.counter.day.day, granted.charged)
      instance.degraded.recordGrant(quota.id, granted.charged)
    }
    return toQuotaGrant(state.counter, quota, { calls, ...granted })
  })

/** Ends a request that Redis did not decide. */
export const giveUp = (
  instance: RedisInstance,
  waiter: RedisWaiter,
  isLost = waiter.shard.lostSince !== undefined,
): void => {
  if (!removeWaiter(instance.room, waiter.shard, waiter)) return
  const grant = grantWithoutRedis(instance, waiter.request, isLost)
  if (grant === undefined) waiter.reject(tooSlow())
  else waiter.resolve(grant)
}

/** Returns units that Redis charged. If that fails, they stay charged: no unit is returned twice. */
export const returnToRedis = (
  { scripts }: RedisInstance,
  quota: string,
  { units, day, seededAt }: Pick<Charge, 'units' | 'day' | 'seededAt'>,
): void => {
  scripts.charge(quota, { units: -units, day, seededAt }).catch(() => {})
}

/** Sends a request to Redis. @param seed - What the ledger has, if it was read. */
export const send = (instance: RedisInstance, waiter: RedisWaiter, seed?: Seed): void => {
  const { room, clock } = instance
  const { request, shard, since } = waiter
  waiter.waitsFor = 'reply'
  waiter.sentAt = clock.clock()
  const state = request.quota && getRedisQuota(instance, request.quota)
  const today = getRedisDay(clock).day
  const { connection } = shard
  const options = state && toTakeOptions(state, { connection, today, outageGrant: instance.outageGrant })
  const { floor, outageGrant = 0 } = options ?? {}
  const isReserving = outageGrant > 0
  // Units are reserved once: a second request in flight gets none.
  if (isReserving && state !== undefined) state.reservedDay = today
  const deadline = toRedisDeadline(clock, since + room.patienceMs)
  instance.scripts.take(request, { deadline, floor, seed, outageGrant }).then(
    (result) => handleResult(instance, waiter, result, isReserving),
    (error: unknown) => {
      if (isReserving) cancelReserving(instance, request)
      // It may be known only a moment later that the connection is lost.
      if (isConnectionError(error)) instance.shards.lose(shard)
      giveUp(instance, waiter, true)
    },
  )
}

/** The next request reserves units, because Redis did not decide on this one. */
const cancelReserving = (instance: RedisInstance, { quota }: LimitRequest): void => {
  if (quota !== undefined) getRedisQuota(instance, quota).reservedDay = 0
}

const handleResult = (instance: RedisInstance, waiter: RedisWaiter, result: TakeResult, isReserving: boolean): void => {
  const { clock } = instance
  waiter.shard.lastReplyAt = clock.clock()
  setRedisTime(clock, result.now, waiter.sentAt)
  if (result.status === 'taken') {
    finish(instance, waiter, result, isReserving)
    return
  }
  const { request } = waiter
  if (isReserving) cancelReserving(instance, request)
  if (result.status === 'late') giveUp(instance, waiter)
  else if (request.quota !== undefined) void seedAndSend(instance, waiter, request.quota)
}

/** Ends a request that Redis decided. */
const finish = (instance: RedisInstance, waiter: RedisWaiter, taken: TakenFromRedis, isReserving: boolean): void => {
  const { request, shard } = waiter
  const { quota } = request
  const state = quota && getRedisQuota(instance, quota)
  if (quota !== undefined && state !== undefined) {
    const now = instance.clock.clock()
    setTaken(state, quota, taken, { connection: shard.connection, isReserving, now })
    instance.seen.add(quota.id, state, now)
  }
  if (removeWaiter(instance.room, shard, waiter)) waiter.resolve(toGrant(instance, request, taken, state))
  // The caller already got the response that nothing was decided.
  else if (quota !== undefined && state !== undefined && taken.charged > 0) {
    returnCharged(state, taken.charged)
    returnToRedis(instance, quota.id, { units: taken.charged, ...taken })
  }
}

/** Builds the grant of a request, and counts what Redis granted here too. */
const toGrant = (
  { rates, ledger }: RedisInstance,
  { id, rate, quota, calls, passed, weights }: LimitRequest,
  taken: TakenFromRedis,
  state: RedisQuota | undefined,
): LimitGrant => {
  const { view } = taken
  const decision = rate && toRateDecision(taken.spent, rate, { calls, weights, granted: taken.rated })
  // So that this process can decide if Redis is lost.
  if (rate !== undefined && taken.rated > 0) rates.take(id, rate, taken.rated, weights)
  const requested = Math.min(passed, taken.rated)
  if (quota === undefined || state === undefined || requested === 0)
    return { granted: requested, rate: decision, quota: undefined, view }
  if (taken.charged > 0) ledger.add(quota.id, taken.day, taken.charged)
  const charged = toQuotaGrant(toCounter(state, taken), quota, { calls: requested, ...taken })
  return { granted: taken.granted, rate: decision, quota: charged, view }
}

/** Seeds the quota and sends the request again. A slow ledger makes requests wait, and does not count as a lost Redis. */
const seedAndSend = async (instance: RedisInstance, waiter: RedisWaiter, quota: Quota): Promise<void> => {
  waiter.waitsFor = 'ledger'
  const delayMs = waiter.shard.seedableAt - instance.clock.clock()
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
  try {
    const seed = await instance.readSeed(quota.id)
    if (getWaiting(instance.room, waiter.shard).has(waiter)) send(instance, waiter, seed)
  } catch {
    giveUp(instance, waiter)
  }
}

/** The counter as Redis had it after this request: the quota's may be further by now. */
const toCounter = ({ counter }: RedisQuota, { day, dayUsed, monthUsed }: TakenFromRedis) =>
  counter.day.day === day ? { day: counter.day, dayUsed, monthUsed } : createCounter(day, dayUsed, monthUsed)

/** Whether Redis did not reply: what it replies, such as OOM, is an error of another kind. */
const isConnectionError = (error: unknown): boolean => !(error instanceof Error && error.name === 'ReplyError')
