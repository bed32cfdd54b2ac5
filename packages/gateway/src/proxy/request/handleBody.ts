import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { holdBytes } from '../../lib/memoryBudget.ts'
import type { LimitGrant } from '../../usage/limits/usageLimits.ts'
import { corsHeaders } from '../http/cors.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { CallResult } from '../upstream/callResult.ts'
import type { ForwardedCall } from '../upstream/forwardedCall.ts'
import { proxyCall } from '../upstream/proxyCall.ts'
import { checkCall } from './checkCall.ts'
import { smallBody } from './createBodyQueue.ts'
import { endRequest, sendRejection } from './endRequest.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { meterCalls } from './meterRequest.ts'
import { parseBody } from './parseBody.ts'
import type { ParsedBody } from './parseBody.ts'
import type { InvalidCall, ParsedCall } from './parsedCall.ts'
import type { AuthorizedRequest } from './requestContext.ts'
import { isRejection, toBatchParts, toResponseParts } from './responseParts.ts'
import type { BodyPart } from './responseParts.ts'
import { readCallIds } from './readCallIds.ts'
import { runBatch } from './runBatch.ts'
import { completeWithView } from './shareView.ts'
import { returnUnsent, toLimitRejection } from './takeLimits.ts'
import { toProxyOptions } from './toProxyOptions.ts'
import { isRateUsedUp, rejectUsedUp, withLimits } from './withLimits.ts'
import { getByteLength } from './writeParts.ts'

/** How late `kr_test_slow` gets its response, in milliseconds: later than the timeout of most clients. */
export const testKeyDelayMs = 15_000

/** Parses the body of an authorized request, and handles the call or the batch in it. */
export const handleBody = (gateway: GatewayContext, authorized: AuthorizedRequest, body: Buffer): void => {
  const { context, tenant } = authorized
  context.facts.bodyBytes = body.length
  if (tenant.testKey !== 'slow') {
    queueBody(gateway, authorized, body)
    return
  }
  const timer = setTimeout(() => queueBody(gateway, authorized, body), testKeyDelayMs)
  context.cancel = () => clearTimeout(timer)
}

