import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A TCP proxy that makes a server on this machine appear far away. */
export interface DelayingProxy {
  readonly port: number
  close(): Promise<void>
}

/**
 * Starts a proxy in front of a server on this machine.
 * @param options.roundTripMs - How much later each response arrives than without the proxy, in milliseconds.
 */
export const startDelayingProxy = async (
  target: number,
  { roundTripMs }: { roundTripMs: number },
): Promise<DelayingProxy> => {
  const sockets = new Set<Socket>()
  const forward = (from: Socket, to: Socket): void => {
    from.on('data', (chunk: Buffer) => setTimeout(() => to.writable && to.write(chunk), roundTripMs / 2))
    from.on('end', () => setTimeout(() => to.end(), roundTripMs / 2))
  }
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    forward(client, upstream)
    forward(upstream, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
