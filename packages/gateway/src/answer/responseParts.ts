import type { Refusal } from '../refusal/refusal.ts'
import { refusalText } from '../refusal/refusalText.ts'
import type { CallEnd } from '../upstream/forwardCall.ts'
import type { AnswerStream } from '../upstream/openAnswerStream.ts'

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
