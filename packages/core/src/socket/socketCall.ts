import type { KeyrailError } from '../failure/keyrailError.ts'
import type { Hex } from '../schema/hex.ts'
import type { CallOptions } from '../transport/call/call.ts'

/** The option of a call that must be sent over a WebSocket connection. A symbol, so that every layer passes it on and no user can set it. */
export const socketCall: unique symbol = /* @__PURE__ */ Symbol('over a WebSocket connection')

/** The `params` of a notification. A service of Keyrail sends a `position` in place of a `result` to a client that subscribed with a cursor. */
export interface SocketNotification {
  readonly subscription: string
  readonly result?: unknown
  readonly position?: { readonly number: Hex; readonly hash: Hex }
}

/** Receives the notifications of the subscription that an `eth_subscribe` call opens. */
export interface Subscriber {
  readonly onNotification: (params: SocketNotification) => void
  /** Called once when the connection ends, unless the subscription ended before. */
  readonly onEnd: (failure: KeyrailError) => void
  /** Ends the subscription. Set by the connection that it was opened on. */
  unsubscribe: () => void
}

/** The options of a call that must be sent over a WebSocket connection. */
export interface SocketCallOptions extends CallOptions {
  readonly [socketCall]?: Subscriber | true
}

/** The value of a call's {@link socketCall}. */
export const getSocketCall = ({ options }: { readonly options: CallOptions }): Subscriber | true | undefined =>
  (options as SocketCallOptions)[socketCall]
