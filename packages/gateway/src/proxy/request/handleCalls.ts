import type { IncomingMessage } from 'node:http'
import { getFaultCode } from '../../errors/faultLog.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { holdBytes } from '../../lib/memoryBudget.ts'
import { corsHeaders } from '../http/cors.ts'
import { readBody } from '../http/readBody.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { CallResult } from '../upstream/callResult.ts'
import type { ForwardedCall } from '../upstream/forwardedCall.ts'
import { proxyCall } from '../upstream/proxyCall.ts'
import { checkCall } from './checkCall.ts'
import { smallBody } from './createBodyQueue.ts'
import { endRequest, sendRejection, sendRejectionBeforeBody } from './endRequest.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { meterCalls } from './meterRequest.ts'
import { parseBody } from './parseBody.ts'
import type { ParsedBody } from './parseBody.ts'
import type { InvalidCall, ParsedCall } from './parsedCall.ts'
import type { AuthorizedRequest } from './requestContext.ts'
import { isRejection, toBatchParts, toResponseParts } from './responseParts.ts'
import type { BodyPart } from './responseParts.ts'
import { runBatch } from './runBatch.ts'
import { findUsedUpRate, getLimitHeaders, returnUnsent, takeLimits, toLimitRejection } from './takeLimits.ts'
import type { RequestedCalls } from './takeLimits.ts'
import { toProxyOptions } from './toProxyOptions.ts'
import type { LimitGrant } from '../../usage/limits/usageLimits.ts'
import { getByteLength } from './writeParts.ts'

/**
 * Reads the body of an authorized request and handles the call or the batch in it. If the rate is known to be used up, a large body is neither
 * stored nor parsed. A small one is, because that is cheap and then each call gets a response with its own id.
 */
export const handleCalls = (gateway: GatewayContext, authorized: AuthorizedRequest): void => {
  const { context, tenant } = authorized
  const { maxBodyBytes } = gateway.limits
  if (!isSmall(context.request) && rejectUsedUp(gateway, authorized)) return
  context.buffered.share = tenant.share
  const room = (bytes: number): boolean => holdBytes(context.buffered, bytes)
  readBody(context.request, { maxBytes: maxBodyBytes, keep: true, room }, (end) => {
    if (end === 'gone' || context.gone) return
    if (end === 'tooLarge') rejectBody(gateway, authorized, rejections.bodyTooLarge(maxBodyBytes))
    else if (end === 'noRoom') sendRejection(gateway, context, { ...rejections.upstreamBusy(), close: true })
    else if (tenant.testKey === 'slow') {
      const timer = setTimeout(() => handleBody(gateway, authorized, end), testKeyDelayMs)
      context.cancel = () => clearTimeout(timer)
    } else handleBody(gateway, authorized, end)
  })
}

/** How late `kr_test_slow` gets its response, in milliseconds: later than the timeout of most clients. */
export const testKeyDelayMs = 15_000

/** Whether a request announces a small body. */
const isSmall = ({ headers }: IncomingMessage): boolean => Number(headers['content-length'] ?? Infinity) <= smallBody

/** Rejects a request whose key has used up its rate, as far as this process knows. @returns Whether it has. */
const rejectUsedUp = (gateway: GatewayContext, authorized: AuthorizedRequest): boolean => {
  const { context } = authorized
  const rate = findUsedUpRate(gateway, authorized)
  if (rate === undefined) return false
  const taken: LimitGrant = { granted: 0, rate, quota: undefined }
  context.facts.limitHeaders = getLimitHeaders(taken, gateway, authorized)
  const rejection = toLimitRejection(taken, { index: 0 }, gateway)
  if (context.request.complete) sendRejection(gateway, context, rejection)
  else sendRejectionBeforeBody(gateway, context, rejection)
  return true
}

const handleBody = (gateway: GatewayContext, authorized: AuthorizedRequest, body: Buffer): void => {
  const { context, tenant, network } = authorized
  gateway.bodies.add(tenant.ownerId, body.length, () => {
    if (context.gone) return
    // The rate may have been used up while the body arrived and waited.
    if (body.length > smallBody && rejectUsedUp(gateway, authorized)) return
    const bounds = { maxBatchCalls: network.limits.maxBatchCalls, maxJsonDepth: gateway.limits.maxJsonDepth }
    const parsed = parseBody(body, bounds.maxBatchCalls, bounds.maxJsonDepth)
    if (parsed.kind === 'single') handleSingle(gateway, authorized, parsed.call)
    else if (parsed.kind === 'batch') handleBatch(gateway, authorized, parsed.calls)
    else {
      if (parsed.kind === 'batchTooLarge') context.facts.calls = parsed.count
      rejectBody(gateway, authorized, toBodyRejection(parsed, bounds))
    }
  })
}

