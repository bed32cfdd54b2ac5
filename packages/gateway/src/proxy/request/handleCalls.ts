import { faultCode } from '../../errors/faultLog.ts'
import type { IncomingMessage } from 'node:http'
import { corsHeaders } from '../http/cors.ts'
import { readBody } from '../http/readBody.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { Network } from '../../lib/network.ts'
import { rateHeaders } from '../../usage/rateLimit/rateHeaders.ts'
import { refusals } from '../../errors/rejections.ts'
import type { Refusal } from '../../errors/rejection.ts'
import { parseBody } from './parseBody.ts'
import type { ParsedBody } from './parseBody.ts'
import type { NoRequest, RpcCall } from './rpcCall.ts'
import type { Tenant } from '../../auth/key/tenant.ts'
import type { ForwardedCall } from '../upstream/forwardCall.ts'
import type { CallEnd } from '../upstream/callResult.ts'
import { keepBytes } from '../../lib/memoryBudget.ts'
import type { Answering } from './gatewayContext.ts'
import { checkCall } from './checkCall.ts'
import { smallBody } from './createBodyQueue.ts'
import type { Exchange } from './requestContext.ts'
import { finishExchange, refuseBeforeSize, refuseExchange } from './endRequest.ts'
import { meterCalls } from './meterCalls.ts'
import { rehearsedDelayMs } from './testKeyResponses.ts'
import { batchParts, isRefusal, responseParts } from './responseParts.ts'
import type { BodyPart } from './responseParts.ts'
import { runBatch } from './runBatch.ts'
import { runCall } from './runCall.ts'
import type { CallContext } from './runCall.ts'
import { findUsedUpRate, giveBack, limitHeaders, refuseUngranted, takeLimits } from './takeLimits.ts'
import type { TakenLimits } from './takenLimits.ts'
import { bytesOf } from './writeParts.ts'

/** A request whose key may be used. */
export interface Admitted extends Exchange {
  tenant: Tenant
  network: Network
}

/**
 * Reads the body of a request whose key is good, and answers the call or the batch in it. Where the rate is known to be used up, a
 * large body is neither stored nor parsed. A small one is, as that costs little: then each call gets a response with its own id.
 */
export const answerCalls = (answering: Answering, exchange: Admitted): void => {
  const { maxBodyBytes } = answering.limits
  if (!isSmall(exchange.request) && rejectUsedUp(answering, exchange)) return
  exchange.kept.share = exchange.tenant.share
  const room = (bytes: number): boolean => keepBytes(exchange.kept, bytes)
  readBody(exchange.request, { maxBytes: maxBodyBytes, keep: true, room }, (end) => {
    if (end === 'gone' || exchange.gone) return
    if (end === 'tooLarge') rejectBody(answering, exchange, refusals.bodyTooLarge(maxBodyBytes))
    else if (end === 'noRoom') refuseExchange(answering, exchange, { ...refusals.upstreamBusy(), close: true })
    else if (exchange.tenant.rehearsal === 'slow') {
      const timer = setTimeout(() => answerBody(answering, exchange, end), rehearsedDelayMs)
      exchange.cancel = () => clearTimeout(timer)
    } else answerBody(answering, exchange, end)
  })
}

/** Whether a request announces a small body. */
const isSmall = ({ headers }: IncomingMessage): boolean => Number(headers['content-length'] ?? Infinity) <= smallBody

/** Rejects a request whose key has used up its rate, as far as this process knows. @returns Whether it has. */
const rejectUsedUp = (answering: Answering, exchange: Admitted): boolean => {
  const rate = findUsedUpRate(answering, exchange.tenant)
  if (rate === undefined) return false
  const nowMs = answering.now()
  exchange.limitHeaders = rateHeaders(rate, nowMs)
  const rejection = refusals.rateLimited({ ...rate, nowMs })
  if (exchange.request.complete) refuseExchange(answering, exchange, rejection)
  else refuseBeforeSize(answering, exchange, rejection)
  return true
}

const answerBody = (answering: Answering, exchange: Admitted, body: Buffer): void => {
  answering.bodies.add(exchange.tenant.ownerId, body.length, () => {
    if (exchange.gone) return
    // The rate may have been used up while the body arrived and waited.
    if (body.length > smallBody && rejectUsedUp(answering, exchange)) return
    const { maxBatchItems, maxJsonDepth } = answering.limits
    const parsed = parseBody(body, maxBatchItems, maxJsonDepth)
    if (parsed.kind === 'single') answerSingle(answering, exchange, parsed.item)
    else if (parsed.kind === 'batch') answerBatch(answering, exchange, parsed.items)
    else {
      if (parsed.kind === 'batchTooLarge') exchange.items = parsed.count
      rejectBody(answering, exchange, toRejection(parsed, answering.limits))
    }
  })
}

