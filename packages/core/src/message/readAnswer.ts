import type { Answer } from '../carrier/carrier.ts'
import type { Facts } from '../failure/facts.ts'
import { plainText } from './plainText.ts'

/**
 * Reads the answer to one call with distrust: it is either a JSON-RPC result for this very call, or a failure.
 *
 * @param answer - What came back by HTTP.
 * @param call - Id and method of the call.
 * @param parsed - What `text` holds, where it has been parsed already.
 * @returns `{ result }`, or the facts of a failure for `createFailure`. Never throws.
 * @example
 * readAnswer({ status: 200, text: '{"jsonrpc":"2.0","id":1,"result":null}', header: () => null }, { id: 1, method: 'eth_syncing' })
 * // { result: null }
 * @see JSON-RPC 2.0 section 5
 */
export function readAnswer(
  { status, text, header }: Answer,
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
  if (body?.length === 1 && body[0]?.id == null) body = body[0]
  const { id, result, error, message } = Object(body) as Body
  if (status < 300 && result !== undefined && error == null && id === call.id) return { result }
  // Status 0 is how a browser shows a redirect that it did not follow. Where to is not told: it may hold the key.
  const final = status < 200 || (status > 299 && status < 400)
  // A refusal by status is meant for this call, whatever its id: it may come before the request was read.
  const refusal =
    final || result != null || (status < 300 && id != null && id !== call.id) ? undefined : (error ?? message)
  const words = (refusal as Body | undefined)?.message ?? refusal
  const said = typeof words === 'string' ? words : text
  return {
    status,
    retryAfter: header('retry-after'),
    date: header('date'),
    final,
    kind: final || (status < 300 && refusal == null) ? 'badResponse' : undefined,
    text: final ? 'a redirect was refused: it would carry the key elsewhere' : plainText(said) || 'an empty body',
    rpcError:
      Object(refusal) === refusal
        ? { ...(refusal as object), code: integer((refusal as Body).code), message: said }
        : undefined,
  }
}

/** Whatever a code was, a number in quotes, an object or nothing: now it is an integer. */
const integer = (code: unknown): number => (Object(code) === code ? 0 : Number(code) | 0)

interface Body {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
  readonly code?: unknown
  readonly message?: unknown
  readonly length?: number
  readonly 0?: Body
}
