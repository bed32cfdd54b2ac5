import { isKeyrailError } from '@keyrail/core'
import { toRevert } from '@keyrail/core/internal'
import type { KeyrailError } from '@keyrail/core'
import { HttpRequestError, RpcRequestError, TimeoutError } from 'viem'

/** The request, as viem's errors show it. */
interface Body {
  readonly method: string
  readonly params?: unknown
}

/** Codes of which viem says that a contract has reverted. */
const revertCodes: ReadonlySet<unknown> = new Set([3, -32_603])

/** Whether to report a JSON-RPC error and not an HTTP error. viem decodes the former, and detects rate limits by the status of the latter. */
const isRpcFailure = ({ source, status = 0, rpcError, kind }: KeyrailError): boolean =>
  rpcError !== undefined &&
  !revertCodes.has(rpcError.code) &&
  kind !== 'throttled' &&
  kind !== 'quota' &&
  (source === 'node' || status < 400)

/** The kinds of failure of which a lost filter can be: nodes report it with many codes. */
const lostFilterKinds: ReadonlySet<string> = new Set(['invalidRequest', 'missingData', 'unknown'])

/** Whether the node does not know a filter any more, or another node was asked. */
const isLostFilter = ({ kind, rpcError }: KeyrailError, method: string): boolean =>
  (method === 'eth_getFilterChanges' || method === 'eth_getFilterLogs') &&
  rpcError !== undefined &&
  lostFilterKinds.has(kind) &&
  (kind === 'invalidRequest' || /filter/i.test(rpcError.message.replaceAll(method, '')))

/** Returns the HTTP status that viem decides by: 429 for each rate limit, and for a quota error under a status of success. */
const getStatus = ({ kind, status }: KeyrailError): number | undefined =>
  kind === 'throttled' || (kind === 'quota' && (status ?? 0) < 400) ? 429 : status

/**
 * Converts a failure into the error that viem's `http` would throw, so that viem decodes reverts, follows CCIP-Read, falls back and splits log
 * ranges as with its own transports.
 *
 * @param error - What the transport rejected with. Anything but a `KeyrailError`, such as the reason of an abort, is returned unchanged.
 * @param body - The request.
 */
export function toViemError(error: unknown, body: Body): unknown {
  if (!isKeyrailError(error)) return error
  const { kind, redactedUrl: url = '', rpcError } = error
  const request = { ...body }
  // viem creates a new filter after this code only.
  if (rpcError && isLostFilter(error, body.method)) {
    const lost = new RpcRequestError({ body: request, error: { ...rpcError, code: -32_000 }, url })
    return Object.assign(lost, { failure: error })
  }
  const viemError =
    rpcError && kind === 'revert'
      ? new RpcRequestError({ body: request, error: toRevert(rpcError), url })
      : rpcError && isRpcFailure(error)
        ? new RpcRequestError({ body: request, error: { ...rpcError }, url })
        : kind === 'timeout'
          ? new TimeoutError({ body: request, url })
          : new HttpRequestError({ body: request, details: error.message, status: getStatus(error), url })
  // Not as `cause`: viem looks for the data of a revert in the deepest cause.
  return Object.assign(viemError, { failure: error })
}
