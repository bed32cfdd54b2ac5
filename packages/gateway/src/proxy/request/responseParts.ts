import type { Rejection } from '../../errors/rejection.ts'
import { formatError, formatRejection, isRejection } from '../../errors/rejection.ts'
import type { CallResult } from '../upstream/callResult.ts'
import type { ResponseStream } from '../upstream/openResponseStream.ts'

/** A part of a body: the gateway's own text, bytes from a node, or a node's result that still streams in. */
export type BodyPart = string | Buffer | ResponseStream

/** A response before it is written. */
export interface ResponseContent {
  /** The HTTP status. */
  readonly status: number
  readonly body?: string | readonly BodyPart[] | undefined
  /** Headers besides those of every response. */
  readonly headers?: readonly string[] | undefined
  /** Those of a preflight, in place of the CORS headers of every response. */
  readonly corsHeaders?: readonly string[]
  /** Closes the connection after the response. */
  readonly close?: boolean | undefined
}

/**
 * The response object of one call. A node's result or error is sent as the bytes it came in.
 * @param id - The id's source text.
 * @see JSON-RPC 2.0 section 5
 */
export const toResponseParts = (result: CallResult, id: string, requestId: string): readonly BodyPart[] => {
  if (isRejection(result)) return [formatRejection(result, id, requestId)]
  return [`{"jsonrpc":"2.0","id":${id},"${result.member}":`, 'value' in result ? result.value : result.stream, '}']
}

/**
 * The response to a batch.
 * @param ids - The source text of each id; `undefined` for a notification, which gets no response.
 * @returns No parts if there are only notifications.
 * @see JSON-RPC 2.0 section 6
 */
export const toBatchParts = (
  results: readonly CallResult[],
  ids: readonly (string | undefined)[],
  requestId: string,
): readonly BodyPart[] => {
  const parts: BodyPart[] = []
  // A short batch can have a thousand rejections, most of which are the same: they are formatted once and joined.
  let rejected = ''
  let last: { readonly rejection: Rejection; readonly error: string } | undefined
  for (let index = 0; index < results.length; index += 1) {
    const [result, id] = [results[index], ids[index]]
    if (result === undefined || id === undefined) continue
    const first = parts.length === 0 && rejected === ''
    if (isRejection(result)) {
      if (last?.rejection !== result) last = { rejection: result, error: formatError(result, requestId) }
      rejected += `${first ? '[' : ','}{"jsonrpc":"2.0","id":${id},${last.error}}`
    } else {
      if (rejected !== '') parts.push(rejected)
      rejected = ''
      // Separate parts, because joining them here would copy each text twice.
      const head = result.member === 'result' ? ',"result":' : ',"error":'
      parts.push(first ? '[{"jsonrpc":"2.0","id":' : ',{"jsonrpc":"2.0","id":', id, head)
      parts.push('value' in result ? result.value : result.stream, '}')
    }
  }
  if (rejected !== '') parts.push(rejected)
  if (parts.length > 0) parts.push(']')
  return parts
}

/** The length of a body in bytes; `undefined` if a part still streams in. */
export const getByteLength = (parts: readonly BodyPart[]): number | undefined => {
  let bytes = 0
  for (const part of parts) {
    if (typeof part === 'string') bytes += Buffer.byteLength(part)
    else if ('start' in part) return undefined
    else bytes += part.length
  }
  return bytes
}
