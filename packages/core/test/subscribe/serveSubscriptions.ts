import { registerSocket } from '../../src/socket/rpcSocket.ts'
import { socketCall } from '../../src/socket/socketCall.ts'
import type { SocketCallOptions, Subscriber } from '../../src/socket/socketCall.ts'
import type { Dispatch } from '../../src/transport/call/createDispatch.ts'
import type { Transport } from '../../src/index.ts'

export type { SocketNotification, Subscriber } from '../../src/socket/socketCall.ts'

/**
 * Gives a transport a socket without a server.
 *
 * @param transport - The transport.
 * @param subscribe - Handles `eth_subscribe`: returns the id.
 */
export function serveSubscriptions(
  transport: Transport,
  subscribe: (params: readonly unknown[], subscriber: Subscriber) => Promise<string>,
): void {
  const dispatch = (args: { readonly params?: unknown }, options?: SocketCallOptions): Promise<string> =>
    subscribe(args.params as readonly unknown[], options?.[socketCall] as Subscriber)
  registerSocket(transport, dispatch as Dispatch)
}
