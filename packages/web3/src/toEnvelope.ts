import { isKeyrailError, KeyrailError } from '@keyrail/core'
import { toRevert } from '@keyrail/core/internal'
import type { RpcErrorObject } from '@keyrail/core'

/** A call as web3 gives it to a provider. */
export interface Payload {
  readonly id: number | string
  readonly method: string
  readonly params?: unknown
}

/** An answer as web3 wants it of a provider. */
export type Envelope = { readonly jsonrpc: '2.0'; readonly id: number | string } & (
  | { readonly result: unknown }
  | { readonly error: RpcErrorObject }
)

/**
 * web3 knows a revert by this word in the message, in small letters, and by nothing else. Where the bytes are none, it would take the first
 * error of the ABI for the one that was meant.
 */
const worded = ({ data, ...error }: RpcErrorObject): RpcErrorObject => ({
  ...error,
  ...(error.code === 3 && !error.message.includes('revert') && { message: `execution reverted: ${error.message}` }),
  ...(data !== undefined && data !== '0x' && { data }),
})

/**
 * Gives what a node said as the envelope that web3 decodes: a revert as `ContractExecutionError`, all else as `InvalidResponseError`.
 *
 * @param error - What the transport rejected with.
 * @param id - Of the call.
 * @throws what is no word of a node: the Keyrail failure, with its HTTP status; the reason of an abort.
 */
export function toEnvelope(error: unknown, id: number | string): Envelope {
  if (!isKeyrailError(error)) throw error
  const { kind, source, rpcError, message } = error
  if (rpcError && kind === 'revert') return { jsonrpc: '2.0', id, error: worded(toRevert(rpcError)) }
  if (rpcError && source === 'node') return { jsonrpc: '2.0', id, error: { ...rpcError } }
  // An Error with that word is taken for a revert, whoever wrote it.
  throw message.includes('revert') ? new KeyrailError(message.replaceAll('revert', 'Revert'), error) : error
}
