import { isKeyrailError, KeyrailError } from '../../failure/keyrailError.ts'
import type { Send, Complete, RouteCall } from '../call/call.ts'
import { follow } from '../call/callProgress.ts'
import { createCall } from '../call/createCall.ts'
import { onCancel } from '../call/onCancel.ts'

/** A request for the head in flight, and the calls that wait for it. */
interface HeadRequest extends RouteCall {
  readonly waiters: Map<RouteCall, Complete>
}

/**
 * Creates a function that requests the head of an endpoint. Calls that wait for it share one `eth_blockNumber`, which is cancelled when the last of
 * them leaves.
 *
 * @param send - Sends a call to the endpoint.
 * @returns Requests the head for a call. The call's `cancel` leaves the shared request.
 */
export function createHeadQuery(send: Send): Send {
  let shared: HeadRequest | undefined
  return (call: RouteCall, complete) => {
    const joined = shared
    const request: HeadRequest = (shared ??= {
      ...createCall('eth_blockNumber', '[]', { priority: call.options.priority }),
      emit: call.emit,
      bypassesBreaker: call.bypassesBreaker,
      waiters: new Map(),
    })
    request.waiters.set(call, complete)
    follow(call, request)
    onCancel(call, (reason) => {
      request.waiters.delete(call)
      if (request.waiters.size === 0) {
        if (shared === request) shared = undefined
        request.ended = true
        request.cancel?.(reason)
      }
      complete(false, reason)
    })
    if (joined) return
    send(request, (ok, value) => {
      if (shared === request) shared = undefined
      request.cancel = undefined
      // Each caller gets its own failure. Its message names eth_blockNumber, its method is that of the caller.
      for (const [{ method }, give] of request.waiters)
        give(ok, isKeyrailError(value) ? new KeyrailError(value.message, { ...value, method }) : value)
    })
  }
}
