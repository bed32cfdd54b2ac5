import type { CallOptions, Transport } from '@keyrail/core'

const transports = new WeakMap<object, { readonly transport: Transport; readonly bound: CallOptions | undefined }>()

/** Records which transport a client uses, and which call options are bound to it. */
export function setClientTransport(client: object, transport: Transport, bound: CallOptions | undefined): void {
  transports.set(client, { transport, bound })
}

/**
 * Returns the transport of a client that `createClient` created, or the object itself if it is any other client.
 * Learned limits of a provider are stored under this object, so that all clients of one transport share it.
 */
export function getClientTransport(client: object): object {
  return transports.get(client)?.transport ?? client
}

/** Returns the call options that are bound to a client of `createClient`. */
export function getBoundOptions(client: object): CallOptions {
  return transports.get(client)?.bound ?? {}
}
