import { getFaultCode } from '../../errors/faultLog.ts'
import type { IncomingMessage } from 'node:http'
import { corsHeaders } from '../http/cors.ts'
import { readBody } from '../http/readBody.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { Network } from '../../lib/network.ts'
import { rateHeaders } from '../../usage/rateLimit/rateHeaders.ts'
import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { parseBody } from './parseBody.ts'
import type { ParsedBody } from './parseBody.ts'
import type { NoRequest, RpcCall } from './rpcCall.ts'
import type { Tenant } from '../../auth/key/tenant.ts'
import type { ForwardedCall } from '../upstream/forwardCall.ts'
import type { CallResult } from '../upstream/callResult.ts'
import { holdBytes } from '../../lib/memoryBudget.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { checkCall } from './checkCall.ts'
import { smallBody } from './createBodyQueue.ts'
import type { RequestContext } from './requestContext.ts'
import { endRequest, sendRejectionBeforeBody, sendRejection } from './endRequest.ts'
import { meterCalls } from './meterCalls.ts'
import { testKeyDelayMs } from './testKeyResponses.ts'
import { batchParts, isRejection, responseParts } from './responseParts.ts'
import type { BodyPart } from './responseParts.ts'
import { runBatch } from './runBatch.ts'
import { runCall } from './runCall.ts'
import type { CallContext } from './runCall.ts'
import { findUsedUpRate, giveBack, limitHeaders, toLimitRejection, takeLimits } from './takeLimits.ts'
import type { TakenLimits } from './takenLimits.ts'
import { bytesOf } from './writeParts.ts'

/** A request whose key may be used. */
export interface Admitted extends RequestContext {
  tenant: Tenant
  network: Network
}

/**
 * Reads the body of a request whose key is good, and answers the call or the batch in it. Where the rate is known to be used up, a
 * large body is neither stored nor parsed. A small one is, as that costs little: then each call gets a response with its own id.
 */
export const handleCalls = (gateway: GatewayContext, context: Admitted): void => {
  const { maxBodyBytes } = gateway.limits
  if (!isSmall(context.request) && rejectUsedUp(gateway, context)) return
  context.kept.share = context.tenant.share
  const room = (bytes: number): boolean => holdBytes(context.kept, bytes)
  readBody(context.request, { maxBytes: maxBodyBytes, keep: true, room }, (end) => {
    if (end === 'gone' || context.gone) return
    if (end === 'tooLarge') rejectBody(gateway, context, rejections.bodyTooLarge(maxBodyBytes))
    else if (end === 'noRoom') sendRejection(gateway, context, { ...rejections.upstreamBusy(), close: true })
    else if (context.tenant.testKey === 'slow') {
      const timer = setTimeout(() => handleBody(gateway, context, end), testKeyDelayMs)
      context.cancel = () => clearTimeout(timer)
    } else handleBody(gateway, context, end)
  })
}

/** Whether a request announces a small body. */
const isSmall = ({ headers }: IncomingMessage): boolean => Number(headers['content-length'] ?? Infinity) <= smallBody

/** Rejects a request whose key has used up its rate, as far as this process knows. @returns Whether it has. */
const rejectUsedUp = (gateway: GatewayContext, context: Admitted): boolean => {
  const rate = findUsedUpRate(gateway, context.tenant)
  if (rate === undefined) return false
  const nowMs = gateway.now()
  context.limitHeaders = rateHeaders(rate, nowMs)
  const rejection = rejections.rateLimited({ ...rate, nowMs })
  if (context.request.complete) sendRejection(gateway, context, rejection)
  else sendRejectionBeforeBody(gateway, context, rejection)
  return true
}

const handleBody = (gateway: GatewayContext, context: Admitted, body: Buffer): void => {
  gateway.bodies.add(context.tenant.ownerId, body.length, () => {
    if (context.gone) return
    // The rate may have been used up while the body arrived and waited.
    if (body.length > smallBody && rejectUsedUp(gateway, context)) return
    const { maxBatchCalls, maxJsonDepth } = gateway.limits
    const parsed = parseBody(body, maxBatchCalls, maxJsonDepth)
    if (parsed.kind === 'single') handleSingle(gateway, context, parsed.item)
    else if (parsed.kind === 'batch') handleBatch(gateway, context, parsed.items)
    else {
      if (parsed.kind === 'batchTooLarge') context.items = parsed.count
      rejectBody(gateway, context, toRejection(parsed, gateway.limits))
    }
  })
}

