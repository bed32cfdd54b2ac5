import { StorageError } from '../../errors/storageError.ts'
import { monotonicClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import { getUtcDay } from '../../lib/utcDay.ts'
import type { UtcDay } from '../../lib/utcDay.ts'
import { timedOut, withTimeout } from '../../lib/withTimeout.ts'
import type { RedisLink } from '../../storage/redis/redisLink.ts'
import { createRateLimiter } from '../rateLimit/createRateLimiter.ts'
import type { RateLimiter } from '../rateLimit/createRateLimiter.ts'
import { toRateDecision } from '../rateLimit/tokenBucket.ts'
import { tooSlow } from './accountDays.ts'
import type { AccountDays } from './accountDays.ts'
import { createDegradedMode } from './createDegradedMode.ts'
import { createReturns } from './createReturns.ts'
import { createSeenAccounts } from './createSeenAccounts.ts'
import { createSeeds } from './createSeeds.ts'
import type { Seed } from './createSeeds.ts'
import type { Ledger } from './ledger.ts'
import { defineLimitScripts, toRateKey, toUsedKey } from './limitScript.ts'
import type { Charge, TakenFromRedis, TakeResult } from './limitScript.ts'
import { createCounter, toQuotaGrant, toQuotaUsage } from './quotaCounter.ts'
import {
  createRedisAccount,
  giveBackUnits,
  isUsedUp,
  setTaken,
  takeOwed,
  takePermits,
  toFloorCharge,
  toTakeOptions,
  undoTaken,
} from './redisAccount.ts'
import type { RedisAccount } from './redisAccount.ts'
import { createRedisShards } from './redisShards.ts'
import type { Shard } from './redisShards.ts'
import { countRequested, takeRate } from './takeRate.ts'
import type { LimitGrant, LimitRequest, LimitsEvent, QuotaAccount, UsageLimits } from './usageLimits.ts'
import { toViewKey } from './viewScript.ts'

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
  /** Units that all instances together may grant to an account and day while Redis is lost. @default 500 */
  readonly outageGrant?: number | undefined
  /** How long a request waits for Redis, in milliseconds. @default 2_000 */
  readonly patienceMs?: number | undefined
  /** Most requests that wait at once: twice what an instance handles in `patienceMs`. @default 50_000 */
  readonly maxWaiting?: number | undefined
  /** Accounts that this instance remembers. @default 200_000 */
  readonly maxAccounts?: number | undefined
  /** Milliseconds since 1970, until Redis has returned its own time. @default Date.now */
  readonly now?: (() => number) | undefined
  /** Measures how long requests wait. @default a monotonic clock */
  readonly clock?: Clock | undefined
  readonly onEvent?: ((event: LimitsEvent) => void) | undefined
}

/** A request that waits for Redis. */
interface Waiting {
  readonly request: LimitRequest
  readonly shard: Shard
  /** The deadline by the monotonic clock is `since + patienceMs`. */
  readonly since: number
  /** It is sent once the shard is connected, or once the ledger was read. */
  waitsFor: 'connection' | 'reply' | 'ledger'
  /** When it was sent last. */
  sentAt: number
  readonly resolve: (grant: LimitGrant) => void
  readonly reject: (error: Error) => void
}

/** How long a response waits until its news are shared, in milliseconds. */
const maxShareMs = 500
/** How often waiting requests and hung shards are checked, in milliseconds. */
const tickMs = 100

/**
 * Creates the limits of a service on several machines: one script in Redis decides on the rate and the quota of a request in one round trip. If Redis
 * has no counter for an account, the script gets it from the ledger in the database.
 */
