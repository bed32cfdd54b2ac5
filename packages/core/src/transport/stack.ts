import type { Call, Layer, LayerContext } from './call.ts'
import { createDispatch } from './createDispatch.ts'
import type { Dispatch, Frame } from './createDispatch.ts'
import { endCall } from './endCall.ts'
import type { Endpoint } from './http.ts'
import { createQueue } from './queue.ts'
import { onCancel } from './onCancel.ts'

/** Layers around an endpoint, with a door to them. */
export interface Stack {
  readonly redactedUrl: string
  readonly dispatch: Dispatch
  /** Ends the calls under way: all, or those of a group. */
  readonly end: (group?: object) => void
  /** Ends all calls, closes the endpoint and refuses new calls. */
  readonly close: () => void
}

/**
 * Puts layers around an endpoint, the innermost first.
 *
 * @param frame - What stands around all of them.
 */
export function createStack(
  endpoint: Endpoint & { readonly chainId?: number | undefined },
  layers: readonly Layer[],
  frame: Frame = { live: createQueue<Call>() },
): Stack {
  const { redactedUrl } = endpoint
  const context: LayerContext = { redactedUrl, chainId: endpoint.chainId }
  const { live } = frame
  let { send } = endpoint
  for (const layer of layers) send = layer(send, context)
  const endOne = (call: Call): void => endCall(call, redactedUrl, 'aborted', 'the transport is closed')
  const end = (group?: object): void => {
    for (const call of live.all()) if (!group || call.group === group) endOne(call)
  }
  return {
    redactedUrl,
    dispatch: createDispatch((call, settle) => send(call, settle), frame),
    end,
    close: () => {
      send = (call, settle) => {
        onCancel(call, (reason) => settle(false, reason))
        endOne(call)
      }
      end()
      endpoint.close()
    },
  }
}
