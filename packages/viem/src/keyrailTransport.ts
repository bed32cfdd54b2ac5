import type { EIP1193RequestFn, Transport, TransportConfig } from 'viem'

/** A viem transport over Keyrail. `client.transport.redactedUrl` is what may be printed of the address; nothing else of it is there. */
export type KeyrailTransport = Transport<'keyrail', { readonly redactedUrl: string }, EIP1193RequestFn>

/** What viem's own transports take beside the address. */
export interface KeyrailTransportConfig {
  /** The key of the transport, by which viem tells transports apart. @default 'keyrail' */
  readonly key?: TransportConfig['key'] | undefined
  /** The name of the transport. @default 'Keyrail' */
  readonly name?: TransportConfig['name'] | undefined
  /** Methods that this transport is asked, or is not. @default all */
  readonly methods?: TransportConfig['methods'] | undefined
  /** How often a failed call is made again at most; 0 for never. @default what viem's `fallback` says, else as the transport was made */
  readonly retryCount?: TransportConfig['retryCount'] | undefined
}
