import type { TakenLimits } from './takenLimits.ts'
import { getFaultCode } from '../../errors/faultLog.ts'
import type { Tenant } from '../../auth/key/tenant.ts'
import type { RateDecision } from '../../usage/rateLimit/rateDecision.ts'
import { rateHeaders } from '../../usage/rateLimit/rateHeaders.ts'
import type { QuotaGrant } from '../../usage/quota/quota.ts'
import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { testKeyLimits } from './testKeyResponses.ts'

const unlimited = (granted: number): TakenLimits => ({ granted, rate: undefined, quota: undefined })

/**
 * Takes the calls of one request, all at once, from the key's rate, and what that grants from its quota.
 * @param calls - How many passed all other checks.
 * @param items - How many there are with those that were rejected: checking costs too, so the rate is taken for all. `calls` or more.
 * @returns A plain value where neither has to ask anybody. A promise that is rejected says that the quota cannot be asked.
 */
export const takeLimits = (
  gateway: GatewayContext,
  tenant: Tenant,
  calls: number,
  items: number = calls,
): TakenLimits | Promise<TakenLimits> => {
  if (tenant.testKey !== undefined) return testKeyLimits(tenant.testKey, calls, gateway.now()) ?? unlimited(calls)
  if (tenant.rate === undefined || gateway.rates === undefined) return takeQuota(gateway, tenant, calls)
  const rate = gateway.rates.take(tenant.record.id, tenant.rate, items)
  return rate instanceof Promise
    ? rate.then((decision) => takeQuota(gateway, tenant, Math.min(calls, decision.granted), decision))
    : takeQuota(gateway, tenant, Math.min(calls, rate.granted), rate)
}

/** The decision on the next call where this process knows, without asking Redis, that the key's rate is used up. */
export const findUsedUpRate = (
  { rates }: Pick<GatewayContext, 'rates'>,
  { record, rate, testKey }: Tenant,
): RateDecision | undefined => {
  if (rates === undefined || rate === undefined || testKey !== undefined) return undefined
  const next = rates.peek?.(record.id, rate)
  return next?.granted === 0 ? next : undefined
}

const takeQuota = (
  { quota }: GatewayContext,
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

/** Returns to the quota what was taken for calls that never went out to a node. */
export const giveBack = ({ quota, log }: GatewayContext, taken: TakenLimits, calls: number): void => {
  if (taken.quota === undefined || calls === 0) return
  try {
    quota?.giveBack(taken.quota, calls)
  } catch (error) {
    log({ event: 'fault', where: 'quota', code: getFaultCode(error), count: 1 })
  }
}

/** Why a call was not granted. Those that the rate rejected come after those that the quota did. */
export const toLimitRejection = (
  { rate, quota }: TakenLimits,
  place: number,
  { now, quotaStatus }: Pick<GatewayContext, 'now' | 'quotaStatus'>,
): Rejection =>
  rate !== undefined && place >= rate.granted
    ? rejections.rateLimited({ ...rate, nowMs: now() })
    : quota === undefined
      ? rejections.limitsUnavailable()
      : rejections.quotaExceeded(quota, quotaStatus)

/** Which window a grant tells about. */
const windowOf = ({ rejectedBy, account }: QuotaGrant): 'Day' | 'Month' =>
  rejectedBy === 'month' || (rejectedBy === undefined && account.perDay === null) ? 'Month' : 'Day'

/** The headers by which a caller is told what is left; `undefined` where nothing limits the key. */
export const limitHeaders = ({ rate, quota }: TakenLimits, nowMs: number): readonly string[] | undefined => {
  const ofRate = rate === undefined ? undefined : rateHeaders(rate, nowMs)
  if (quota === undefined || quota.limit === null) return ofRate
  const window = windowOf(quota)
  const ofQuota = [
    `X-RateLimit-Limit-${window}`,
    String(quota.limit),
    `X-RateLimit-Remaining-${window}`,
    String(quota.remaining ?? 0),
    `X-RateLimit-Reset-${window}`,
    String(Math.ceil(quota.resetAtMs / 1000)),
  ]
  return ofRate === undefined ? ofQuota : [...ofRate, ...ofQuota]
}
