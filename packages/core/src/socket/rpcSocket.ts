import { defer } from '../clock/defer.ts'
import type { KeyrailError } from '../failure/keyrailError.ts'
import type { CallOptions, RequestArguments } from '../transport/call/call.ts'
import type { Dispatch } from '../transport/call/createDispatch.ts'
import type { Transport } from '../transport/transport.ts'
import { socketCall } from './socketCall.ts'
import type { SocketCallOptions, SocketNotification, Subscriber } from './socketCall.ts'

/** Receives what a subscription sends. Must not throw. */
export interface SocketHandlers {
  readonly onNotification: (params: SocketNotification) => void
  /** Called once if the subscription ends with its connection; not after `unsubscribe`. */
  readonly onEnd: (failure: KeyrailError) => void
}

/** A subscription on one connection. */
export interface SocketSubscription {
  readonly id: string
  /** Ends it, without waiting for the server. No handler is called after that. */
  readonly unsubscribe: () => void
}

/** The WebSocket connections of a transport, one for each endpoint. They are opened when they are needed, and `transport.close()` closes them. */
export interface RpcSocket {
  /** Makes one call over a WebSocket connection. It passes the same layers as a call of the transport, and fails in the same ways. */
  readonly request: (args: RequestArguments, options?: CallOptions) => Promise<unknown>
  /**
   * Subscribes at the endpoint that the transport chooses, and at the next one if that fails. The subscription ends with its connection;
   * the caller subscribes again. Handlers are called after the promise has resolved, also if the server sends notifications before its response.
   *
   * @param params - The params of `eth_subscribe`.
   * @param signal - Aborts the attempt to subscribe. It has no effect once the promise has resolved.
   * @throws {KeyrailError} The failure of `eth_subscribe`. It is not retried: during the backoff after a failed connection it fails
   *   at once, and `retryAfterMs` is the rest of it.
   */
  readonly subscribe: (
    params: readonly unknown[],
    handlers: SocketHandlers,
    signal?: AbortSignal,
  ) => Promise<SocketSubscription>
}

const sockets = /* @__PURE__ */ new WeakMap<Transport, RpcSocket>()

/**
 * Returns the WebSocket connections of a transport.
 *
 * @param transport - A transport.
 * @returns Undefined if the transport was created without `webSocket`, or is not one that `createTransport` returned.
 * @example
 * const socket = getSocket(createTransport({ url: 'http://127.0.0.1:8545', webSocket: webSocket() }))
 * await socket?.subscribe(['newHeads'], { onNotification: console.log, onEnd: console.warn })
 */
export const getSocket = (transport: Transport): RpcSocket | undefined => sockets.get(transport)

/**
 * Lets {@link getSocket} find the connections of a transport.
 *
 * @param transport - The transport.
 * @param dispatch - Starts its calls.
 */
export function registerSocket(transport: Transport, dispatch: Dispatch): void {
  const request: RpcSocket['request'] = (args, options) =>
    dispatch(args, { ...options, [socketCall]: true } as SocketCallOptions)

  /** Subscribes, and returns the subscription and the function that starts to call its handlers. */
  const open = async (
    params: readonly unknown[],
    handlers: SocketHandlers,
    signal: AbortSignal | undefined,
  ): Promise<readonly [SocketSubscription, () => void]> => {
    let over = false
    /** Calls of handlers that wait for the caller to know the subscription. */
    let waiting: (() => void)[] | undefined = []
    const run = (handle: () => void): void => {
      if (over) return
      if (waiting) waiting.push(handle)
      else handle()
    }
    const subscriber: Subscriber = {
      onNotification: (notification) => run(() => handlers.onNotification(notification)),
      onEnd: (failure) => run(() => handlers.onEnd(failure)),
      unsubscribe: () => {},
    }
    const unsubscribe = (): void => {
      over = true
      subscriber.unsubscribe()
    }
    const flush = (): void => {
      const handles = waiting ?? []
      waiting = undefined
      for (const handle of handles) if (!over) handle()
    }
    // The caller retries, and polls until then.
    const options: SocketCallOptions = { signal, retries: 0, [socketCall]: subscriber }
    try {
      const id = (await dispatch({ method: 'eth_subscribe', params }, options)) as string
      return [{ id, unsubscribe }, flush]
    } catch (error) {
      // The call may have been aborted just after the server's response.
      unsubscribe()
      throw error
    }
  }

  const subscribe: RpcSocket['subscribe'] = async (params, handlers, signal) => {
    const [subscription, flush] = await open(params, handlers, signal)
    // Two microtasks later, because the caller's code after `await` runs first.
    defer(() => defer(flush))
    return subscription
  }
  sockets.set(transport, { request, subscribe })
}
