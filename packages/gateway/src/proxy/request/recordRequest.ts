import { parseBearer } from '../../lib/parseBearer.ts'
import { copyText } from '../../lib/copyText.ts'
import { describeFault } from '../../errors/faultLog.ts'
import { isRejection } from '../../errors/rejection.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { isFailure } from '../../usage/metering/meter.ts'
import type { Outcome } from '../../usage/metering/meter.ts'
import { capturedLength } from '../../usage/requestLog/requestRecorder.ts'
import type { RecordedError, RecordedRequest } from '../../usage/requestLog/requestRecorder.ts'
import { getRequestPath } from '../http/getRequestPath.ts'
import { isFromStore } from '../upstream/callResult.ts'
import type { CallResult } from '../upstream/callResult.ts'
import { getClientIp } from './authorize.ts'
import type { GatewayContext } from './gatewayContext.ts'
import type { InvalidCall, ParsedCall } from './parsedCall.ts'
import type { RequestContext } from './requestContext.ts'
import type { BodyPart } from './responseParts.ts'
import { getByteLength } from './responseParts.ts'

/** The calls of a request with their results, in the same order, and the response that is made of them. */
export interface CompletedCalls {
  readonly calls: readonly (ParsedCall | InvalidCall)[]
  readonly results: readonly CallResult[]
  readonly status: number
  /** The body; empty if there is none. */
  readonly parts: readonly BodyPart[]
}

/** How a request ended that was rejected as a whole, or whose caller disconnected. */
export interface WholeOutcome {
  readonly outcome: Outcome
  /** `undefined`: the caller disconnected. */
  readonly rejection: Rejection | undefined
  readonly status: number
}

type ShownMembers =
  | 'method'
  | 'outcome'
  | 'error'
  | 'status'
  | 'calls'
  | 'failedCalls'
  | 'storedCalls'
  | 'responseBytes'
type Shown = Pick<RecordedRequest, ShownMembers> & Partial<Pick<RecordedRequest, 'params' | 'response'>>

/** Copies the start of a text. */
const copy = (text: string, length: number): string => copyText(text.slice(0, length))

/** The start of a node's response, which is bytes, or a text with one character for each byte. */
const copyValue = (value: Buffer | string): string =>
  (typeof value === 'string'
    ? Buffer.from(value.slice(0, capturedLength), 'latin1')
    : value.subarray(0, capturedLength)
  ).toString()

/** Finds the call that the entry of a request shows: the first that failed, else the first that reverted, else the first one. */
const findShown = (outcomes: readonly Outcome[]): number => {
  const failed = outcomes.findIndex(isFailure)
  return failed === -1 ? Math.max(0, outcomes.indexOf('reverted')) : failed
}

/**
 * Records a request whose calls have completed, if the request log admits it.
 * @param outcomes - Those of the calls, in the same order.
 */
export const recordCalls = (
  gateway: GatewayContext,
  context: RequestContext,
  { calls, results, status, parts }: CompletedCalls,
  outcomes: readonly Outcome[],
): void => {
  const index = findShown(outcomes)
  const outcome = outcomes[index] ?? 'succeeded'
  record(gateway, context, {
    outcome,
    describe: () => {
      const [call, result] = [calls[index], results[index]]
      return {
        method: call?.valid === true ? copy(call.method, capturedLength) : undefined,
        outcome,
        error: result && toError(result),
        status,
        calls: calls.length,
        failedCalls: outcomes.filter(isFailure).length,
        storedCalls: results.filter(isFromStore).length,
        responseBytes: getByteLength(parts),
        ...toExcerpts(gateway, context, { call, result }),
      }
    },
  })
}

/** Records a request that was rejected as a whole, or whose caller disconnected, if the request log admits it. */
export const recordWhole = (
  gateway: GatewayContext,
  context: RequestContext,
  { outcome, rejection, status }: WholeOutcome,
): void =>
  record(gateway, context, {
    outcome,
    describe: () => {
      const { methods, method, calls = 1 } = context.facts
      const name = methods?.[0] ?? method
      return {
        method: name === 'other' ? undefined : name,
        outcome,
        error: rejection,
        status,
        calls,
        failedCalls: calls,
        storedCalls: 0,
        responseBytes: undefined,
      }
    },
  })

const toError = (result: CallResult): RecordedError | undefined => {
  if (isRejection(result)) return result
  return result.member === 'error' && 'value' in result ? { text: copyValue(result.value) } : undefined
}

/** Excerpts, if the app or the API key records them. Params of an unknown method may be passwords (`personal_unlockAccount`). */
const toExcerpts = (
  gateway: GatewayContext,
  { facts: { tenant, network } }: RequestContext,
  { call, result }: { call: ParsedCall | InvalidCall | undefined; result: CallResult | undefined },
): Partial<Pick<RecordedRequest, 'params' | 'response'>> => {
  if (tenant?.record.recording?.recordDetails !== true || call?.valid !== true || network === undefined) return {}
  const isKnown = gateway.networks.get(network)?.policy(call.method) !== undefined
  return {
    params: isKnown && call.params !== undefined ? copy(call.params, capturedLength) : undefined,
    response: result !== undefined && 'value' in result ? copyValue(result.value) : undefined,
  }
}

const record = (
  gateway: GatewayContext,
  context: RequestContext,
  { outcome, describe }: { outcome: Outcome; describe: () => Shown },
): void => {
  const { requestRecorder } = gateway.usage
  const { tenant, network } = context.facts
  if (requestRecorder === undefined || tenant === undefined || network === undefined || tenant.testKey !== undefined)
    return
  try {
    if (!requestRecorder.admits(tenant.record.id, outcome)) return
    const { caller, reply, requestId, startedAt, facts } = context
    const path = getRequestPath(gateway.names, caller)
    const key = path.kind === 'call' ? path.key : undefined
    const token = parseBearer(caller.headers.authorization)
    requestRecorder.add({
      keyId: tenant.record.id,
      durationMs: performance.now() - startedAt,
      network,
      requestId,
      secrets: [key, token].filter((secret) => secret !== undefined),
      keyEnding: key?.slice(-4),
      origin: caller.headers.origin,
      ip: getClientIp(gateway, caller),
      requestBytes: facts.bodyBytes,
      transport: reply.transport,
      params: undefined,
      response: undefined,
      ...describe(),
    })
  } catch (error) {
    // The response is ready, and does not depend on the log.
    gateway.log({ event: 'fault', where: 'requestLog', ...describeFault(error), count: 1 })
  }
}
