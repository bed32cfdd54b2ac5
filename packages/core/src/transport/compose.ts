import { createFailure } from '../failure/createFailure.ts'
import type { Call, Layer } from './call.ts'
import { createDoor } from './door.ts'
import type { Endpoint } from './http.ts'
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
  const live = new Set<Call>()
  const closed = ({ method }: Call): unknown =>
    createFailure({ kind: 'aborted', text: 'the transport is closed' }, { method, label })
  let carry = endpoint.carry
  for (const layer of layers) carry = layer(carry, label)
  let open = true
  const close = (): void => {
    open = false
    for (const call of live) {
      call.ended = true
      call.cancel?.(closed(call))
    }
    endpoint.close()
  }
  return Object.freeze({
    label,
    request: createDoor((call, settle) => (open ? carry(call, settle) : settle(false, closed(call))), live),
    close,
    [Symbol.asyncDispose]: async () => close(),
  })
}