export const createRedisLimits = (options: RedisLimitsOptions): UsageLimits => {
  const { redis, rows, ledger, flush, outageGrant = 500, patienceMs = 2_000, maxWaiting = 50_000 } = options
  const wallClock = options.now ?? Date.now
  const clock = options.clock ?? monotonicClock()
  const rates = options.rates ?? createRateLimiter()
  const scripts = defineLimitScripts(redis)
  const degraded = createDegradedMode(options.onEvent)
  const returns = createReturns()
  const accounts = createRecentMap<RedisAccount>(options.maxAccounts ?? 200_000)
  /** Accounts with units that were not sent to Redis yet. They are never evicted. */
  const owing = new Map<string, RedisAccount>()
  const seen = createSeenAccounts()
  const waiting = new Set<Waiting>()
  let closed = false

  /** The clock of Redis minus `clock`; `undefined` until it is known. Replies take time, so it is never ahead. */
  let offsetMs: number | undefined
  /** The same, but never behind: for deadlines, because a busy process handles replies late. Units that are granted after a request gave up are returned. */
  let deadlineOffsetMs: number | undefined
  const getRedisTime = (): number => (offsetMs === undefined ? wallClock() : Math.floor(clock() + offsetMs))
  let today = getUtcDay(wallClock())
  const getToday = (): UtcDay => {
    const time = getRedisTime()
    if (time >= today.endMs || time < today.endMs - 86_400_000) today = getUtcDay(time)
    return today
  }
  const readSeed = createSeeds(rows, getRedisTime)

  const getState = ({ id }: QuotaAccount): RedisAccount => {
    let state = accounts.get(id) ?? owing.get(id)
    if (state === undefined) {
      state = createRedisAccount(getToday())
      accounts.set(id, state)
    }
    return state
  }

  /**
   * Decides on a request without Redis.
   * @param isLost - Whether Redis is lost. If it is not, permits are not spendable: others may take what is left of the account.
   * @returns `undefined` if only Redis can decide.
   */
  const takeWithoutRedis = (request: LimitRequest, isLost: boolean): LimitGrant | undefined => {
    const { account, weights } = request
    const rate = takeRate(rates, request)
    const requested = countRequested(request, rate)
    if (account === undefined || requested === 0) return { granted: requested, rate, quota: undefined }
    const state = getState(account)
    const day = getToday()
    const taken = takePermits(state, account, { calls: requested, weights, today: day, isLost })
    if (taken === 'unknown') return undefined
    const { granted, charged } = taken
    if (charged > 0) {
      owing.set(account.id, state)
      ledger.add(account.id, state.counter.day.day, charged)
      degraded.recordGrant(account.id, charged)
    }
    return { granted, rate, quota: toQuotaGrant(state.counter, account, { calls: requested, granted, charged }) }
  }

  /** Ends a request that Redis did not decide. */
  const giveUp = (one: Waiting, isLost = one.shard.lostSince !== undefined): void => {
    if (!waiting.delete(one)) return
    const grant = takeWithoutRedis(one.request, isLost)
    if (grant === undefined) one.reject(tooSlow())
    else one.resolve(grant)
  }

  /** Returns units that Redis charged. If that fails, they stay charged: no unit is returned twice. */
  const returnToRedis = (
    account: string,
    { units, day, seededAt }: Pick<Charge, 'units' | 'day' | 'seededAt'>,
  ): void => {
    scripts.charge(account, { units: -units, day, seededAt }).catch(() => {})
  }

  /** Sends what this instance has seen to a shard that may have taken over, before another instance is granted the same again. */
  const sendFloors = (shard: string): void => {
    for (const [account, state] of seen.list()) {
      const floor = redis.getShard(toUsedKey(account)) === shard ? toFloorCharge(state) : undefined
      if (floor !== undefined) scripts.charge(account, floor).catch(() => {})
    }
  }

  const finish = (one: Waiting, taken: TakenFromRedis, requestsPermits: boolean): void => {
    const { request, shard } = one
    const { id, rate, account, calls, passed, weights } = request
    const state = account && getState(account)
    if (account !== undefined && state !== undefined) {
      const now = clock()
      setTaken(state, account, taken, { connection: shard.connection, requestsPermits, now })
      seen.add(account.id, state, now)
    }
    if (!waiting.delete(one)) {
      // The caller already got the response that nothing was decided.
      if (account !== undefined && state !== undefined && taken.charged > 0) {
        undoTaken(state, taken.charged)
        returnToRedis(account.id, { units: taken.charged, ...taken })
      }
      return
    }
    const decision = rate && toRateDecision(taken.spent, rate, { calls, weights, granted: taken.rated })
    // Counted here too, so that this process can decide if Redis is lost.
    if (rate !== undefined && taken.rated > 0) rates.take(id, rate, taken.rated, weights)
    const requested = Math.min(passed, taken.rated)
    const { view } = taken
    if (account === undefined || state === undefined || requested === 0) {
      one.resolve({ granted: requested, rate: decision, quota: undefined, view })
      return
    }
    if (taken.charged > 0) ledger.add(account.id, taken.day, taken.charged)
    const quota = toQuotaGrant(toCounter(state, taken), account, { calls: requested, ...taken })
    one.resolve({ granted: taken.granted, rate: decision, quota, view })
  }

  const send = (one: Waiting, seed?: Seed): void => {
    const { request, shard, since } = one
    const { account } = request
    one.waitsFor = 'reply'
    one.sentAt = clock()
    const state = account && getState(account)
    const { connection } = shard
    const accountOptions = state && toTakeOptions(state, { connection, today: getToday().day, outageGrant })
    const requestsPermits = accountOptions !== undefined && accountOptions.outageGrant > 0
    // Permits are requested once: a second request in flight gets none.
    if (requestsPermits && state !== undefined) state.permitDay = getToday().day
    const deadline =
      deadlineOffsetMs === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(since + patienceMs + deadlineOffsetMs)
    const takeOptions = { deadline, floor: accountOptions?.floor, seed, outageGrant: accountOptions?.outageGrant ?? 0 }
    scripts.take(request, takeOptions).then(
      (result) => handleResult(one, result, requestsPermits),
      (error: unknown) => {
        if (requestsPermits && account !== undefined) getState(account).permitDay = 0
        // It may be known only a moment later that the connection is lost.
        if (isConnectionError(error)) shards.lose(shard)
        giveUp(one, true)
      },
    )
  }

  const handleResult = (one: Waiting, result: TakeResult, requestsPermits: boolean): void => {
    const { shard, request } = one
    const { account } = request
    shard.lastReplyAt = clock()
    offsetMs = result.now - clock()
    deadlineOffsetMs = result.now - one.sentAt
    if (result.status === 'taken') finish(one, result, requestsPermits)
    else {
      if (requestsPermits && account !== undefined) getState(account).permitDay = 0
      if (result.status === 'late') giveUp(one)
      else if (account !== undefined) void seedAndSend(one, account)
    }
  }

  /** Seeds the account and sends the request again. A slow ledger makes requests wait, and does not count as a lost Redis. */
  const seedAndSend = async (one: Waiting, account: QuotaAccount): Promise<void> => {
    one.waitsFor = 'ledger'
    const delayMs = one.shard.seedableAt - clock()
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    try {
      const seed = await readSeed(account.id)
      if (waiting.has(one)) send(one, seed)
    } catch {
      giveUp(one)
    }
  }

  /** Charges the units that were granted while shards were lost that are back now. */
  const chargeOwed = async (): Promise<void> => {
    const isWritten = await flush().then(
      () => true,
      () => false,
    )
    const writtenAt = isWritten ? getRedisTime() : Number.MAX_SAFE_INTEGER
    for (const [account, state] of owing) {
      // After a failover another shard may have it.
      if (!redis.isReady(toUsedKey(account))) continue
      const owed = takeOwed(state)
      owing.delete(account)
      if (accounts.get(account) === undefined) accounts.set(account, state)
      for (const charge of owed) scripts.charge(account, { ...charge, writtenAt }).catch(() => {})
    }
    if (owing.size === 0 && !shards.isAnyLost()) degraded.leave()
  }

  const shards = createRedisShards({
    redis,
    clock,
    patienceMs,
    onLost: () => degraded.enter(),
    onReady: sendFloors,
    onConnected: (shard, wasLost) => {
      for (const one of waiting) if (one.shard === shard && one.waitsFor === 'connection') send(one)
      if (wasLost) void chargeOwed()
    },
  })

  const tick = (): void => {
    const now = clock()
    const oldest = new Map<Shard, number>()
    for (const { shard, waitsFor, sentAt } of waiting)
      if (waitsFor === 'reply') oldest.set(shard, Math.min(sentAt, oldest.get(shard) ?? Infinity))
    shards.check(oldest)
    // After the shards: permits are spendable once a shard is lost.
    for (const one of waiting) if (now - one.since >= patienceMs) giveUp(one)
  }
  const timer = setInterval(tick, tickMs)
  timer.unref()

  const rejectUsedUp = (request: LimitRequest, account: QuotaAccount, state: RedisAccount): LimitGrant => {
    const rate = takeRate(rates, request)
    const requested = countRequested(request, rate)
    if (requested === 0) return { granted: 0, rate, quota: undefined }
    const quota = toQuotaGrant(state.counter, account, { calls: requested, granted: 0, charged: 0 })
    return { granted: 0, rate, quota }
  }

  const take = (request: LimitRequest): LimitGrant | Promise<LimitGrant> => {
    const { id, rate, account, passed } = request
    if (rate === undefined && (account === undefined || passed === 0))
      return { granted: passed, rate: undefined, quota: undefined }
    if (closed) return Promise.reject(new StorageError('the limits are closed', { fault: 'unavailable' }))
    if (account !== undefined) {
      const state = getState(account)
      if (isUsedUp(state, account, getToday().day, clock())) return rejectUsedUp(request, account, state)
    }
    const shard = shards.get(account === undefined ? toRateKey(id, undefined) : toUsedKey(account.id))
    const since = clock()
    const isLost = shard.lostSince !== undefined
    if (isLost) {
      const grant = takeWithoutRedis(request, isLost)
      if (grant !== undefined) return grant
      // A connection that is soon back is worth waiting for.
      if (since - (shard.lostSince ?? since) >= patienceMs) return Promise.reject(tooSlow())
    }
    if (waiting.size >= maxWaiting) return Promise.reject(tooSlow())
    return new Promise((resolve, reject) => {
      const one: Waiting = { request, shard, since, waitsFor: 'connection', sentAt: 0, resolve, reject }
      waiting.add(one)
      if (!isLost) send(one)
    })
  }

  return {
    take,
    giveBack: (grant, units) => {
      const { id } = grant.account
      const day = getToday()
      const returned = returns.take(grant, units)
      if (returned === 0 || grant.day !== day.text) return
      const state = getState(grant.account)
      ledger.add(id, day.day, -returned)
      const known = giveBackUnits(state, grant.account, returned, day)
      if (known > 0) returnToRedis(id, { units: known, day: day.day, seededAt: state.seededAt })
    },
    peek: (id, rate) => rates.peek(id, rate),
    share: ({ id }, view) => {
      if (closed || !redis.isReady(toViewKey(view, id))) return undefined
      const shared = scripts.share(id, view).catch(() => undefined)
      return withTimeout(shared, maxShareMs, { unref: true }).then((result) =>
        result === timedOut ? undefined : result,
      )
    },
    usage: async (account) => {
      const { day, dayUsed, monthUsed } =
        (await scripts.read(account.id).catch(() => undefined)) ?? (await readSeed(account.id))
      return toQuotaUsage(createCounter(day, dayUsed, monthUsed), account)
    },
    close: async () => {
      closed = true
      clearInterval(timer)
      for (const one of waiting) one.reject(new StorageError('the limits are closed', { fault: 'unavailable' }))
      waiting.clear()
    },
  }
}

/** The counter as Redis had it after this request: the account's may be further by now. */
const toCounter = ({ counter }: RedisAccount, { day, dayUsed, monthUsed }: TakenFromRedis) =>
  counter.day.day === day ? { day: counter.day, dayUsed, monthUsed } : createCounter(day, dayUsed, monthUsed)

/** Whether Redis did not reply: what it replies, such as OOM, is an error of another kind. */
const isConnectionError = (error: unknown): boolean => !(error instanceof Error && error.name === 'ReplyError')
