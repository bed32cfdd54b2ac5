import { isKeyrailError, KeyrailError } from '@keyrail/core'
import { toRevert } from '@keyrail/core/internal'
import type { RpcErrorObject } from '@keyrail/core'

/** A call as web3 passes it to a provider. */
export interface Payload {
  readonly id: number | string
  readonly method: string
  readonly params?: unknown
}

/** A JSON-RPC response, as web3 expects it from a provider. */
export type RpcResponse = { readonly jsonrpc: '2.0'; readonly id: number | string } & (
  | { readonly result: unknown }
  | { readonly error: RpcErrorObject }
)

/**
 * Makes web3 recognize a revert. It looks for "revert" in lower case in the message, and for nothing else. Empty `data` is left out, because
 * web3 would decode it as the first error of the ABI.
 */
const toWeb3Revert = ({ data, ...error }: RpcErrorObject): RpcErrorObject => ({
  ...error,
  ...(error.code === 3 && !error.message.includes('revert') && { message: `execution reverted: ${error.message}` }),
  ...(data !== undefined && data !== '0x' && { data }),
})

/**
 * Converts an error of the node into the JSON-RPC response that web3 decodes: a revert as `ContractExecutionError`, any other error as
 * `InvalidResponseError`.
 *
 * @param error - What the transport rejected with.
 * @param id - The id of the call.
 * @throws any other error: a `KeyrailError` with its HTTP status, or the reason of an abort.
 */
export function toErrorResponse(error: unknown, id: number | string): RpcResponse {
  if (!isKeyrailError(error)) throw error
  const { kind, source, rpcError, message } = error
  if (rpcError && kind === 'revert') return { jsonrpc: '2.0', id, error: toWeb3Revert(toRevert(rpcError)) }
  if (rpcError && source === 'node') return { jsonrpc: '2.0', id, error: { ...rpcError } }
  // web3 takes any Error with that word for a revert, even if the node did not send it.
  throw message.includes('revert') ? new KeyrailError(message.replaceAll('revert', 'Revert'), error) : error
}
