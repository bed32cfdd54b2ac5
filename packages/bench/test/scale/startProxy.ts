import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A TCP proxy on 127.0.0.1. */
export interface Proxy {
  readonly port: number
  /** Resets all connections; new ones lead to another port. */
  switchTo(port: number): void
  close(): Promise<void>
}

/**
 * Starts a proxy in front of a server on this machine.
 * @param options.roundTripMs - How much later each response arrives, in milliseconds. @default 0
 */
export const startProxy = async (target: number, { roundTripMs = 0 } = {}): Promise<Proxy> => {
  let port = target
  const sockets = new Set<Socket>()
  const forward = (from: Socket, to: Socket): void => {
    if (roundTripMs === 0) {
      from.pipe(to)
      return
    }
    from.on('data', (chunk: Buffer) => setTimeout(() => to.writable && to.write(chunk), roundTripMs / 2))
    from.on('end', () => setTimeout(() => to.end(), roundTripMs / 2))
  }
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true })
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
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    switchTo: (next) => {
      port = next
      cut()
    },
    close: async () => {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
