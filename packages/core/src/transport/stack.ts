import type { Call, Layer, LayerContext } from './call/call.ts'
import { createDispatch } from './call/createDispatch.ts'
import type { Dispatch, Frame } from './call/createDispatch.ts'
import { endCall } from './call/endCall.ts'
import type { Endpoint } from './endpoint/http.ts'
import { createQueue } from './call/queue.ts'
import { onCancel } from './call/onCancel.ts'

/** Layers around an endpoint, and the function that starts calls. */
export interface Stack {
  readonly redactedUrl: string
  readonly dispatch: Dispatch
  /** Ends the calls in flight: all, or those of a group. */
  readonly end: (group?: object) => void
  /** Ends all calls, closes the endpoint and rejects new calls. */
  readonly close: () => void
}

/**
 * Puts layers around an endpoint.
 *
 * @param endpoint - The endpoint.
 * @param layers - The layers, the innermost first.
 * @param frame - What to do at the start and the end of each call.
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
    dispatch: createDispatch((call, complete) => send(call, complete), frame),
    end,
    close: () => {
      send = (call, complete) => {
        onCancel(call, (reason) => complete(false, reason))
        endOne(call)
      }
      end()
      endpoint.close()
    },
  }
}
