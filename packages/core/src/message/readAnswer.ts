import type { Answer } from '../carrier/carrier.ts'
import type { Facts } from '../failure/facts.ts'
import type { RpcErrorObject } from '../failure/keyrailError.ts'

/**
 * Reads the answer to one call with distrust: it is either a JSON-RPC result for this very call, or a failure.
 *
 * @param answer - What came back by HTTP.
 * @param call - Id and method of the call.
 * @returns `{ result }`, or the facts of a failure for `createFailure`. Never throws.
 * @example
 * readAnswer({ status: 200, text: '{"jsonrpc":"2.0","id":1,"result":null}', header: () => null }, { id: 1, method: 'eth_syncing' })
 * // { result: null }
 * @see JSON-RPC 2.0 section 5
 */
export function readAnswer(
  answer: Answer,
  call: { readonly id: number; readonly method: string },
): { readonly result: unknown } | Facts {
  const { status, text, header } = answer
  const about = { status, retryAfter: header('retry-after'), date: header('date') }
  const bad = (text: string): Facts => ({ ...about, kind: 'badResponse', text })
  // Status 0 is how a browser shows a redirect that it did not follow. Its target is not shown: it may hold the key.
  if (!status || (status > 299 && status < 400))
    return { ...bad('a redirect was refused, for it would carry the key elsewhere'), final: true }
  let body: Body | undefined
  try {
    body = JSON.parse(text) as Body
  } catch {
    if (status < 300) return bad(text.trim() ? `the answer is not JSON: ${text}` : 'the answer is empty')
  }
  // Some nodes answer a call they could not read as if it had been a batch.
  if (Array.isArray(body) && body.length === 1 && body[0]?.error && body[0].id == null) body = body[0] as Body
  const { id, result, error, message, code, errors } = Object(body) as Body
  const foreign = status < 300 && id != null && id !== call.id
  if (error != null && !foreign && result == null) {
    if (typeof error !== 'object') return { ...about, text: String(error) }
    const said = error.message ?? error
    const rpcError = {
      ...error,
      code: Number.isInteger(Number(error.code ?? NaN)) ? Number(error.code) : 0,
      message: typeof said === 'string' ? said : JSON.stringify(said),
    } as RpcErrorObject
    return { ...about, rpcError, text: rpcError.message, code: error.code == null ? undefined : rpcError.code }
  }
  const plain = message ?? errors
  if (plain != null && result === undefined && error == null)
    return {
      ...about,
      text: typeof plain === 'string' ? plain : JSON.stringify(plain),
      code: typeof code === 'number' ? code : undefined,
    }
  if (status > 299) return { ...about, text }
  if (Array.isArray(body)) return bad('the answer to one call is a batch')
  if (id !== call.id) return bad('the answer has the id of another call')
  if (error != null) return bad('the answer has both a result and an error')
  return result === undefined ? bad('the answer has neither a result nor an error') : { result }
}

interface Body {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown } | null
  readonly message?: unknown
  readonly code?: unknown
  readonly errors?: unknown
  readonly [index: number]: Body | undefined
}
