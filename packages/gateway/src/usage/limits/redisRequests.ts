import type { RateLimiter } from '../rateLimit/createRateLimiter.ts'
import { toRateDecision } from '../rateLimit/tokenBucket.ts'
import type { DegradedMode } from './createDegradedMode.ts'
import type { RecentMap } from '../../lib/createRecentMap.ts'
import type { SeenAccounts } from './createSeenAccounts.ts'
import type { Seed } from './createSeeds.ts'
import type { Ledger } from './ledger.ts'
import { tooSlow } from './limitsErrors.ts'
import type { Charge, LimitScripts, TakenFromRedis, TakeResult } from './limitScript.ts'
import { createCounter, toQuotaGrant } from './quotaCounter.ts'
import { createRedisAccount, grantReserved, returnCharged, setTaken, toTakeOptions } from './redisAccount.ts'
import type { RedisAccount } from './redisAccount.ts'
import { getRedisDay, setRedisTime, toRedisDeadline } from './redisClock.ts'
import type { RedisClock } from './redisClock.ts'
import type { RedisShards, Shard } from './redisShards.ts'
import { takeRateThenQuota } from './takeRate.ts'
import type { LimitGrant, LimitRequest, QuotaAccount } from './usageLimits.ts'
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
  readonly readSeed: (account: string) => Promise<Seed>
  readonly shards: RedisShards
  /** Decides on rates while Redis is lost. */
  readonly rates: RateLimiter
  readonly outageGrant: number
  readonly clock: RedisClock
  readonly accounts: RecentMap<RedisAccount>
  /** Accounts with units that were not reported to Redis yet. They are never evicted. */
  readonly unreported: Map<string, RedisAccount>
  readonly seen: SeenAccounts
  readonly room: WaitingRoom<Shard, RedisWaiter>
  readonly degraded: DegradedMode
}

/** Gets the state of an account. It is created if there is none. */
export const getRedisAccount = ({ accounts, unreported, clock }: RedisInstance, { id }: QuotaAccount): RedisAccount => {
  let state = accounts.get(id) ?? unreported.get(id)
  if (state === undefined) {
    state = createRedisAccount(getRedisDay(clock))
    accounts.set(id, state)
  }
  return state
}

/**
 * Decides on a request without Redis.
 * @param isLost - Whether Redis is lost. If it is not, what is reserved is not granted: others may take what is left of the account.
 * @returns `undefined` if only Redis can decide.
 */
export const grantWithoutRedis = (
  instance: RedisInstance,
  request: LimitRequest,
  isLost: boolean,
): LimitGrant | undefined =>
  takeRateThenQuota(instance.rates, request, (account, calls) => {
    const state = getRedisAccount(instance, account)
    const today = getRedisDay(instance.clock)
    const granted = grantReserved(state, account, { calls, weights: request.weights, today, isLost })
    if (granted === 'wait') return undefined
    if (granted.charged > 0) {
      instance.unreported.set(account.id, state)
      instance.ledger.add(account.id, state.counter.day.day, granted.charged)
      instance.degraded.recordGrant(account.id, granted.charged)
    }
    return toQuotaGrant(state.counter, account, { calls, ...granted })
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
  account: string,
  { units, day, seededAt }: Pick<Charge, 'units' | 'day' | 'seededAt'>,
): void => {
  scripts.charge(account, { units: -units, day, seededAt }).catch(() => {})
}

/** Sends a request to Redis. @param seed - What the ledger has, if it was read. */
export const send = (instance: RedisInstance, waiter: RedisWaiter, seed?: Seed): void => {
  const { room, clock } = instance
  const { request, shard, since } = waiter
  waiter.waitsFor = 'reply'
  waiter.sentAt = clock.clock()
  const state = request.account && getRedisAccount(instance, request.account)
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
const cancelReserving = (instance: RedisInstance, { account }: LimitRequest): void => {
  if (account !== undefined) getRedisAccount(instance, account).reservedDay = 0
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
  else if (request.account !== undefined) void seedAndSend(instance, waiter, request.account)
}

/** Ends a request that Redis decided. */
const finish = (instance: RedisInstance, waiter: RedisWaiter, taken: TakenFromRedis, isReserving: boolean): void => {
  const { request, shard } = waiter
  const { account } = request
  const state = account && getRedisAccount(instance, account)
  if (account !== undefined && state !== undefined) {
    const now = instance.clock.clock()
    setTaken(state, account, taken, { connection: shard.connection, isReserving, now })
    instance.seen.add(account.id, state, now)
  }
  if (removeWaiter(instance.room, shard, waiter)) waiter.resolve(toGrant(instance, request, taken, state))
  // The caller already got the response that nothing was decided.
  else if (account !== undefined && state !== undefined && taken.charged > 0) {
    returnCharged(state, taken.charged)
    returnToRedis(instance, account.id, { units: taken.charged, ...taken })
  }
}

/** Builds the grant of a request, and counts what Redis granted here too. */
const toGrant = (
  { rates, ledger }: RedisInstance,
  { id, rate, account, calls, passed, weights }: LimitRequest,
  taken: TakenFromRedis,
  state: RedisAccount | undefined,
): LimitGrant => {
  const { view } = taken
  const decision = rate && toRateDecision(taken.spent, rate, { calls, weights, granted: taken.rated })
  // So that this process can decide if Redis is lost.
  if (rate !== undefined && taken.rated > 0) rates.take(id, rate, taken.rated, weights)
  const requested = Math.min(passed, taken.rated)
  if (account === undefined || state === undefined || requested === 0)
    return { granted: requested, rate: decision, quota: undefined, view }
  if (taken.charged > 0) ledger.add(account.id, taken.day, taken.charged)
  const quota = toQuotaGrant(toCounter(state, taken), account, { calls: requested, ...taken })
  return { granted: taken.granted, rate: decision, quota, view }
}

/** Seeds the account and sends the request again. A slow ledger makes requests wait, and does not count as a lost Redis. */
const seedAndSend = async (instance: RedisInstance, waiter: RedisWaiter, account: QuotaAccount): Promise<void> => {
  waiter.waitsFor = 'ledger'
  const delayMs = waiter.shard.seedableAt - instance.clock.clock()
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
  try {
    const seed = await instance.readSeed(account.id)
    if (getWaiting(instance.room, waiter.shard).has(waiter)) send(instance, waiter, seed)
  } catch {
    giveUp(instance, waiter)
  }
}

/** The counter as Redis had it after this request: the account's may be further by now. */
const toCounter = ({ counter }: RedisAccount, { day, dayUsed, monthUsed }: TakenFromRedis) =>
  counter.day.day === day ? { day: counter.day, dayUsed, monthUsed } : createCounter(day, dayUsed, monthUsed)

/** Whether Redis did not reply: what it replies, such as OOM, is an error of another kind. */
const isConnectionError = (error: unknown): boolean => !(error instanceof Error && error.name === 'ReplyError')
