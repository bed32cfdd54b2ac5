import { isRejection } from '../../errors/rejection.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { CheckedCall } from '../upstream/callResult.ts'
import type { ForwardedCall } from '../upstream/forwardedCall.ts'
import { checkCall } from './checkCall.ts'
import type { CallRules } from './checkCall.ts'
import { confirmByCaller, readConfirmNodes } from './confirmByCaller.ts'
import { smallBody } from './createBodyQueue.ts'
import { sendRejection } from './endRequest.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { handleCalls } from './handleCalls.ts'
import { parseBody } from './parseBody.ts'
import type { ParsedBody } from './parseBody.ts'
import type { InvalidCall, ParsedCall } from './parsedCall.ts'
import { readCallIds } from './readCallIds.ts'
import type { AuthorizedRequest } from './requestContext.ts'
import { toLimitRejection } from './takeLimits.ts'
import { findUsedUp, isRateUsedUp, withLimits } from './withLimits.ts'

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
  context.cancel = (stopped) => {
    clearTimeout(timer)
    stopped()
  }
}

const queueBody = (gateway: GatewayContext, authorized: AuthorizedRequest, body: Buffer): void => {
  const { context, tenant, network } = authorized
  gateway.bodies.add(tenant.ownerId, body.length, () => {
    if (context.gone) return
    // The rate may have been used up while the body arrived and waited.
    const isParsedAnyway = context.reply.matchesIds || body.length <= smallBody
    const usedUp = isParsedAnyway ? undefined : findUsedUp(gateway, authorized)
    if (usedUp !== undefined) {
      sendRejection(gateway, context, usedUp)
      return
    }
    const bounds = { maxBatchCalls: network.limits.maxBatchCalls, maxJsonDepth: gateway.limits.maxJsonDepth }
    const parsed = parseBody(body, bounds.maxBatchCalls, bounds.maxJsonDepth)
    if (parsed.kind === 'single') handleParsed(gateway, authorized, [parsed.call], false)
    else if (parsed.kind === 'batch') handleParsed(gateway, authorized, parsed.calls, true)
    else {
      if (parsed.kind === 'batchTooLarge') context.facts.calls = parsed.count
      if (context.reply.matchesIds && parsed.kind !== 'malformed') context.facts.ids = readCallIds(body)
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

const isForTestKey = ({ idempotent, row }: MethodTraits): boolean =>
  idempotent && row?.service !== undefined && row.service !== 'debug' && row.service !== 'txpool'

/** The service of an app that makes all its transactions private. */
const privateTransactions = 'Private transactions'

type Check = (call: ParsedCall | InvalidCall, traits: MethodTraits | undefined) => CheckedCall

/** Creates the check of the calls in a body. @param suggests - See {@link CallRules}. */
const createCheck = (
  { config, getHub }: GatewayContext,
  { context, tenant, tokenAllowList, network }: AuthorizedRequest,
  suggests: boolean,
): Check => {
  const { javascriptTracers } = config.services
  const { allow, services } = tenant.record
  const confirmNodes = readConfirmNodes({ context, tenant, network })
  const sendsPrivately = services?.includes(privateTransactions) === true
  const rules: CallRules = { allow, tokenAllowList, sendsPrivately, javascriptTracers, suggests }
  return (call, traits) => {
    if (traits?.subscribes === true && context.reply.subscriptions === undefined) {
      const needsSocket = getHub(network.group.network) !== undefined
      return needsSocket ? rejections.useWebSocket(traits.label) : rejections.methodNotFound(traits.label)
    }
    // Everybody knows test keys, so the one that gets a response must not change anything, or make a node do expensive work for a page.
    const isOffered = tenant.testKey !== 'slow' || (traits !== undefined && isForTestKey(traits))
    const checked = checkCall(call, isOffered ? traits : undefined, rules)
    if (confirmNodes === undefined || isRejection(checked)) return checked
    return typeof confirmNodes === 'number' ? confirmByCaller(checked, confirmNodes) : confirmNodes
  }
}

/** Checks the calls in a body, each on its own, and handles them. */
const handleParsed = (
  gateway: GatewayContext,
  authorized: AuthorizedRequest,
  calls: readonly (ParsedCall | InvalidCall)[],
  isBatch: boolean,
): void => {
  const { context, tenant, network, tokenAllowList } = authorized
  const { facts, reply } = context
  const labels: string[] = []
  const checked: CheckedCall[] = []
  const check = createCheck(gateway, authorized, calls.length === 1)
  for (const call of calls) {
    const traits = call.valid ? network.policy(call.method) : undefined
    labels.push(traits?.label ?? 'other')
    checked.push(check(call, traits))
  }
  const [first] = calls
  facts.calls = calls.length
  facts.method = isBatch ? 'batch' : labels[0]
  if (isBatch) facts.methods = labels
  if (!isBatch && isKeepAlive(first) && reply.takeKeepAlive()) checked[0] = keepAliveCall
  if (!isBatch) facts.ids = first?.id
  else if (reply.matchesIds) facts.ids = calls.map(({ id }) => id)
  handleCalls(gateway, { context, tenant, network, tokenAllowList, calls, checked, isBatch })
}

/** viem sends this call every 30 seconds. */
const keepAliveCall: ForwardedCall = {
  method: 'net_version',
  params: undefined,
  traits: { idempotent: true, expensive: false, weight: 0, label: 'net_version', keepsAlive: true },
}

const isKeepAlive = (call: ParsedCall | InvalidCall | undefined): boolean =>
  call?.valid === true && call.id === 'null' && call.method === keepAliveCall.method
