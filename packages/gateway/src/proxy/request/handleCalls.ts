import { isRejection } from '../../errors/rejection.ts'
import type { Rejection } from '../../errors/rejection.ts'
import type { LimitGrant } from '../../usage/limits/usageLimits.ts'
import type { CallResult, CheckedCall } from '../upstream/callResult.ts'
import { runCalls } from '../upstream/runCalls.ts'
import { completeCalls } from './completeCalls.ts'
import { sendRejection } from './endRequest.ts'
import type { GatewayContext } from './gatewayContext.ts'
import type { CheckedRequest } from './requestContext.ts'
import { shareView } from './shareView.ts'
import { returnUnsent, toLimitRejection } from './takeLimits.ts'
import { toCallScope } from './toCallScope.ts'
import { isRateUsedUp, withLimits } from './withLimits.ts'

/** Takes the limits for the calls of a request, runs those that are granted, and sends the response. */
export const handleCalls = (gateway: GatewayContext, request: CheckedRequest): void => {
  const { calls, checked } = request
  const [first] = checked
  if (first !== undefined && !isRejection(first) && first.traits.keepsAlive === true) {
    runFree(gateway, request)
    return
  }
  const weights: number[] = []
  for (const call of checked) if (!isRejection(call)) weights.push(call.traits.weight)
  const passed = weights.length
  const requested = { passed, calls: calls.length, weights: weights.every(isOne) ? undefined : weights }
  withLimits(gateway, request, requested, (taken) => {
    if (request.context.gone) returnAll(gateway, request, taken)
    else if (passed === 0 ? isRateUsedUp(taken) : taken.granted === 0) rejectAll(gateway, request, taken)
    else if (passed === 0) completeCalls(gateway, request, checked.filter(isRejection))
    else {
      if (taken.granted < passed) rejectUngranted(gateway, request, taken)
      runGranted(gateway, request, taken)
    }
  })
}

/** Returns what was granted to a caller that has disconnected. */
const returnAll = (gateway: GatewayContext, request: CheckedRequest, taken: LimitGrant): void => {
  rejectUngranted(gateway, request, taken)
  charge(gateway, request, taken)([...request.checked.keys()])
}

/** Runs a call that is neither limited nor counted. */
const runFree = (gateway: GatewayContext, request: CheckedRequest): void => {
  request.context.facts.metered = true
  const done = (results: readonly CallResult[]): void => completeCalls(gateway, request, results)
  runCalls(request.checked, toCallScope(request), { done, unsent: nothing })
}

const nothing = (): void => {}

const isOne = (weight: number): boolean => weight === 1

/** Rejects a request of which no call was granted. A batch gets one error, because one for each call is a hundred times longer than the shortest call. */
const rejectAll = (gateway: GatewayContext, request: CheckedRequest, taken: LimitGrant): void => {
  const { context, isBatch, checked } = request
  const first = checked.find((call): call is Exclude<CheckedCall, Rejection> => !isRejection(call))
  const rejection = toLimitRejection(taken, { index: 0, traits: first?.traits }, gateway)
  if (isBatch) sendRejection(gateway, context, rejection)
  else completeCalls(gateway, request, [rejection])
}

/** Replaces the calls that were not granted by rejections. */
const rejectUngranted = (gateway: GatewayContext, { checked }: CheckedRequest, taken: LimitGrant): void => {
  let passed = 0
  let rejection: Rejection | undefined
  for (const [index, call] of checked.entries()) {
    if (isRejection(call)) continue
    // At most two different rejections, so that a batch of a thousand calls does not create a thousand.
    if (passed === taken.granted || passed === taken.rate?.granted)
      rejection = toLimitRejection(taken, { index: passed, traits: call.traits }, gateway)
    if (rejection !== undefined) checked[index] = rejection
    passed += 1
  }
}

/** Records what the granted calls are charged. @returns Returns calls to the quota that were not sent to a node. */
const charge = (
  gateway: GatewayContext,
  { context, checked }: CheckedRequest,
  taken: LimitGrant,
): ((places: readonly number[]) => void) => {
  const charged = checked.map((call) => (isRejection(call) ? 0 : call.traits.weight))
  context.facts.charged = { units: charged, day: taken.quota?.day }
  return (places) => {
    let units = 0
    for (const place of places) units += charged[place] ?? 0
    if (returnUnsent(gateway, taken, units)) for (const place of places) charged[place] = 0
  }
}

/** Runs the granted calls. Those that end without having been sent to a node are returned to the quota. */
const runGranted = (gateway: GatewayContext, request: CheckedRequest, taken: LimitGrant): void => {
  const { context, checked } = request
  const unsent = charge(gateway, request, taken)
  const done = (results: readonly CallResult[]): void => {
    const shared = shareView(gateway, request)
    // A stream that is not started now is stopped.
    if (shared === undefined || results.some((result) => 'stream' in result)) finish(gateway, request, results)
    else
      void shared.then(() => {
        // A request whose caller has disconnected was counted then, unless it cannot be cancelled.
        if (!context.gone || context.cancel === undefined) finish(gateway, request, results)
      })
  }
  context.cancel = runCalls(checked, toCallScope(request), { done, unsent })
}

const finish = (gateway: GatewayContext, request: CheckedRequest, results: readonly CallResult[]): void => {
  const { context, network, tenant } = request
  context.facts.block = network.group.views.getHead(tenant.record.id)
  completeCalls(gateway, request, results)
}
