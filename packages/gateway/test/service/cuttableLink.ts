import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A way to a server that can be cut and fixed, as a network's is. */
export interface CuttableLink {
  readonly port: number
  /** Ends what is connected, and lets nobody through. */
  readonly cut: () => void
  readonly fix: () => void
  readonly close: () => Promise<void>
}

/** Makes a way to a server of this machine. */
export const createCuttableLink = async (target: number): Promise<CuttableLink> => {
  const sockets = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    keep(near)
    if (isCut) {
      near.destroy()
      return
    }
    const far = connect(target, '127.0.0.1')
    keep(far)
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
    close: async () => {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