const toBodyRejection = (
  parsed: Exclude<ParsedBody, { kind: 'single' | 'batch' }>,
  { maxBatchCalls, maxJsonDepth }: { readonly maxBatchCalls: number; readonly maxJsonDepth: number },
): Rejection => {
  switch (parsed.kind) {
    case 'malformed':
      return rejections.parseError()
    case 'tooDeep':
      return rejections.tooDeep(maxJsonDepth)
    case 'emptyBatch':
      return rejections.emptyBatch()
    case 'batchTooLarge':
      return rejections.batchTooLarge(parsed.count, maxBatchCalls)
  }
}

/** Rejects a body without calls. It takes one call from the rate, and none from the quota. */
const rejectBody = (gateway: GatewayContext, authorized: AuthorizedRequest, rejection: Rejection): void =>
  withLimits(gateway, authorized, { passed: 0, calls: 1 }, (taken) => {
    const sent = isRateUsedUp(taken) ? toLimitRejection(taken, { index: 0 }, gateway) : rejection
    sendRejection(gateway, authorized.context, { ...sent, close: rejection.close === true })
  })

// Shared, because a closure for each request keeps requests from being collected while they are young.
const nothing = (): void => {}

/** Names the newest block that the key's callers have seen in the response. */
const addBlock = ({ context, network, tenant }: AuthorizedRequest): void => {
  context.facts.block = network.group.seenHeads?.get(tenant.record.id)
}

const check = (
  { javascriptTracers }: GatewayContext,
  { tenant, tokenAllowList }: AuthorizedRequest,
  call: ParsedCall | InvalidCall,
  traits: MethodTraits | undefined,
): ForwardedCall | Rejection => {
  // Test keys are public, so the one that gets a response must not change anything.
  const isOffered = tenant.testKey !== 'slow' || traits?.idempotent === true
  return checkCall(call, {
    traits: isOffered ? traits : undefined,
    allow: tenant.record.allow,
    tokenAllowList,
    javascriptTracers,
  })
}

/**
 * Takes the limits for the calls of a request, and proceeds with what they were granted: in the same tick if that is known at once. If the quota
 * cannot be read, the whole request is rejected. If its caller disconnects first, the grant is returned.
 */