const queueBody = (gateway: GatewayContext, authorized: AuthorizedRequest, body: Buffer): void => {
  const { context, tenant, network } = authorized
  gateway.bodies.add(tenant.ownerId, body.length, () => {
    if (context.gone) return
    // The rate may have been used up while the body arrived and waited.
    // A message is parsed all the same: its caller can only match a rejection by the ids in it.
    if (context.message === undefined && body.length > smallBody && rejectUsedUp(gateway, authorized)) return
    const bounds = { maxBatchCalls: network.limits.maxBatchCalls, maxJsonDepth: gateway.limits.maxJsonDepth }
    const parsed = parseBody(body, bounds.maxBatchCalls, bounds.maxJsonDepth)
    if (parsed.kind === 'single') handleSingle(gateway, authorized, parsed.call)
    else if (parsed.kind === 'batch') handleBatch(gateway, authorized, parsed.calls)
    else {
      if (parsed.kind === 'batchTooLarge') context.facts.calls = parsed.count
      if (context.message !== undefined && parsed.kind !== 'malformed') context.message.callIds = readCallIds(body)
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
export const rejectBody = (gateway: GatewayContext, authorized: AuthorizedRequest, rejection: Rejection): void =>
  withLimits(gateway, authorized, { passed: 0, calls: 1 }, (taken) => {
    const sent = isRateUsedUp(taken) ? toLimitRejection(taken, { index: 0 }, gateway) : rejection
    sendRejection(gateway, authorized.context, { ...sent, close: rejection.close === true })
  })

/** Names the newest block that the key's callers have seen in the response. */
const addBlock = ({ context, network, tenant }: AuthorizedRequest): void => {
  context.facts.block = network.group.views.getHead(tenant.record.id)
}

const isForTestKey = ({ idempotent, row }: MethodTraits): boolean =>
  idempotent && row?.service !== 'debug' && row?.service !== 'txpool'

const check = (
  { javascriptTracers, sockets }: GatewayContext,
  { context, tenant, tokenAllowList, network }: AuthorizedRequest,
  call: ParsedCall | InvalidCall,
  { traits, suggests = false }: { traits: MethodTraits | undefined; suggests?: boolean },
): ForwardedCall | Rejection => {
  if (traits?.subscribes === true && context.message?.subscriptions === undefined) {
    const needsSocket = context.message === undefined && sockets.getHub(network.group.network) !== undefined
    return needsSocket ? rejections.useWebSocket(traits.label) : rejections.methodNotFound(traits.label)
  }
  // Everybody knows test keys, so the one that gets a response must not change anything, or make a node do expensive work for a page.
  const isOffered = tenant.testKey !== 'slow' || (traits !== undefined && isForTestKey(traits))
  return checkCall(call, {
    traits: isOffered ? traits : undefined,
    allow: tenant.record.allow,
    tokenAllowList,
    javascriptTracers,
    suggests,
  })
}

const handleSingle = (gateway: GatewayContext, authorized: AuthorizedRequest, call: ParsedCall | InvalidCall): void => {
  const { facts, message } = authorized.context
  const traits = call.valid ? authorized.network.policy(call.method) : undefined
  facts.method = traits?.label ?? 'other'
  facts.calls = 1
  if (message !== undefined) {
    if (isKeepAlive(call) && message.takeKeepAlive()) {
      respondToKeepAlive(gateway, authorized)
      return
    }
    message.callIds = call.id
  }
  const checked = check(gateway, authorized, call, { traits, suggests: true })
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

/** viem sends this call every 30 seconds to keep its WebSocket open, and ignores the response. */
const isKeepAlive = (call: ParsedCall | InvalidCall): boolean =>
  call.valid && call.id === 'null' && call.method === 'net_version'

/** Responds to a call that only keeps a WebSocket open. It is not charged. */
const respondToKeepAlive = (gateway: GatewayContext, { context, network }: AuthorizedRequest): void =>
  endRequest(gateway, context, {
    status: 200,
    body: `{"jsonrpc":"2.0","id":null,"result":"${network.group.chainId}"}`,
  })

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
    completeWithView(gateway, authorized, () => {
      addBlock(authorized)
      completeSingle(gateway, authorized, call, result)
    })
  })
  // A write continues after its caller disconnects, because a node may have received it. It is counted when it ends.
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
  const { id } = call
  const status = rejected ? result.status : 200
  const parts = id === undefined ? [] : toResponseParts(result, id, context.requestId)
  meterCalls(gateway, context, { calls: [call], results: [result], status, parts })
  // A notification gets no response, not even an error (JSON-RPC 2.0 section 4.1).
  if (id === undefined) endRequest(gateway, context, { status: 204, headers: corsHeaders })
  else
    endRequest(gateway, context, {
      status,
      body: parts,
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
    const result = check(gateway, authorized, call, { traits })
    methods.push(traits?.label ?? 'other')
    checked.push(result)
    if (!isRejection(result)) passed += 1
  }
  if (context.message !== undefined) context.message.callIds = calls.map(({ id }) => id)
  context.facts.method = 'batch'
  context.facts.calls = calls.length
  context.facts.methods = methods
  if (passed === 0)
    withLimits(gateway, authorized, { passed: 0, calls: calls.length }, (taken) => {
      if (isRateUsedUp(taken)) rejectUsedUpBatch(gateway, authorized, taken)
      else completeBatch(gateway, authorized, calls, checked.filter(isRejection))
    })
  else
    withLimits(gateway, authorized, { passed, calls: calls.length, weights: getWeights(checked) }, (taken) => {
      if (taken.granted === 0) {
        rejectUsedUpBatch(gateway, authorized, taken)
        return
      }
      if (taken.granted < passed) rejectUngranted(checked, taken, gateway)
      context.cancel = runBatch(checked, toProxyOptions(authorized), {
        done: (results) =>
          completeWithView(gateway, authorized, () => {
            addBlock(authorized)
            completeBatch(gateway, authorized, calls, results)
          }),
        unsent: (units) => returnUnsent(gateway, taken, units),
      })
    })
}

/**
 * Rejects a batch none of whose calls was granted: over HTTP with one error, because an error for each call is a hundred times longer than the
 * shortest call.
 */
const rejectUsedUpBatch = (gateway: GatewayContext, { context }: AuthorizedRequest, taken: LimitGrant): void =>
  sendRejection(gateway, context, toLimitRejection(taken, { index: 0 }, gateway))

/** The weights of the calls that passed; `undefined` if all are 1. */
const getWeights = (checked: readonly (ForwardedCall | Rejection)[]): readonly number[] | undefined => {
  const weights: number[] = []
  for (const call of checked) if (!isRejection(call)) weights.push(call.traits.weight)
  return weights.every((weight) => weight === 1) ? undefined : weights
}

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
  const ids = calls.map(({ id }) => id)
  const parts = toBatchParts(results, ids, requestId)
  meterCalls(gateway, context, { calls, results, status: 200, parts })
  if (parts.length === 0) endRequest(gateway, context, { status: 204, headers: corsHeaders })
  // The rejection of a short call is long: unread responses must not fill the memory either.
  else if (facts.reason !== undefined && !holdBytes(buffered, getOwnBytes(parts, results)))
    sendRejection(gateway, context, rejections.upstreamBusy())
  else endRequest(gateway, context, { status: 200, body: parts })
}
