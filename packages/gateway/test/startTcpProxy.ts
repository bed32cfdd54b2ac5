import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** A TCP proxy on 127.0.0.1 whose network can fail. */
export interface TcpProxy {
  readonly port: number
  /** Makes each response arrive this much later, in milliseconds. */
  readonly slow: (roundTripMs: number) => void
  /** Keeps connections open and forwards nothing. */
  readonly hang: () => void
  /** Forwards new connections; those that hang stay so. */
  readonly strand: () => void
  /** Resets all connections, and closes new ones at once. */
  readonly cut: () => void
  /** Works as at the start again, and delivers what connections held back. */
  readonly fix: () => void
  /** Resets all connections; new ones lead to another port. */
  readonly switchTo: (port: number) => void
  readonly close: () => Promise<void>
}

/**
 * Starts a proxy in front of a server on this machine.
 * @param options.roundTripMs - How much later each response arrives than without the proxy, in milliseconds. @default 0
 */
export const startTcpProxy = async (target: number, { roundTripMs = 0 } = {}): Promise<TcpProxy> => {
  const sockets = new Set<Socket>()
  let state: 'open' | 'hanging' | 'cut' = 'open'
  let port = target
  let delayMs = roundTripMs / 2

  const forward = (from: Socket, to: Socket): void => {
    let delivered: Promise<unknown> = Promise.resolve()
    /** Does something after everything before it, so that a changed delay does not change the order. */
    const deliver = (action: () => void): void => {
      const arrival = delayMs === 0 ? undefined : wait(delayMs)
      delivered = Promise.all([delivered, arrival]).then(action)
    }
    from.on('data', (chunk: Buffer) =>
      deliver(() => {
        if (to.writable) to.write(chunk)
      }),
    )
    from.on('end', () => deliver(() => to.end()))
    if (state === 'hanging') from.pause()
  }
  const server = createServer({ noDelay: true }, (client) => {
    if (state === 'cut') {
      client.on('error', () => {})
      client.destroy()
      return
    }
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
  const reset = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    slow: (nextRoundTripMs) => {
      delayMs = nextRoundTripMs / 2
    },
    hang: () => {
      state = 'hanging'
      for (const socket of sockets) socket.pause()
    },
    strand: () => {
      state = 'open'
    },
    cut: () => {
      state = 'cut'
      reset()
    },
    fix: () => {
      state = 'open'
      delayMs = roundTripMs / 2
      for (const socket of sockets) socket.resume()
    },
    switchTo: (nextPort) => {
      port = nextPort
      reset()
    },
    close: async () => {
      server.close()
      reset()
      await once(server, 'close')
    },
  }
}