const toRejection = (
  parsed: Exclude<ParsedBody, { kind: 'single' | 'batch' }>,
  { maxBatchItems, maxJsonDepth }: Answering['limits'],
): Refusal => {
  if (parsed.kind === 'malformed') return refusals.parseError()
  if (parsed.kind === 'tooDeep') return refusals.tooDeep(maxJsonDepth)
  return parsed.kind === 'emptyBatch' ? refusals.emptyBatch() : refusals.batchTooLarge(parsed.count, maxBatchItems)
}

/** Rejects a body in which no calls were found. It counts as one call of the rate, and none of the quota. */
const rejectBody = (answering: Answering, exchange: Admitted, rejection: Refusal): void =>
  withLimits(answering, exchange, {
    calls: 0,
    items: 1,
    granted: (taken) => {
      const given = isOverRate(taken) ? refuseUngranted(taken, 0, answering) : rejection
      refuseExchange(answering, exchange, { ...given, close: rejection.close === true })
    },
  })

/** One for all: measured, a closure made for each request at this place kept requests from being collected while young. */
const nothing = (): void => {}

const contextOf = ({ limits, groups }: Answering, { tenant, network, kept }: Admitted): CallContext => ({
  group: groups[network],
  keyId: tenant.record.id,
  ownerId: tenant.ownerId,
  keyVersion: tenant.record.version,
  timeoutMs: limits.upstreamTimeoutMs,
  maxAnswerBytes: limits.maxAnswerBytes,
  budget: { left: limits.maxAnswerBytes, kept },
})

/** Any page that is open in a browser knows the rehearsal keys: by one that is answered, late as it is, nothing may be changed. */
const isOpenTo = ({ rehearsal }: Tenant, traits: MethodTraits | undefined): boolean =>
  rehearsal !== 'slow' || traits?.idempotent === true

const check = (
  item: RpcCall | NoRequest,
  traits: MethodTraits | undefined,
  { tenant, narrowing }: Admitted,
  { javascriptTracers }: Answering,
): ForwardedCall | Refusal =>
  checkCall(item, {
    traits: isOpenTo(tenant, traits) ? traits : undefined,
    allow: tenant.record.allow,
    narrowing,
    javascriptTracers,
  })

/**
 * Goes on with what a request's calls were granted: at once, where that is known at once. Where the quota cannot be asked nothing is
 * known, and the request is refused as a whole. What was granted to a caller that has gone meanwhile is given back.
 */
const withLimits = (
  answering: Answering,
  exchange: Admitted,
  options: { calls: number; items: number; granted: (taken: TakenLimits) => void },
): void => {
  const { calls, items, granted } = options
  const proceed = (taken: TakenLimits): void => {
    exchange.limitHeaders = limitHeaders(taken, answering.now())
    granted(taken)
  }
  const unavailable = (error: unknown): void => {
    answering.log({ event: 'fault', where: 'quota', code: faultCode(error), count: 1 })
    if (!exchange.gone) refuseExchange(answering, exchange, refusals.limitsUnavailable())
  }
  let taken: TakenLimits | Promise<TakenLimits>
  try {
    taken = takeLimits(answering, exchange.tenant, calls, items)
  } catch (error) {
    unavailable(error)
    return
  }
  if (!(taken instanceof Promise)) {
    proceed(taken)
    return
  }
  // What there is to stop is the waiting: whoever goes now is counted as gone.
  exchange.cancel = nothing
  taken.then((later) => {
    if (!exchange.gone) proceed(later)
    else giveBack(answering, later, later.granted)
  }, unavailable)
}

const answerSingle = (answering: Answering, exchange: Admitted, item: RpcCall | NoRequest): void => {
  const traits = item.valid ? answering.policy(item.method) : undefined
  exchange.method = traits?.label ?? 'other'
  exchange.items = 1
  const call = check(item, traits, exchange, answering)
  if ('reason' in call)
    withLimits(answering, exchange, {
      calls: 0,
      items: 1,
      granted: (taken) => {
        const end = isOverRate(taken) ? refuseUngranted(taken, 0, answering) : call
        settleSingle(answering, exchange, { item, end })
      },
    })
  else
    withLimits(answering, exchange, {
      calls: 1,
      items: 1,
      granted: (taken) => {
        if (taken.granted === 0) settleSingle(answering, exchange, { item, end: refuseUngranted(taken, 0, answering) })
        else runSingle(answering, exchange, { item, call, taken })
      },
    })
}

