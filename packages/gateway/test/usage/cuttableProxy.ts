import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A TCP proxy that can reset or stall its connections. */
export interface CuttableProxy {
  readonly port: number
  /** Resets every connection and rejects new ones. */
  cut(): void
  /** Keeps connections open and forwards nothing. */
  hang(): void
  /** Forwards again. */
  fix(): void
  /** Forwards new connections; stalled ones stay stalled. */
  strand(): void
  close(): Promise<void>
}

/** Starts a proxy in front of a server on this machine. */
export const startCuttableProxy = async (target: number): Promise<CuttableProxy> => {
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'hanging' = 'open'
  const server = createServer((client) => {
    if (state === 'cut') {
      client.resetAndDestroy()
      return
    }
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    const forward = (from: Socket, to: Socket): void => {
      from.pipe(to)
      if (state === 'hanging') from.pause()
    }
    forward(client, upstream)
    forward(upstream, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    state = 'cut'
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    hang: () => {
      state = 'hanging'
      for (const socket of sockets) socket.pause()
    },
    strand: () => {
      state = 'open'
    },
    fix: () => {
      state = 'open'
      for (const socket of sockets) socket.resume()
    },
    close: async () => {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
