import type { Server, Socket } from 'node:net'
import { ipBlock } from '../account/ipBlock.ts'

/**
 * Holds each address (of IPv6 each /64) to a share of a server's connections: as many as are left for all, which is half for one alone. So one
 * machine that opens all it can keeps nobody out. Each may have one.
 * @param server - With its `maxConnections`, which may change.
 * @param speaksForMany - Whether others come through an address: such as proxies, which have no bound.
 */
export const shareConnections = (server: Server, speaksForMany: (ip: string) => boolean): void => {
  const counts = new Map<string, number>()
  let total = 0
  server.on('connection', (socket: Socket) => {
    total += 1
    const { remoteAddress: ip } = socket
    const block = ip === undefined || speaksForMany(ip) ? undefined : ipBlock(ip)
    const own = block === undefined ? 0 : (counts.get(block) ?? 0) + 1
    if (block !== undefined) counts.set(block, own)
    socket.on('close', () => {
      total -= 1
      if (block === undefined) return
      const left = (counts.get(block) ?? 1) - 1
      if (left === 0) counts.delete(block)
      else counts.set(block, left)
    })
    if (own > 1 && own > server.maxConnections - total) socket.destroy()
  })
}
