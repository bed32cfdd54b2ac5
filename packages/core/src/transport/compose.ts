import type { Call, Layer } from './call.ts'
import { createDoor } from './door.ts'
import { endCall } from './endCall.ts'
import type { Endpoint } from './http.ts'
import { createLane } from './lane.ts'
import { onCancel } from './onCancel.ts'
import type { Transport } from './transport.ts'

/**
 * Puts layers around an endpoint, the innermost first. What is not named is not bundled.
 *
 * @param endpoint - The lowest layer, such as `http(address)`.
 * @param layers - Each wraps all before it: a call passes the last one first.
 * @example
 * const transport = compose(http({ url: 'http://127.0.0.1:8545' }), retry(), deadline())
 */
export function compose(endpoint: Endpoint, ...layers: readonly Layer[]): Transport {
  const { label } = endpoint
  const live = createLane<Call>()
  let { carry } = endpoint
  for (const layer of layers) carry = layer(carry, label)
  const end = (call: Call): void => endCall(call, label, 'aborted', 'the transport is closed')
  const close = (): void => {
    carry = (call, settle) => {
      onCancel(call, (reason) => settle(false, reason))
      end(call)
    }
    live.all().forEach(end)
    endpoint.close()
  }
  return Object.freeze({
    label,
    request: createDoor((call, settle) => carry(call, settle), live),
    close,
    [Symbol.asyncDispose]: async () => close(),
  })
}
