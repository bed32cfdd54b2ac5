import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { Socket } from 'node:net'
import type { Connections } from './http/connections.ts'

/** How long idle connections stay open while draining, so that a request already on its way gets its 503 and not a reset. */
const idleGraceMs = 250

/**
 * Stops a server: no new connections, every open one until its last answer, and none after `graceMs`.
 * That new requests are rejected, and that last answers say `Connection: close`, is up to who answers.
 * @returns How many requests were cut off.
 */
export const drainServer = async (
  server: Server,
  { graceMs, sockets, connections }: { graceMs: number; sockets: ReadonlySet<Socket>; connections: Connections },
): Promise<number> => {
  if (!server.listening) return 0
  let cutOff = 0
  const giveUp = setTimeout(() => {
    cutOff = connections.count()
    server.closeAllConnections()
  }, graceMs)
  // Again and again: of two answers in a pipeline the last may have been ready before draining began, and did not say close.
  const closeIdle = setInterval(() => {
    server.closeIdleConnections()
    // Node does not count a connection on which nothing was ever sent as idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }, idleGraceMs)
  // The HTTP server's own close would cut idle connections at once, with a request perhaps on its way on one of them.
  await new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
  clearTimeout(giveUp)
  clearInterval(closeIdle)
  // What the HTTP server's own close does besides: end its timer. It says that the server is closed already.
  server.close(() => {})
  return cutOff
}
