import type { Rejection } from './rejection.ts'

/**
 * Writes a rejection as a JSON-RPC response.
 * @param id - The id's source text; `null` where none could be read.
 * @param requestId - The id in the log and in `X-Request-Id`, so that a caller can name the request to the operator.
 * @see JSON-RPC 2.0 section 5.1
 */
export const rejectionText = (rejection: Rejection, id: string, requestId: string): string => {
  const data = JSON.stringify({ reason: rejection.reason, requestId, ...rejection.data })
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${rejection.code},"message":${JSON.stringify(rejection.message)},"data":${data}}}`
}
