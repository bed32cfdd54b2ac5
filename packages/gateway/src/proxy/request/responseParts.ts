import type { Refusal } from '../../errors/rejection.ts'
import { refusalText } from '../../errors/rejectionText.ts'
import type { CallEnd } from '../upstream/callResult.ts'
import type { AnswerStream } from '../upstream/openResponseStream.ts'

/** A part of a body: text of our own, bytes of a node's, or a node's result on its way. */
export type BodyPart = string | Buffer | AnswerStream

/** Whether a call's end is ours, not a node's. */
export const isRefusal = (end: CallEnd): end is Refusal => 'reason' in end

/**
 * The response object of one call: a node's result or error goes out as the bytes it came in.
 * @param id - The id's source text.
 * @see JSON-RPC 2.0 section 5
 */
export const responseParts = (end: CallEnd, id: string, requestId: string): readonly BodyPart[] => {
  if (isRefusal(end)) return [refusalText(end, id, requestId)]
  return [`{"jsonrpc":"2.0","id":${id},"${end.member}":`, 'value' in end ? end.value : end.stream, '}']
}

/**
 * The response to a batch.
 * @param ids - The source text of each id; `undefined` for a notification, which nobody may answer.
 * @returns No parts where there is nothing to answer.
 * @see JSON-RPC 2.0 section 6
 */
export const batchParts = (
  ends: readonly CallEnd[],
  ids: readonly (string | undefined)[],
  requestId: string,
): readonly BodyPart[] => {
  const parts: BodyPart[] = []
  for (let index = 0; index < ends.length; index += 1) {
    const [end, id] = [ends[index], ids[index]]
    if (end === undefined || id === undefined) continue
    const first = parts.length === 0
    if (isRefusal(end)) parts.push(first ? '[' : ',', refusalText(end, id, requestId))
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
