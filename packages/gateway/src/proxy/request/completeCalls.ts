import { isRejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { holdBytes } from '../../lib/memoryBudget.ts'
import type { CallResult } from '../upstream/callResult.ts'
import { endRequest, sendRejection } from './endRequest.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { meterCalls } from './meterRequest.ts'
import type { CheckedRequest } from './requestContext.ts'
import { getByteLength, toBatchParts, toResponseParts } from './responseParts.ts'
import type { BodyPart } from './responseParts.ts'

/**
 * Sends the results of a request's calls, in their order, and counts the calls. The status of a single call that was rejected is that of its
 * rejection, and that of every batch is 200.
 */
export const completeCalls = (
  gateway: GatewayContext,
  { context, calls, isBatch }: CheckedRequest,
  results: readonly CallResult[],
): void => {
  const { facts, buffered, requestId } = context
  const rejection = results.find(isRejection)
  facts.reason = rejection?.reason
  const status = isBatch || rejection === undefined ? 200 : rejection.status
  const ids = calls.map(({ id }) => id)
  const parts = (isBatch ? toBatchParts : toSingleParts)(results, ids, requestId)
  meterCalls(gateway, context, { calls, results, status, parts })
  // A notification gets no response, not even an error (JSON-RPC 2.0 section 4.1).
  if (parts.length === 0) endRequest(gateway, context, { status: 204 })
  // The rejection of a short call is long: unread responses must not fill the memory either.
  else if (isBatch && rejection !== undefined && !holdBytes(buffered, getOwnBytes(parts, results)))
    sendRejection(gateway, context, rejections.upstreamBusy())
  else endRequest(gateway, context, { status, body: parts, headers: isBatch ? undefined : rejection?.headers })
}

const toSingleParts: typeof toBatchParts = ([result], [id], requestId) =>
  result === undefined || id === undefined ? [] : toResponseParts(result, id, requestId)

/** The length of a batch's response without the nodes' results, which have been counted already. */
const getOwnBytes = (parts: readonly BodyPart[], results: readonly CallResult[]): number => {
  let bytes = getByteLength(parts) ?? 0
  for (const result of results) if ('value' in result) bytes -= result.value.length
  return bytes
}
