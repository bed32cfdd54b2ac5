import type { HttpResponse } from '../http/httpClient.ts'
import type { FailureFacts } from '../failure/failureFacts.ts'
import { parseJson } from './parseJson.ts'
import { toPlainText } from './toPlainText.ts'

/**
 * Parses and validates the response to one call: either a JSON-RPC result for this call, or a failure.
 *
 * A result with another id (other than the same number as a string) is never accepted and not requested again, because the server would do the
 * same. A result without an id is accepted, because HTTP ties it to its request, but only if it is marked as JSON-RPC 2.0: other APIs also have a
 * member `result`.
 *
 * @param response - The HTTP response.
 * @param call - Id and method of the call.
 * @param parsed - The parsed `text`, if it is already parsed.
 * @returns `{ result }`, or the facts of a failure for `createFailure`. Never throws.
 * @example
 * readResponse({ status: 200, text: '{"jsonrpc":"2.0","id":1,"result":null}', header: () => null }, { id: 1, method: 'eth_syncing' })
 * // { result: null }
 * @see JSON-RPC 2.0 section 5
 */
export function readResponse(
  { status, text, problem, header }: HttpResponse,
  call: { readonly id: number; readonly method: string },
  parsed?: unknown,
): { readonly result: unknown } | FailureFacts {
  let body = parsed as Body | undefined
  try {
    body ??= parseJson(text) as Body
  } catch {
    // Not JSON: the text becomes the message of the failure.
  }
  // Some nodes wrap the error of a request that they cannot parse in an array.
  const onlyEntry = body?.length === 1 && body[0]?.id == null ? body[0] : undefined
  const { jsonrpc, id, result, error, message } = Object(onlyEntry ?? body) as Body
  const isOwn = isSameId(id, call.id) || (id === undefined && jsonrpc === '2.0' && !onlyEntry)
  if (status < 300 && result !== undefined && error == null) {
    if (isOwn) return { result }
    return { status, kind: 'badResponse', final: true, text: describeWrongId(id, call.id) }
  }
  // An error without an id is accepted: the server may have failed to parse the request.
  if (status < 300 && error != null && id != null && !isOwn)
    return { status, kind: 'badResponse', final: true, text: describeWrongId(id, call.id) }
  // Browsers report a redirect that was not followed as status 0. Its target is not shown, because it may hold the key.
  const final = status < 200 || (status > 299 && status < 400)
  // An error status is about this call, even with another id: the server may reject a request before it parses the body.
  const rejection = final || result != null ? undefined : (error ?? message)
  const given = (rejection as Body | undefined)?.message ?? rejection
  const errorMessage = typeof given === 'string' ? given : text
  const shown = final ? redirected : toPlainText(errorMessage)
  return {
    status,
    retryAfter: header('retry-after'),
    date: header('date'),
    final,
    kind: final || (status < 300 && rejection == null) ? 'badResponse' : undefined,
    text: shown,
    problem: shown ? undefined : (problem ?? 'an empty body'),
    rpcError:
      Object(rejection) === rejection
        ? { ...(rejection as object), code: toInteger((rejection as Body).code), message: errorMessage }
        : undefined,
  }
}

const redirected = 'the server redirects, which is not followed: it would send the key to another server'

/** Whether an id is that of a request. Some servers return it as a string. */
const isSameId = (id: unknown, requestId: number): boolean => id === requestId || id === String(requestId)

/** Longer ids are not shown: an id may hold a secret, and masking would miss a secret that is cut. */
const MAX_ID_LENGTH = 24

/** Describes a response whose id does not match the request. */
const describeWrongId = (id: unknown, requestId: number): string => {
  if (id === undefined) return `response has no id; request id is ${requestId}`
  return `response id ${formatId(id)} does not match request id ${requestId}`
}

/** Formats the id of a response for an error message. */
export function formatId(id: unknown): string {
  if (id === undefined) return '(none)'
  try {
    const text = JSON.stringify(id)
    return text.length > MAX_ID_LENGTH ? '…' : text
  } catch {
    // Nested too deeply.
    return '…'
  }
}

/** Converts the code of an error to an integer: it may be a number in quotes, an object or missing. */
const toInteger = (code: unknown): number => (Object(code) === code ? 0 : Number(code) | 0)

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
