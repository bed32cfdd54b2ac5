import type { Server, Socket } from 'node:net'
import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { createFairShares } from '../../lib/createFairShares.ts'

/**
 * Holds each address (of IPv6 each /64) to a share of a server's connections: as many as are left for all, which is half for one alone. So one
 * machine that opens all it can keeps nobody out. Each may have one.
 * @param server - With its `maxConnections`, which may change.
 * @param mayBeProxy - Whether others come through an address: such as proxies, which have no bound.
 */
export const shareConnections = (server: Server, mayBeProxy: (ip: string) => boolean): void => {
  const shares = createFairShares(() => server.maxConnections)
  server.on('connection', (socket: Socket) => {
    const { remoteAddress: ip } = socket
    const giveBack = shares.take(ip === undefined || mayBeProxy(ip) ? undefined : toIpBlock(ip))
    if (giveBack === undefined) socket.destroy()
    else socket.on('close', giveBack)
  })
}