const toRejection = (
  parsed: Exclude<ParsedBody, { kind: 'single' | 'batch' }>,
  { maxBatchCalls, maxJsonDepth }: GatewayContext['limits'],
): Rejection => {
  if (parsed.kind === 'malformed') return rejections.parseError()
  if (parsed.kind === 'tooDeep') return rejections.tooDeep(maxJsonDepth)
  return parsed.kind === 'emptyBatch' ? rejections.emptyBatch() : rejections.batchTooLarge(parsed.count, maxBatchCalls)
}

/** Rejects a body in which no calls were found. It counts as one call of the rate, and none of the quota. */
const rejectBody = (gateway: GatewayContext, context: Admitted, rejection: Rejection): void =>
  withLimits(gateway, context, {
    calls: 0,
    items: 1,
    granted: (taken) => {
      const given = isOverRate(taken) ? toLimitRejection(taken, 0, gateway) : rejection
      sendRejection(gateway, context, { ...given, close: rejection.close === true })
    },
  })

/** One for all: measured, a closure made for each request at this place kept requests from being collected while young. */
const nothing = (): void => {}

const contextOf = ({ limits, groups }: GatewayContext, { tenant, network, kept }: Admitted): CallContext => ({
  group: groups[network],
  keyId: tenant.record.id,
  ownerId: tenant.ownerId,
  keyVersion: tenant.record.version,
  timeoutMs: limits.upstreamTimeoutMs,
  maxResponseBytes: limits.maxResponseBytes,
  budget: { left: limits.maxResponseBytes, kept },
})

/** Any page that is open in a browser knows the rehearsal keys: by one that is answered, late as it is, nothing may be changed. */
const isOpenTo = ({ testKey }: Tenant, traits: MethodTraits | undefined): boolean =>
  testKey !== 'slow' || traits?.idempotent === true

const check = (
  item: RpcCall | NoRequest,
  traits: MethodTraits | undefined,
  { tenant, narrowing }: Admitted,
  { javascriptTracers }: GatewayContext,
): ForwardedCall | Rejection =>
  checkCall(item, {
    traits: isOpenTo(tenant, traits) ? traits : undefined,
    allow: tenant.record.allow,
    narrowing,
    javascriptTracers,
  })

/**
 * Goes on with what a request's calls were granted: at once, where that is known at once. Where the quota cannot be asked nothing is
 * known, and the request is rejected as a whole. What was granted to a caller that has gone meanwhile is given back.
 */
const withLimits = (
  gateway: GatewayContext,
  context: Admitted,
  options: { calls: number; items: number; granted: (taken: TakenLimits) => void },
): void => {
  const { calls, items, granted } = options
  const proceed = (taken: TakenLimits): void => {
    context.limitHeaders = limitHeaders(taken, gateway.now())
    granted(taken)
  }
  const unavailable = (error: unknown): void => {
    gateway.log({ event: 'fault', where: 'quota', code: getFaultCode(error), count: 1 })
    if (!context.gone) sendRejection(gateway, context, rejections.limitsUnavailable())
  }
  let taken: TakenLimits | Promise<TakenLimits>
  try {
    taken = takeLimits(gateway, context.tenant, calls, items)
  } catch (error) {
    unavailable(error)
    return
  }
  if (!(taken instanceof Promise)) {
    proceed(taken)
    return
  }
  // What there is to stop is the waiting: whoever goes now is counted as gone.
  context.cancel = nothing
  taken.then((later) => {
    if (!context.gone) proceed(later)
    else giveBack(gateway, later, later.granted)
  }, unavailable)
}

const handleSingle = (gateway: GatewayContext, context: Admitted, item: RpcCall | NoRequest): void => {
  const traits = item.valid ? gateway.policy(item.method) : undefined
  context.method = traits?.label ?? 'other'
  context.items = 1
  const call = check(item, traits, context, gateway)
  if ('reason' in call)
    withLimits(gateway, context, {
      calls: 0,
      items: 1,
      granted: (taken) => {
        const end = isOverRate(taken) ? toLimitRejection(taken, 0, gateway) : call
        completeSingle(gateway, context, { item, end })
      },
    })
  else
    withLimits(gateway, context, {
      calls: 1,
      items: 1,
      granted: (taken) => {
        if (taken.granted === 0) completeSingle(gateway, context, { item, end: toLimitRejection(taken, 0, gateway) })
        else runSingle(gateway, context, { item, call, taken })
      },
    })
}

