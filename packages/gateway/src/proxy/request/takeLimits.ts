import { getRateBucket } from '../../auth/key/tenant.ts'
import type { TestKey } from '../../auth/key/tenant.ts'
import { describeFault } from '../../errors/faultLog.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { getUtcDay } from '../../lib/utcDay.ts'
import type { LimitGrant, QuotaGrant } from '../../usage/limits/usageLimits.ts'
import { rateHeaders } from '../../usage/rateLimit/rateHeaders.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { GatewayContext } from './gatewayContext.ts'
import type { AuthorizedRequest } from './requestContext.ts'
import { getSharedView } from './shareView.ts'

/** The limits of test keys. */
const testPerSecond = 25
const testBurst = 100
const testPerDay = 25_000

const unlimited = (granted: number): LimitGrant => ({ granted, rate: undefined, quota: undefined })

/** The calls of one request. */
export interface RequestedCalls {
  /** How many calls the request holds, rejected ones included: checking costs too, so the rate is taken for all. */
  readonly calls: number
  /** How many calls passed all other checks. */
  readonly passed: number
  /** The weights of those that passed; `undefined`: 1 each. */
  readonly weights?: readonly number[] | undefined
}

/**
 * Charges the calls of one request together to the rate of their key, and those that it grants to the quota.
 * @returns A plain value if this process knows the result, otherwise a promise. It rejects if the quota cannot be read.
 */
export const takeLimits = (
  gateway: GatewayContext,
  authorized: AuthorizedRequest,
  { calls, passed, weights }: RequestedCalls,
): LimitGrant | Promise<LimitGrant> => {
  const { tenant, network } = authorized
  const { testKey, quota } = tenant
  const { limits } = gateway.usage
  const { testKeys } = gateway.auth
  if (testKey !== undefined) {
    const simulated = getTestKeyLimits(testKey, passed, gateway.now())
    if (simulated !== undefined || testKeys === undefined) return simulated ?? unlimited(0)
    const rate = testKeys.rates.take(tenant.record.id, { perSecond: testPerSecond, burst: testBurst }, calls)
    return { granted: Math.min(passed, rate.granted), rate, quota: undefined }
  }
  if (limits === undefined) return unlimited(passed)
  const { id, rate } = getRateBucket(tenant, network.group.network)
  return limits.take({ id, rate, quota, calls, passed, weights, view: getSharedView(gateway, authorized) })
}

/**
 * The limits of a test key: those of a real key whose rate or quota is used up.
 * @returns `undefined` if the test key simulates something else.
 */
const getTestKeyLimits = (testKey: TestKey, calls: number, nowMs: number): LimitGrant | undefined => {
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
  const day = getUtcDay(nowMs)
  return {
    granted: 0,
    rate: undefined,
    quota: {
      granted: 0,
      charged: 0,
      rejectedBy: 'day',
      limit: testPerDay,
      remaining: 0,
      resetAtMs: day.endMs,
      quota: { id: 'key:test_quota', perDay: testPerDay, perMonth: null },
      day: day.text,
    },
  }
}

/**
 * Returns to the quota the units of calls that were not sent to a node.
 * @returns Whether the calls cost nothing now. Otherwise they stay charged, for example because the day of the quota has ended.
 */
export const returnUnsent = (
  { usage: { limits }, log }: GatewayContext,
  { quota }: LimitGrant,
  units: number,
): boolean => {
  if (quota === undefined || limits === undefined || units === 0) return true
  try {
    return limits.giveBack(quota, units) === units
  } catch (error) {
    log({ event: 'fault', where: 'quota', ...describeFault(error), count: 1 })
    return false
  }
}

/**
 * Why a call was not granted.
 * @param call.index - Its index among the calls that passed the other checks. The quota rejects earlier ones than the rate, because it is taken for fewer.
 * @param call.traits - Of its method, if it passed the other checks.
 */
export const toLimitRejection = (
  { rate, quota }: LimitGrant,
  { index, traits }: { readonly index: number; readonly traits?: MethodTraits | undefined },
  { now, config: { quotaStatus } }: GatewayContext,
): Rejection =>
  rate !== undefined && index >= rate.granted
    ? rejections.rateLimited({ ...rate, nowMs: now(), call: traits })
    : quota === undefined
      ? rejections.limitsUnavailable()
      : rejections.quotaExceeded({ ...quota, call: traits }, quotaStatus)

/** The window whose numbers the headers show. */
const getWindow = ({ rejectedBy, quota }: QuotaGrant): 'Day' | 'Month' =>
  rejectedBy === 'month' || (rejectedBy === undefined && quota.perDay === null) ? 'Month' : 'Day'

/** The response headers that show what is left, and with weights what the request cost; `undefined` if nothing limits the key. */
export const getLimitHeaders = (
  taken: LimitGrant,
  { now }: Pick<GatewayContext, 'now'>,
  { network: { hasWeights } }: Pick<AuthorizedRequest, 'network'>,
): readonly string[] | undefined => {
  const left = getLeftHeaders(taken, now())
  // Calls that other checks rejected cost the rate, but not the quota: the cost is what the request took from the quota.
  return hasWeights && left !== undefined ? [...left, 'X-RateLimit-Cost', String(taken.quota?.charged ?? 0)] : left
}

const getLeftHeaders = ({ rate, quota }: LimitGrant, nowMs: number): readonly string[] | undefined => {
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
