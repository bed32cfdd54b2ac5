import { isRejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { holdBytes } from '../../lib/memoryBudget.ts'
import type { CallResult, CheckedCall } from '../upstream/callResult.ts'
import { confirmHeader } from './confirmByCaller.ts'
import { endRequest, sendRejection } from './endRequest.ts'
import type { GatewayContext } from './gatewayContext.ts'
import { meterCalls } from './meterRequest.ts'
import type { NetworkContext } from './networkContext.ts'
import type { CheckedRequest } from './requestContext.ts'
import { getByteLength, toBatchParts, toResponseParts } from './responseParts.ts'
import type { BodyPart } from './responseParts.ts'

/**
 * Sends the results of a request's calls, in their order, and counts the calls. The status of a single call that was rejected is that of its
 * rejection, and that of every batch is 200.
 */
export const completeCalls = (
  gateway: GatewayContext,
  { context, network, calls, checked, isBatch }: CheckedRequest,
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
  else {
    const headers = isBatch
      ? undefined
      : (rejection?.headers ??
        getConfirmHeaders(results[0]) ??
        getCacheHeader(gateway, network, checked[0], results[0]))
    endRequest(gateway, context, { status, body: parts, headers })
  }
}

/** By how many nodes a result is confirmed, and at which block. */
const getConfirmHeaders = (result: CallResult | undefined): readonly string[] | undefined => {
  const confirmed = result !== undefined && 'confirmed' in result ? result.confirmed : undefined
  if (confirmed === undefined) return undefined
  const { nodes, block } = confirmed
  const headers = [confirmHeader, String(nodes)]
  return block === undefined ? headers : [...headers, 'X-Keyrail-Block', String(block)]
}

/** Where the result of a call was that may be stored; none for networks without a chain store, and if the header is off. */
const getCacheHeader = (
  { config: { cacheHeader } }: GatewayContext,
  { group: { store } }: NetworkContext,
  call: CheckedCall | undefined,
  result: CallResult | undefined,
): readonly string[] | undefined => {
  if (!cacheHeader || store === undefined || call === undefined || isRejection(call) || call.traits.pin === undefined)
    return undefined
  const cachedIn = result !== undefined && 'cachedIn' in result ? result.cachedIn : undefined
  return ['X-Keyrail-Cache', cachedIn ?? 'node']
}

const toSingleParts: typeof toBatchParts = ([result], [id], requestId) =>
  result === undefined || id === undefined ? [] : toResponseParts(result, id, requestId)

/** The length of a batch's response without the nodes' results, which have been counted already. */
const getOwnBytes = (parts: readonly BodyPart[], results: readonly CallResult[]): number => {
  let bytes = getByteLength(parts) ?? 0
  for (const result of results) if ('value' in result) bytes -= result.value.length
  return bytes
}