/** Runs a call that was granted. If it fails or its caller leaves before it was sent to a node, it is returned to the quota. */
const runSingle = (
  answering: Answering,
  exchange: Admitted,
  { item, call, taken }: { item: RpcCall | NoRequest; call: ForwardedCall; taken: TakenLimits },
): void => {
  let counts = false
  const sent = (): void => void (counts = true)
  const returnUnsent = (): void => {
    if (!counts) giveBack(answering, taken, 1)
    // Once: the caller of a call that has ended may still leave.
    counts = true
  }
  const cancel = runCall(call, { ...contextOf(answering, exchange), sent }, (end) => {
    if (isRefusal(end)) returnUnsent()
    counts = true
    settleSingle(answering, exchange, { item, end })
  })
  const leave = (): void => {
    cancel()
    returnUnsent()
  }
  // A change is not stopped when its caller leaves. It is metered when it ends.
  exchange.cancel = call.traits.idempotent ? leave : undefined
}

const settleSingle = (
  answering: Answering,
  exchange: Admitted,
  { item, end }: { item: RpcCall | NoRequest; end: CallEnd },
): void => {
  const refused = isRefusal(end)
  if (refused) exchange.reason = end.reason
  meterCalls(answering, exchange, [end])
  const id = item.valid ? item.id : 'null'
  // Nobody may answer a notification, whatever became of it (JSON-RPC 2.0 section 4.1).
  if (id === undefined) finishExchange(answering, exchange, { status: 204, headers: corsHeaders })
  else
    finishExchange(answering, exchange, {
      status: refused ? end.status : 200,
      body: responseParts(end, id, exchange.requestId),
      headers: refused && end.headers !== undefined ? [...corsHeaders, ...end.headers] : corsHeaders,
    })
}

const answerBatch = (answering: Answering, exchange: Admitted, items: readonly (RpcCall | NoRequest)[]): void => {
  const labels: string[] = []
  const calls: (ForwardedCall | Refusal)[] = []
  let passed = 0
  for (const item of items) {
    const traits = item.valid ? answering.policy(item.method) : undefined
    const call = check(item, traits, exchange, answering)
    labels.push(traits?.label ?? 'other')
    calls.push(call)
    if (!('reason' in call)) passed += 1
  }
  exchange.method = 'batch'
  exchange.items = items.length
  exchange.labels = labels
  if (passed === 0)
    withLimits(answering, exchange, {
      calls: 0,
      items: items.length,
      granted: (taken) => {
        const over = isOverRate(taken) ? refuseUngranted(taken, 0, answering) : undefined
        const ends = over === undefined ? calls.filter((call) => 'reason' in call) : calls.map(() => over)
        settleBatch(answering, exchange, { items, ends })
      },
    })
  else
    withLimits(answering, exchange, {
      calls: passed,
      items: items.length,
      granted: (taken) => {
        if (taken.granted < passed) refuseRest(calls, taken, answering)
        exchange.cancel = runBatch(calls, contextOf(answering, exchange), {
          done: (ends) => settleBatch(answering, exchange, { items, ends }),
          unsent: (count) => giveBack(answering, taken, count),
        })
      },
    })
}

/** Whether the rate left nothing, not even for what is refused. */
const isOverRate = ({ rate }: TakenLimits): boolean => rate?.granted === 0

/** Puts refusals in the place of the calls that were not granted. */
const refuseRest = (calls: (ForwardedCall | Refusal)[], taken: TakenLimits, answering: Answering): void => {
  let place = 0
  let refusal: Refusal | undefined
  for (const [index, call] of calls.entries()) {
    if ('reason' in call) continue
    // Two kinds at most, so that a batch of a thousand does not make a thousand of them.
    if (place === taken.granted || place === taken.rate?.granted) refusal = refuseUngranted(taken, place, answering)
    if (refusal !== undefined) calls[index] = refusal
    place += 1
  }
}

/** How long a batch's answer is but for what nodes said, which is counted already. */
const ownBytes = (parts: readonly BodyPart[], ends: readonly CallEnd[]): number => {
  let bytes = bytesOf(parts) ?? 0
  for (const end of ends) if ('value' in end) bytes -= end.value.length
  return bytes
}

const settleBatch = (
  answering: Answering,
  exchange: Admitted,
  { items, ends }: { items: readonly (RpcCall | NoRequest)[]; ends: readonly CallEnd[] },
): void => {
  exchange.reason = ends.find(isRefusal)?.reason
  const ids = items.map((item) => (item.valid ? item.id : 'null'))
  const parts = batchParts(ends, ids, exchange.requestId)
  meterCalls(answering, exchange, ends)
  if (parts.length === 0) finishExchange(answering, exchange, { status: 204, headers: corsHeaders })
  // A short call that is refused has a long answer: those that nobody reads must not fill the memory either.
  else if (exchange.reason !== undefined && !keepBytes(exchange.kept, ownBytes(parts, ends)))
    refuseExchange(answering, exchange, refusals.upstreamBusy())
  else finishExchange(answering, exchange, { status: 200, body: parts })
}
