import type { Refusal } from './rejection.ts'

/**
 * Writes a refusal as a JSON-RPC response.
 * @param id - The id's source text; `null` where none could be read.
 * @param requestId - The id in the log and in `X-Request-Id`, so that a caller can name the request to the operator.
 * @see JSON-RPC 2.0 section 5.1
 */
export const refusalText = (refusal: Refusal, id: string, requestId: string): string => {
  const data = JSON.stringify({ reason: refusal.reason, requestId, ...refusal.data })
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${refusal.code},"message":${JSON.stringify(refusal.message)},"data":${data}}}`
}
