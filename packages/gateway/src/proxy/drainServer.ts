import { Server as NetServer } from 'node:net'
import type { HttpServer } from './caller/http/createHttpServer.ts'
import type { Connections } from './http/connections.ts'
import type { SocketServer } from './caller/webSocket/createSocketServer.ts'

/** How long idle connections stay open while draining, so that a request already on the wire gets a 503 and not a reset. */
const idleGraceMs = 250

/**
 * Drains a server: it accepts no new connections, and closes each open one after its last response, at the latest after `graceMs`.
 * The request handler must reject new requests and send `Connection: close` with last responses.
 * @returns How many requests were cut off.
 */
export const drainServer = async (
  { server, sockets, connections, webSockets }: HttpServer & { connections: Connections; webSockets: SocketServer },
  graceMs: number,
): Promise<number> => {
  if (!server.listening) return 0
  let cutOff = 0
  const timer = setTimeout(() => {
    cutOff = connections.count()
    server.closeAllConnections()
    // Node no longer knows the connections that became WebSockets.
    cutOff += webSockets.terminate()
    for (const socket of sockets) socket.destroy()
  }, graceMs)
  // Repeatedly: the last response of a pipeline may have been ready before draining started, without `Connection: close`.
  const closeIdle = setInterval(() => {
    server.closeIdleConnections()
    // For Node a connection that never received a byte is not idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }, idleGraceMs)
  // The HTTP server's own `close` would cut idle connections at once, and one of them may have a request on the wire.
  await new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
  clearTimeout(timer)
  clearInterval(closeIdle)
  // The HTTP server's own `close` also stops its timer. Its callback gets an error, because the server is closed already.
  server.close(() => {})
  return cutOff
}
