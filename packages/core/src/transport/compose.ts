import type { Layer } from './call.ts'
import type { Endpoint } from './http.ts'
import { createStack } from './stack.ts'
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
  const { redactedUrl, dispatch, close } = createStack(endpoint, layers)
  return Object.freeze({ redactedUrl, request: dispatch, close, [Symbol.asyncDispose]: async () => close() })
}
