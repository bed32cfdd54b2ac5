import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A TCP proxy that can be disconnected. */
export interface CuttableLink {
  readonly port: number
  /** Closes all connections and rejects new ones. */
  readonly cut: () => void
  /** Accepts connections again. */
  readonly fix: () => void
  /** Leads new connections to another port, as a virtual IP does after a failover. */
  readonly retarget: (port: number) => void
  readonly close: () => Promise<void>
}

/** Starts a TCP proxy for a port of this machine. */
export const createCuttableLink = async (firstTarget: number): Promise<CuttableLink> => {
  let target = firstTarget
  const sockets = new Set<Socket>()
  let isCut = false
  const track = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    track(near)
    if (isCut) {
      near.destroy()
      return
    }
    const far = connect(target, '127.0.0.1')
    track(far)
    near.pipe(far).pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    fix: () => {
      isCut = false
    },
    retarget: (port) => {
      target = port
    },
    close: async () => {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
