import type { HttpResponse } from '../http/httpClient.ts'
import type { Facts } from '../failure/facts.ts'
import { plainText } from './plainText.ts'

/**
 * Reads the answer to one call with distrust: it is either a JSON-RPC result for this very call, or a failure.
 *
 * A result with another id is never accepted, and not asked for again: the server would do the same. A result without an id is accepted,
 * because HTTP pairs it with its request, but only if it is marked as JSON-RPC 2.0: other APIs have a `result`, too.
 *
 * @param answer - What came back by HTTP.
 * @param call - Id and method of the call.
 * @param parsed - What `text` holds, where it has been parsed already.
 * @returns `{ result }`, or the facts of a failure for `createFailure`. Never throws.
 * @example
 * readResponse({ status: 200, text: '{"jsonrpc":"2.0","id":1,"result":null}', header: () => null }, { id: 1, method: 'eth_syncing' })
 * // { result: null }
 * @see JSON-RPC 2.0 section 5
 */
export function readResponse(
  { status, text, header }: HttpResponse,
  call: { readonly id: number; readonly method: string },
  parsed?: unknown,
): { readonly result: unknown } | Facts {
  let body = parsed as Body | undefined
  try {
    body ??= JSON.parse(text) as Body
  } catch {
    // The text itself says what came instead.
  }
  // Some nodes answer a call they could not read as if it had been a batch.
  const lone = body?.length === 1 && body[0]?.id == null ? body[0] : undefined
  const { jsonrpc, id, result, error, message } = Object(lone ?? body) as Body
  const isOwn = id === call.id || (id === undefined && jsonrpc === '2.0' && !lone)
  if (status < 300 && result !== undefined && error == null) {
    if (isOwn) return { result }
    return { status, kind: 'badResponse', final: true, text: wrongId(id, call.id) }
  }
  // The error of a request that could not be read has no id.
  if (status < 300 && error != null && id != null && !isOwn)
    return { status, kind: 'badResponse', final: true, text: wrongId(id, call.id) }
  // Status 0 is how a browser shows a redirect that it did not follow. Where to is not told: it may hold the key.
  const final = status < 200 || (status > 299 && status < 400)
  // A refusal by status is meant for this call, whatever its id: it may come before the request was read.
  const rejection = final || result != null ? undefined : (error ?? message)
  const words = (rejection as Body | undefined)?.message ?? rejection
  const said = typeof words === 'string' ? words : text
  return {
    status,
    retryAfter: header('retry-after'),
    date: header('date'),
    final,
    kind: final || (status < 300 && rejection == null) ? 'badResponse' : undefined,
    text: final ? 'a redirect was refused: it would carry the key elsewhere' : plainText(said) || 'an empty body',
    rpcError:
      Object(rejection) === rejection
        ? { ...(rejection as object), code: integer((rejection as Body).code), message: said }
        : undefined,
  }
}

/** A longer id is not shown: it may hold a secret, and a part of one would not be masked. */
const MAX_ID_LENGTH = 24

/** Says that a response does not belong to the request. */
const wrongId = (id: unknown, requestId: number): string => {
  if (id === undefined) return `response has no id; request id is ${requestId}`
  return `response id ${idText(id)} does not match request id ${requestId}`
}

/** An id of a response, as it may be shown. */
export function idText(id: unknown): string {
  if (id === undefined) return '(none)'
  try {
    const text = JSON.stringify(id)
    return text.length > MAX_ID_LENGTH ? '…' : text
  } catch {
    // Nested too deep to be written.
    return '…'
  }
}

/** Whatever a code was, a number in quotes, an object or nothing: now it is an integer. */
const integer = (code: unknown): number => (Object(code) === code ? 0 : Number(code) | 0)

interface Body {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
  readonly code?: unknown
  readonly message?: unknown
  readonly length?: number
  readonly 0?: Body
}