/** Runs a call that was granted. If it fails or its caller leaves before it was sent to a node, it is returned to the quota. */
const runSingle = (
  gateway: GatewayContext,
  context: Admitted,
  { item, call, taken }: { item: RpcCall | NoRequest; call: ForwardedCall; taken: TakenLimits },
): void => {
  let counts = false
  const sent = (): void => void (counts = true)
  const returnUnsent = (): void => {
    if (!counts) giveBack(gateway, taken, 1)
    // Once: the caller of a call that has ended may still leave.
    counts = true
  }
  const cancel = runCall(call, { ...contextOf(gateway, context), sent }, (end) => {
    if (isRejection(end)) returnUnsent()
    counts = true
    completeSingle(gateway, context, { item, end })
  })
  const leave = (): void => {
    cancel()
    returnUnsent()
  }
  // A change is not stopped when its caller leaves. It is metered when it ends.
  context.cancel = call.traits.idempotent ? leave : undefined
}

const completeSingle = (
  gateway: GatewayContext,
  context: Admitted,
  { item, end }: { item: RpcCall | NoRequest; end: CallResult },
): void => {
  const rejected = isRejection(end)
  if (rejected) context.reason = end.reason
  meterCalls(gateway, context, [end])
  const id = item.valid ? item.id : 'null'
  // Nobody may answer a notification, whatever became of it (JSON-RPC 2.0 section 4.1).
  if (id === undefined) endRequest(gateway, context, { status: 204, headers: corsHeaders })
  else
    endRequest(gateway, context, {
      status: rejected ? end.status : 200,
      body: responseParts(end, id, context.requestId),
      headers: rejected && end.headers !== undefined ? [...corsHeaders, ...end.headers] : corsHeaders,
    })
}

const handleBatch = (gateway: GatewayContext, context: Admitted, items: readonly (RpcCall | NoRequest)[]): void => {
  const labels: string[] = []
  const calls: (ForwardedCall | Rejection)[] = []
  let passed = 0
  for (const item of items) {
    const traits = item.valid ? gateway.policy(item.method) : undefined
    const call = check(item, traits, context, gateway)
    labels.push(traits?.label ?? 'other')
    calls.push(call)
    if (!('reason' in call)) passed += 1
  }
  context.method = 'batch'
  context.items = items.length
  context.labels = labels
  if (passed === 0)
    withLimits(gateway, context, {
      calls: 0,
      items: items.length,
      granted: (taken) => {
        const over = isOverRate(taken) ? toLimitRejection(taken, 0, gateway) : undefined
        const ends = over === undefined ? calls.filter((call) => 'reason' in call) : calls.map(() => over)
        completeBatch(gateway, context, { items, ends })
      },
    })
  else
    withLimits(gateway, context, {
      calls: passed,
      items: items.length,
      granted: (taken) => {
        if (taken.granted < passed) rejectRest(calls, taken, gateway)
        context.cancel = runBatch(calls, contextOf(gateway, context), {
          done: (ends) => completeBatch(gateway, context, { items, ends }),
          unsent: (count) => giveBack(gateway, taken, count),
        })
      },
    })
}

/** Whether the rate left nothing, not even for what is rejected. */
const isOverRate = ({ rate }: TakenLimits): boolean => rate?.granted === 0

/** Puts rejections in the place of the calls that were not granted. */
const rejectRest = (calls: (ForwardedCall | Rejection)[], taken: TakenLimits, gateway: GatewayContext): void => {
  let place = 0
  let rejection: Rejection | undefined
  for (const [index, call] of calls.entries()) {
    if ('reason' in call) continue
    // Two kinds at most, so that a batch of a thousand does not make a thousand of them.
    if (place === taken.granted || place === taken.rate?.granted) rejection = toLimitRejection(taken, place, gateway)
    if (rejection !== undefined) calls[index] = rejection
    place += 1
  }
}

/** How long a batch's answer is but for what nodes said, which is counted already. */
const ownBytes = (parts: readonly BodyPart[], ends: readonly CallResult[]): number => {
  let bytes = bytesOf(parts) ?? 0
  for (const end of ends) if ('value' in end) bytes -= end.value.length
  return bytes
}

const completeBatch = (
  gateway: GatewayContext,
  context: Admitted,
  { items, ends }: { items: readonly (RpcCall | NoRequest)[]; ends: readonly CallResult[] },
): void => {
  context.reason = ends.find(isRejection)?.reason
  const ids = items.map((item) => (item.valid ? item.id : 'null'))
  const parts = batchParts(ends, ids, context.requestId)
  meterCalls(gateway, context, ends)
  if (parts.length === 0) endRequest(gateway, context, { status: 204, headers: corsHeaders })
  // A short call that is rejected has a long answer: those that nobody reads must not fill the memory either.
  else if (context.reason !== undefined && !holdBytes(context.kept, ownBytes(parts, ends)))
    sendRejection(gateway, context, rejections.upstreamBusy())
  else endRequest(gateway, context, { status: 200, body: parts })
}
