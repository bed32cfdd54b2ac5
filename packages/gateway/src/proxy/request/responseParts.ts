import type { Rejection } from '../../errors/rejection.ts'
import { formatRejection } from '../../errors/rejection.ts'
import type { CallResult } from '../upstream/callResult.ts'
import type { ResponseStream } from '../upstream/openResponseStream.ts'

/** A part of a body: text of our own, bytes of a node's, or a node's result on its way. */
export type BodyPart = string | Buffer | ResponseStream

/** Whether a call's end is ours, not a node's. */
export const isRejection = (end: CallResult): end is Rejection => 'reason' in end

/**
 * The response object of one call: a node's result or error goes out as the bytes it came in.
 * @param id - The id's source text.
 * @see JSON-RPC 2.0 section 5
 */
export const responseParts = (end: CallResult, id: string, requestId: string): readonly BodyPart[] => {
  if (isRejection(end)) return [formatRejection(end, id, requestId)]
  return [`{"jsonrpc":"2.0","id":${id},"${end.member}":`, 'value' in end ? end.value : end.stream, '}']
}

/**
 * The response to a batch.
 * @param ids - The source text of each id; `undefined` for a notification, which nobody may answer.
 * @returns No parts where there is nothing to answer.
 * @see JSON-RPC 2.0 section 6
 */
export const batchParts = (
  ends: readonly CallResult[],
  ids: readonly (string | undefined)[],
  requestId: string,
): readonly BodyPart[] => {
  const parts: BodyPart[] = []
  for (let index = 0; index < ends.length; index += 1) {
    const [end, id] = [ends[index], ids[index]]
    if (end === undefined || id === undefined) continue
    const first = parts.length === 0
    if (isRejection(end)) parts.push(first ? '[' : ',', formatRejection(end, id, requestId))
    else {
      // One piece after the other, not one text from all: that would be put together twice.
      const head = end.member === 'result' ? ',"result":' : ',"error":'
      parts.push(first ? '[{"jsonrpc":"2.0","id":' : ',{"jsonrpc":"2.0","id":', id, head)
      parts.push('value' in end ? end.value : end.stream, '}')
    }
  }
  if (parts.length > 0) parts.push(']')
  return parts
}
