import type { Server, Socket } from 'node:net'
import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { createFairShares } from '../../lib/createFairShares.ts'

/**
 * Limits each IP address (each /64 of IPv6) to a fair share of a server's connections: as many as are left for all, so a single one gets half of
 * them. A machine that opens as many as it can does not lock out others. Each address may have at least one.
 * @param server - Its `maxConnections` may change.
 * @param isShared - Whether many callers share an address, such as a proxy's. Then it has no limit.
 */
export const shareConnections = (server: Server, isShared: (ip: string) => boolean): void => {
  const shares = createFairShares(() => server.maxConnections)
  server.on('connection', (socket: Socket) => {
    const { remoteAddress: ip } = socket
    const release = shares.take(ip === undefined || isShared(ip) ? undefined : toIpBlock(ip))
    if (release === undefined) socket.destroy()
    else socket.on('close', release)
  })
}
