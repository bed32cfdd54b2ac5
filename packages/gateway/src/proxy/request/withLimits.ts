import { getRateBucket } from '../../auth/key/tenant.ts'
import { describeFault } from '../../errors/faultLog.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import type { LimitGrant } from '../../usage/limits/usageLimits.ts'
import { sendRejection } from './endRequest.ts'
import type { GatewayContext } from './gatewayContext.ts'
import type { AuthorizedRequest } from './requestContext.ts'
import { learnView } from './shareView.ts'
import { getLimitHeaders, takeLimits, toLimitRejection } from './takeLimits.ts'
import type { RequestedCalls } from './takeLimits.ts'

/**
 * Takes the limits for the calls of a request, and proceeds with what they were granted: in the same tick if that is known at once. If the quota
 * cannot be read, the whole request is rejected. A caller that disconnects first is counted once that is known.
 * @param proceed - It is also called if the caller has disconnected and the calls may have been charged: return them then.
 */
export const withLimits = (
  gateway: GatewayContext,
  authorized: AuthorizedRequest,
  requested: RequestedCalls,
  proceed: (taken: LimitGrant) => void,
): void => {
  const { context } = authorized
  const { trace } = context
  const startedAt = trace === undefined ? 0 : performance.now()
  const use = (taken: LimitGrant): void => {
    trace?.step('limits', startedAt)
    if (taken.view !== undefined) learnView(authorized, taken.view)
    context.facts.limitHeaders = getLimitHeaders(taken, gateway, authorized)
    proceed(taken)
  }
  const unavailable = (error: unknown): void => {
    trace?.step('limits', startedAt)
    gateway.log({ event: 'fault', where: 'quota', ...describeFault(error), count: 1 })
    if (!context.gone) sendRejection(gateway, context, rejections.limitsUnavailable())
  }
  let taken: LimitGrant | Promise<LimitGrant>
  try {
    taken = takeLimits(gateway, authorized, requested)
  } catch (error) {
    unavailable(error)
    return
  }
  if (!(taken instanceof Promise)) {
    use(taken)
    return
  }
  let isTaken = false
  let stopped: (() => void) | undefined
  context.cancel = (then) => {
    if (isTaken) then()
    else stopped = then
  }
  const leave = (): void => {
    isTaken = true
    stopped?.()
  }
  taken.then(
    (later) => {
      if (!context.gone) use(later)
      else if (requested.passed > 0) proceed(later)
      leave()
    },
    (error: unknown) => {
      unavailable(error)
      leave()
    },
  )
}

/** Whether the rate left nothing, not even for rejected calls. */
export const isRateUsedUp = ({ rate }: LimitGrant): boolean => rate?.granted === 0

/** Finds why a request is rejected whose key has used up its rate, as far as this process knows without a request to Redis. */
export const findUsedUp = (gateway: GatewayContext, authorized: AuthorizedRequest): Rejection | undefined => {
  const { tenant, network } = authorized
  const { limits } = gateway.usage
  const { id, rate } = getRateBucket(tenant, network.group.network)
  if (limits === undefined || rate === undefined || tenant.testKey !== undefined) return undefined
  const next = limits.peek(id, rate)
  if (next.granted > 0) return undefined
  const taken: LimitGrant = { granted: 0, rate: next, quota: undefined }
  authorized.context.facts.limitHeaders = getLimitHeaders(taken, gateway, authorized)
  return toLimitRejection(taken, { index: 0 }, gateway)
}
