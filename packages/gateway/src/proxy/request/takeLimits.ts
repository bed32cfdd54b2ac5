import type { Tenant, TestKey } from '../../auth/key/tenant.ts'
import { getFaultCode } from '../../errors/faultLog.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import type { QuotaGrant } from '../../usage/quota/quota.ts'
import type { RateDecision } from '../../usage/rateLimit/rateLimiter.ts'
import { rateHeaders } from '../../usage/rateLimit/rateHeaders.ts'
import type { GatewayContext } from './gatewayContext.ts'

const dayMs = 86_400_000
/** The limits of test keys. */
const testPerSecond = 25
const testPerDay = 25_000

/** What the calls of a request were granted: the first `granted` of them may be sent. */
export interface TakenLimits {
  readonly granted: number
  /** `undefined`: the key has no rate limit. */
  readonly rate: RateDecision | undefined
  /** `undefined`: the key has no quota, or its rate left nothing to take. */
  readonly quota: QuotaGrant | undefined
}

const unlimited = (granted: number): TakenLimits => ({ granted, rate: undefined, quota: undefined })

/**
 * Takes the calls of one request together from the rate limit of their key, and those that it grants from the quota.
 * @param passed - How many calls passed all other checks.
 * @param calls - How many calls the request holds, rejected ones included: checking costs too, so the rate is taken for all. `passed` or more.
 * @returns A plain value if this process knows the result, otherwise a promise. It rejects if the quota cannot be read.
 */
export const takeLimits = (
  { usage: { rates, quota }, now }: GatewayContext,
  tenant: Tenant,
  passed: number,
  calls: number = passed,
): TakenLimits | Promise<TakenLimits> => {
  if (tenant.testKey !== undefined) return getTestKeyLimits(tenant.testKey, passed, now()) ?? unlimited(passed)
  if (tenant.rate === undefined || rates === undefined) return takeQuota(quota, tenant, passed)
  const rate = rates.take(tenant.record.id, tenant.rate, calls)
  return rate instanceof Promise
    ? rate.then((decision) => takeQuota(quota, tenant, Math.min(passed, decision.granted), decision))
    : takeQuota(quota, tenant, Math.min(passed, rate.granted), rate)
}

/**
 * The limits of a test key: those of a real key whose rate or quota is used up.
 * @returns `undefined` if the test key simulates something else.
 */
const getTestKeyLimits = (testKey: TestKey, calls: number, nowMs: number): TakenLimits | undefined => {
  if (testKey === '429')
    return {
      granted: 0,
      rate: {
        granted: 0,
        perSecond: testPerSecond,
        remaining: 0,
        retryAfterMs: 1_000,
        resetMs: 1_000,
        currentPerSecond: testPerSecond + calls,
      },
      quota: undefined,
    }
  if (testKey !== 'quota') return undefined
  const midnight = Math.floor(nowMs / dayMs) * dayMs
  return {
    granted: 0,
    rate: undefined,
    quota: {
      granted: 0,
      rejectedBy: 'day',
      limit: testPerDay,
      remaining: 0,
      resetAtMs: midnight + dayMs,
      account: { id: 'key:test_quota', perDay: testPerDay, perMonth: null },
      day: new Date(nowMs).toISOString().slice(0, 10),
    },
  }
}

/** The decision on the next call if this process knows, without a request to Redis, that the rate of the key is used up. */
export const findUsedUpRate = (
  { usage: { rates } }: GatewayContext,
  { record, rate, testKey }: Tenant,
): RateDecision | undefined => {
  if (rates === undefined || rate === undefined || testKey !== undefined) return undefined
  const next = rates.peek?.(record.id, rate)
  return next?.granted === 0 ? next : undefined
}

const takeQuota = (
  quota: GatewayContext['usage']['quota'],
  { account }: Tenant,
  calls: number,
  rate?: RateDecision,
): TakenLimits | Promise<TakenLimits> => {
  if (account === undefined || quota === undefined || calls === 0) return { granted: calls, rate, quota: undefined }
  const grant = quota.take(account, calls)
  return grant instanceof Promise
    ? grant.then((later) => ({ granted: later.granted, rate, quota: later }))
    : { granted: grant.granted, rate, quota: grant }
}

/** Returns to the quota what was taken for calls that were not sent to a node. */
export const returnUnsent = ({ usage: { quota }, log }: GatewayContext, taken: TakenLimits, calls: number): void => {
  if (taken.quota === undefined || calls === 0) return
  try {
    quota?.giveBack(taken.quota, calls)
  } catch (error) {
    log({ event: 'fault', where: 'quota', code: getFaultCode(error), count: 1 })
  }
}

/**
 * Why a call was not granted.
 * @param index - Its index among the calls that passed the other checks. The quota rejects earlier ones than the rate, because it is taken for fewer.
 */
export const toLimitRejection = (
  { rate, quota }: TakenLimits,
  index: number,
  { now, usage: { quotaStatus } }: GatewayContext,
): Rejection =>
  rate !== undefined && index >= rate.granted
    ? rejections.rateLimited({ ...rate, nowMs: now() })
    : quota === undefined
      ? rejections.limitsUnavailable()
      : rejections.quotaExceeded(quota, quotaStatus)

/** The window whose numbers the headers show. */
const getWindow = ({ rejectedBy, account }: QuotaGrant): 'Day' | 'Month' =>
  rejectedBy === 'month' || (rejectedBy === undefined && account.perDay === null) ? 'Month' : 'Day'

/** The response headers that show what is left; `undefined` if nothing limits the key. */
export const getLimitHeaders = ({ rate, quota }: TakenLimits, nowMs: number): readonly string[] | undefined => {
  const forRate = rate === undefined ? undefined : rateHeaders(rate, nowMs)
  if (quota === undefined || quota.limit === null) return forRate
  const window = getWindow(quota)
  const forQuota = [
    `X-RateLimit-Limit-${window}`,
    String(quota.limit),
    `X-RateLimit-Remaining-${window}`,
    String(quota.remaining ?? 0),
    `X-RateLimit-Reset-${window}`,
    String(Math.ceil(quota.resetAtMs / 1000)),
  ]
  return forRate === undefined ? forQuota : [...forRate, ...forQuota]
}
