import { isKeyrailError } from '@keyrail/core'
import { toRevert } from '@keyrail/core/internal'
import type { FailureKind, KeyrailError } from '@keyrail/core'
import { makeError } from 'ethers'
import type { JsonRpcApiProvider, JsonRpcPayload } from 'ethers'

/** Kinds of failures in which the node did not run the call. Ethers would report them as reverts of a read. */
const notRun = new Set<FailureKind>(['throttled', 'lagging', 'missingData'])

/** Whether the node rejected the call itself, with an error that ethers can interpret. Other failures happened on the way to the node. */
const isNodeError = ({ kind, source, rpcError }: KeyrailError): boolean =>
  rpcError !== undefined && !notRun.has(kind) && (source === 'node' || kind === 'revert')

/** Returns the ethers error for a failure that is not the node's. A signer that waits for its transaction continues only after `SERVER_ERROR`. */
const toTransportError = ({ kind, message, redactedUrl = '' }: KeyrailError, method: string): Error => {
  if (kind === 'timeout') return makeError(message, 'TIMEOUT', { operation: method, reason: 'timeout' })
  if (kind === 'aborted') return makeError(message, 'CANCELLED', {})
  if (kind === 'methodUnavailable') return makeError(message, 'UNSUPPORTED_OPERATION', { operation: method })
  if (kind === 'network' || kind === 'wrongNetwork') return makeError(message, 'NETWORK_ERROR', { event: method })
  return makeError(message, 'SERVER_ERROR', { request: redactedUrl })
}

/**
 * Converts a failure into the error that ethers users expect. Errors of the node go through ethers' own `getRpcError`, which decodes reverts
 * and recognizes nonce and balance errors. Other failures, such as throttling, get a code that ethers does not take for a revert.
 *
 * @param provider - The provider whose `getRpcError` is used.
 * @param error - What the transport rejected with. Anything but a `KeyrailError` is returned unchanged.
 * @param payload - The request.
 */
export function toEthersError(provider: JsonRpcApiProvider, error: unknown, payload: JsonRpcPayload): Error {
  if (!isKeyrailError(error)) return error as Error
  const { kind, rpcError } = error
  const ethersError =
    rpcError && isNodeError(error)
      ? provider.getRpcError(payload, {
          id: payload.id,
          error: kind === 'revert' ? toRevert(rpcError) : { ...rpcError },
        })
      : toTransportError(error, payload.method)
  // Stacks have 10 frames at most. Leaving out the frames of this function and of ethers makes room for the caller's.
  Error.captureStackTrace?.(ethersError, toEthersError)
  return Object.assign(ethersError, { failure: error })
}
