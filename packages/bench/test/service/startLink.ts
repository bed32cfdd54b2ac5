import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** A TCP proxy on 127.0.0.1 whose network fails as it is told. */
export interface Link {
  readonly port: number
  /** Delivers responses this much later, in milliseconds. */
  readonly slow: (roundTripMs: number) => void
  /** Keeps connections open and delivers nothing. */
  readonly hang: () => void
  /** Resets all connections and rejects new ones. */
  readonly cut: () => void
  /** Works again, and delivers what it has held back. */
  readonly fix: () => void
  readonly close: () => Promise<void>
}

/** Starts a proxy in front of a server on this machine. */
export const startLink = async (target: number): Promise<Link> => {
  const sockets = new Set<Socket>()
  let isCut = false
  let delayMs = 0
  let open = Promise.resolve()
  let openAgain = (): void => {}

  const forward = (from: Socket, to: Socket): void => {
    let delivered: Promise<unknown> = Promise.resolve()
    from.on('data', (chunk: Buffer) => {
      const arrived = delayMs === 0 ? undefined : wait(delayMs)
      const last = delivered
      delivered = (async () => {
        await Promise.all([last, arrived, open])
        if (to.writable) to.write(chunk)
      })()
    })
    from.on('end', () => void delivered.then(() => to.end()))
  }
  const server = createServer({ noDelay: true }, (near) => {
    if (isCut) {
      near.on('error', () => {})
      near.resetAndDestroy()
      return
    }
    const far = connect({ port: target, host: '127.0.0.1', noDelay: true })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    forward(near, far)
    forward(far, near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    isCut = true
    for (const socket of sockets) socket.resetAndDestroy()
  }
  const fix = (): void => {
    isCut = false
    delayMs = 0
    openAgain()
    open = Promise.resolve()
  }
  return {
    port: (server.address() as AddressInfo).port,
    slow: (roundTripMs) => (delayMs = roundTripMs / 2),
    hang: () => {
      open = new Promise((resolve) => (openAgain = resolve))
    },
    cut,
    fix,
    close: async () => {
      fix()
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
