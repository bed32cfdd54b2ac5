const transports = new WeakMap<object, object>()

/** Records which transport a client uses. */
export function setClientTransport(client: object, transport: object): void {
  transports.set(client, transport)
}

/**
 * Returns the transport of a client that `createClient` created, or the object itself if it is any other client.
 * What is learned about a provider's limits is stored under this object, so that all clients of one transport share it.
 */
export function getClientTransport(client: object): object {
  return transports.get(client) ?? client
}
