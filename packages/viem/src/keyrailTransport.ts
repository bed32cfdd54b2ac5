import type { EIP1193RequestFn, Transport, TransportConfig } from 'viem'

/** A viem transport that sends its requests through Keyrail. `client.transport.redactedUrl` is the URL without its key, which is safe to print. */
export type KeyrailTransport = Transport<'keyrail', { readonly redactedUrl: string }, EIP1193RequestFn>

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