const withLimits = (
  gateway: GatewayContext,
  authorized: AuthorizedRequest,
  requested: RequestedCalls,
  proceed: (taken: LimitGrant) => void,
): void => {
  const { context } = authorized
  const use = (taken: LimitGrant): void => {
    context.facts.limitHeaders = getLimitHeaders(taken, gateway, authorized)
    proceed(taken)
  }
  const unavailable = (error: unknown): void => {
    gateway.log({ event: 'fault', where: 'quota', code: getFaultCode(error), count: 1 })
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
  // Set, so that a caller that disconnects now is counted as disconnected.
  context.cancel = nothing
  taken.then((later) => {
    if (!context.gone) use(later)
    else returnUnsent(gateway, later, later.quota?.charged ?? 0)
  }, unavailable)
}

const handleSingle = (gateway: GatewayContext, authorized: AuthorizedRequest, call: ParsedCall | InvalidCall): void => {
  const { facts } = authorized.context
  const traits = call.valid ? authorized.network.policy(call.method) : undefined
  facts.method = traits?.label ?? 'other'
  facts.calls = 1
  const checked = check(gateway, authorized, call, traits)
  if (isRejection(checked))
    withLimits(gateway, authorized, { passed: 0, calls: 1 }, (taken) => {
      const result = isRateUsedUp(taken) ? toLimitRejection(taken, { index: 0 }, gateway) : checked
      completeSingle(gateway, authorized, call, result)
    })
  else
    withLimits(
      gateway,
      authorized,
      { passed: 1, calls: 1, weights: checked.traits.weight === 1 ? undefined : [checked.traits.weight] },
      (taken) => {
        if (taken.granted === 0)
          completeSingle(gateway, authorized, call, toLimitRejection(taken, { index: 0, traits }, gateway))
        else runSingle(gateway, authorized, { call, forwarded: checked, taken })
      },
    )
}

/** Runs a granted call. If it fails or its caller disconnects before it was sent to a node, it is returned to the quota. */
const runSingle = (
  gateway: GatewayContext,
  authorized: AuthorizedRequest,
  { call, forwarded, taken }: { call: ParsedCall | InvalidCall; forwarded: ForwardedCall; taken: LimitGrant },
): void => {
  let counts = false
  const sent = (): void => void (counts = true)
  const returnOnce = (): void => {
    if (!counts) returnUnsent(gateway, taken, forwarded.traits.weight)
    // The caller of a completed call may still disconnect.
    counts = true
  }
  const cancel = proxyCall(forwarded, { ...toProxyOptions(authorized), sent }, (result) => {
    if (isRejection(result)) returnOnce()
    counts = true
    addBlock(authorized)
    completeSingle(gateway, authorized, call, result)
  })
  // A write goes on when its caller disconnects, because a node may have received it. It is counted when it ends.
  authorized.context.cancel = forwarded.traits.idempotent
    ? () => {
        cancel()
        returnOnce()
      }
    : undefined
}

const completeSingle = (
  gateway: GatewayContext,
  { context }: AuthorizedRequest,
  call: ParsedCall | InvalidCall,
  result: CallResult,
): void => {
  const rejected = isRejection(result)
  if (rejected) context.facts.reason = result.reason
  meterCalls(gateway, context, [result])
  const id = call.valid ? call.id : 'null'
  // A notification gets no response, not even an error (JSON-RPC 2.0 section 4.1).
  if (id === undefined) endRequest(gateway, context, { status: 204, headers: corsHeaders })
  else
    endRequest(gateway, context, {
      status: rejected ? result.status : 200,
      body: toResponseParts(result, id, context.requestId),
      headers: rejected && result.headers !== undefined ? [...corsHeaders, ...result.headers] : corsHeaders,
    })
}

const handleBatch = (
  gateway: GatewayContext,
  authorized: AuthorizedRequest,
  calls: readonly (ParsedCall | InvalidCall)[],
): void => {
  const { context, network } = authorized
  const methods: string[] = []
  const checked: (ForwardedCall | Rejection)[] = []
  let passed = 0
  for (const call of calls) {
    const traits = call.valid ? network.policy(call.method) : undefined
    const result = check(gateway, authorized, call, traits)
    methods.push(traits?.label ?? 'other')
    checked.push(result)
    if (!isRejection(result)) passed += 1
  }
  context.facts.method = 'batch'
  context.facts.calls = calls.length
  context.facts.methods = methods
  if (passed === 0)
    withLimits(gateway, authorized, { passed: 0, calls: calls.length }, (taken) => {
      const usedUp = isRateUsedUp(taken) ? toLimitRejection(taken, { index: 0 }, gateway) : undefined
      const results = usedUp === undefined ? checked.filter(isRejection) : checked.map(() => usedUp)
      completeBatch(gateway, authorized, calls, results)
    })
  else
    withLimits(gateway, authorized, { passed, calls: calls.length, weights: getWeights(checked) }, (taken) => {
      if (taken.granted < passed) rejectUngranted(checked, taken, gateway)
      context.cancel = runBatch(checked, toProxyOptions(authorized), {
        done: (results) => {
          addBlock(authorized)
          completeBatch(gateway, authorized, calls, results)
        },
        unsent: (units) => returnUnsent(gateway, taken, units),
      })
    })
}

/** The weights of the calls that passed; `undefined` if all are 1. */
const getWeights = (checked: readonly (ForwardedCall | Rejection)[]): readonly number[] | undefined => {
  const weights: number[] = []
  for (const call of checked) if (!isRejection(call)) weights.push(call.traits.weight)
  return weights.every((weight) => weight === 1) ? undefined : weights
}

/** Whether the rate left nothing, not even for rejected calls. */
const isRateUsedUp = ({ rate }: LimitGrant): boolean => rate?.granted === 0

/** Replaces the calls that were not granted by rejections. */
const rejectUngranted = (calls: (ForwardedCall | Rejection)[], taken: LimitGrant, gateway: GatewayContext): void => {
  let passed = 0
  let rejection: Rejection | undefined
  for (const [index, call] of calls.entries()) {
    if (isRejection(call)) continue
    // At most two different rejections, so that a batch of a thousand calls does not create a thousand.
    if (passed === taken.granted || passed === taken.rate?.granted)
      rejection = toLimitRejection(taken, { index: passed, traits: call.traits }, gateway)
    if (rejection !== undefined) calls[index] = rejection
    passed += 1
  }
}

/** The length of a batch's response without the nodes' results, which have been counted already. */
const getOwnBytes = (parts: readonly BodyPart[], results: readonly CallResult[]): number => {
  let bytes = getByteLength(parts) ?? 0
  for (const result of results) if ('value' in result) bytes -= result.value.length
  return bytes
}

const completeBatch = (
  gateway: GatewayContext,
  { context }: AuthorizedRequest,
  calls: readonly (ParsedCall | InvalidCall)[],
  results: readonly CallResult[],
): void => {
  const { facts, buffered, requestId } = context
  facts.reason = results.find(isRejection)?.reason
  const ids = calls.map((call) => (call.valid ? call.id : 'null'))
  const parts = toBatchParts(results, ids, requestId)
  meterCalls(gateway, context, results)
  if (parts.length === 0) endRequest(gateway, context, { status: 204, headers: corsHeaders })
  // The rejection of a short call is long: responses that nobody reads must not fill the memory either.
  else if (facts.reason !== undefined && !holdBytes(buffered, getOwnBytes(parts, results)))
    sendRejection(gateway, context, rejections.upstreamBusy())
  else endRequest(gateway, context, { status: 200, body: parts })
}
