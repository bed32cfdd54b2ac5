import { isKeyrailError } from '@keyrail/core'
import { toRevert } from '@keyrail/core/internal'
import type { KeyrailError } from '@keyrail/core'
import { HttpRequestError, RpcRequestError, TimeoutError } from 'viem'

/** What viem's own errors tell of a call. */
interface Body {
  readonly method: string
  readonly params?: unknown
}

/** Whether the node or service spoke JSON-RPC, and not HTTP: viem decodes the former, and reads limits from the status of the latter. */
const spokeRpc = ({ source, status = 0, rpcError, kind }: KeyrailError): boolean =>
  rpcError !== undefined && kind !== 'throttled' && kind !== 'quota' && (source === 'node' || status < 400)

/** The status that viem decides by. A limit that came under a good status is one all the same. */
const statusOf = ({ kind, status }: KeyrailError): number | undefined =>
  kind === 'throttled' || (kind === 'quota' && (status ?? 0) < 400) ? 429 : status

/**
 * Gives a failure as viem's own `http` would, so that everything above it decides and decodes as it is used to: reverts, CCIP-Read, `fallback`,
 * the splitting of log ranges.
 *
 * @param error - What the transport rejected with. Anything but a Keyrail failure, such as the reason of an abort, is returned as it is.
 * @param body - What was asked.
 */
export function toViemError(error: unknown, body: Body): unknown {
  if (!isKeyrailError(error)) return error
  const { kind, redactedUrl: url = '', rpcError } = error
  const asked = { ...body }
  const told =
    rpcError && kind === 'revert'
      ? new RpcRequestError({ body: asked, error: toRevert(rpcError), url })
      : rpcError && spokeRpc(error)
        ? new RpcRequestError({ body: asked, error: { ...rpcError }, url })
        : kind === 'timeout'
          ? new TimeoutError({ body: asked, url })
          : new HttpRequestError({ body: asked, details: error.message, status: statusOf(error), url })
  // Not as `cause`: viem looks for the data of a revert in the deepest one.
  return Object.assign(told, { failure: error })
}
