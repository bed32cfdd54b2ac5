import type { Call, Layer } from './call.ts'
import { createDoor } from './door.ts'
import type { Door, Frame } from './door.ts'
import { endCall } from './endCall.ts'
import type { Endpoint } from './http.ts'
import { createLane } from './lane.ts'
import { onCancel } from './onCancel.ts'

/** Layers around an endpoint, with a door to them. */
export interface Stack {
  readonly label: string
  readonly door: Door
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
  endpoint: Endpoint,
  layers: readonly Layer[],
  frame: Frame = { live: createLane<Call>() },
): Stack {
  const { label } = endpoint
  const { live } = frame
  let { carry } = endpoint
  for (const layer of layers) carry = layer(carry, label)
  const endOne = (call: Call): void => endCall(call, label, 'aborted', 'the transport is closed')
  const end = (group?: object): void => {
    for (const call of live.all()) if (!group || call.group === group) endOne(call)
  }
  return {
    label,
    door: createDoor((call, settle) => carry(call, settle), frame),
    end,
    close: () => {
      carry = (call, settle) => {
        onCancel(call, (reason) => settle(false, reason))
        endOne(call)
      }
      end()
      endpoint.close()
    },
  }
}
