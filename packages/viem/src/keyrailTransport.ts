import type { EIP1193RequestFn, Transport, TransportConfig, WebSocketTransport } from 'viem'

/**
 * A viem transport that sends its requests through Keyrail. `client.transport.redactedUrl` is the URL without its key, which is safe to print.
 * `client.transport.type` is `'webSocket'` if the transport was created with `webSocket`, because viem's watchers subscribe only to transports of
 * that type.
 */
export type KeyrailTransport = Transport<'keyrail' | 'webSocket', { readonly redactedUrl: string }, EIP1193RequestFn>

/** A {@link KeyrailTransport} with subscriptions. Unlike viem's own `webSocket()`, it has no `getRpcClient` and no `getSocket`. */
export type KeyrailWebSocketTransport = Transport<
  'webSocket',
  {
    readonly redactedUrl: string
    /** Subscribes to `newHeads`, `logs`, `newPendingTransactions` or `syncing`, through reconnects. viem's watchers call it. */
    readonly subscribe: NonNullable<ReturnType<WebSocketTransport>['value']>['subscribe']
  },
  EIP1193RequestFn
>

/** Options of viem's own transports, other than the URL. */
export interface KeyrailTransportConfig {
  /** The key of the transport, by which viem distinguishes transports. @default 'keyrail' */
  readonly key?: TransportConfig['key'] | undefined
  /** The name of the transport. @default 'Keyrail' */
  readonly name?: TransportConfig['name'] | undefined
  /** The methods to send to this transport, or to exclude. @default all */
  readonly methods?: TransportConfig['methods'] | undefined
  /** The maximum number of retries of a failed call; 0 for none. @default the count that viem's `fallback` sets, or the transport's own */
  readonly retryCount?: TransportConfig['retryCount'] | undefined
}
