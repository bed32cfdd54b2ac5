import { isKeyrailError } from '@keyrail/core'
import { toRevert } from '@keyrail/core/internal'
import type { FailureKind, KeyrailError } from '@keyrail/core'
import { makeError } from 'ethers'
import type { JsonRpcApiProvider, JsonRpcPayload } from 'ethers'

/** Kinds by which a node says that it has not run the call: ethers would show a read that failed so as a revert. */
const notRun = new Set<FailureKind>(['throttled', 'lagging', 'missingData'])

/** What is wrong with a call for the node: ethers knows its words. All else is about the way to it. */
const spokenByNode = ({ kind, source, rpcError }: KeyrailError): boolean =>
  rpcError !== undefined && !notRun.has(kind) && (source === 'node' || kind === 'revert')

/** The code of ethers for what is no answer of a node. Of these, a signer that waits for its transaction goes on after `SERVER_ERROR` only. */
const told = ({ kind, message, redactedUrl = '' }: KeyrailError, method: string): Error => {
  if (kind === 'timeout') return makeError(message, 'TIMEOUT', { operation: method, reason: 'timeout' })
  if (kind === 'aborted') return makeError(message, 'CANCELLED', {})
  if (kind === 'methodUnavailable') return makeError(message, 'UNSUPPORTED_OPERATION', { operation: method })
  if (kind === 'network' || kind === 'wrongNetwork') return makeError(message, 'NETWORK_ERROR', { event: method })
  return makeError(message, 'SERVER_ERROR', { request: redactedUrl })
}

/**
 * Gives a failure as ethers would: what a node says by ethers' own `getRpcError`, which decodes reverts and knows nonces and funds; all else,
 * throttling above all, by a code that is no revert.
 *
 * @param provider - Whose words for errors are used.
 * @param error - What the transport rejected with. Anything but a Keyrail failure is returned as it is.
 * @param payload - What was asked.
 */
export function toEthersError(provider: JsonRpcApiProvider, error: unknown, payload: JsonRpcPayload): Error {
  if (!isKeyrailError(error)) return error as Error
  const { kind, rpcError } = error
  const ethersError =
    rpcError && spokenByNode(error)
      ? provider.getRpcError(payload, {
          id: payload.id,
          error: kind === 'revert' ? toRevert(rpcError) : { ...rpcError },
        })
      : told(error, payload.method)
  // Stacks end after 10 frames. Without those of this function and ethers' own below it, the caller's frame is among them.
  Error.captureStackTrace?.(ethersError, toEthersError)
  return Object.assign(ethersError, { failure: error })
}
