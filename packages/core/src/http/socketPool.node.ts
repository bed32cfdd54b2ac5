import type { Socket } from 'node:net'
import { createSharedTimer } from '../clock/createSharedTimer.ts'
import { now } from '../clock/now.ts'

/** A connection, with the state that the pool needs between requests. */
export interface PooledSocket extends Socket {
  /** How many bytes it had received at the end of its last response; undefined before that. */
  idleBytesRead?: number | undefined
  /** How long the server keeps it open when idle, in milliseconds, if the server says so. */
  keepAliveMs?: number | undefined
  /** When it is too old for reuse, in the time of `now()`. */
  expiresAt?: number | undefined
}

/** Connections to one origin, kept alive between requests. */
export interface SocketPool {
  /** Returns the connection that was used last, or a new one. It returns to the pool when `node:http` emits `free` on it. */
  readonly acquire: () => PooledSocket
  /** Closes the idle connections. */
  readonly closeIdle: () => void
  readonly close: () => void
}

/** Shorter than the idle timeout of common servers and load balancers (5 s and more), so that they rarely close a connection that is about to be reused. */
const IDLE_MS = 4_000

/** How much earlier than the server the pool closes an idle connection, because the server's close takes time to arrive. */
const MARGIN_MS = 1_000

const SWEEP_MS = 1_000

/**
 * Creates a pool of keep-alive connections for the `createConnection` option of `node:http`. An `http.Agent` costs as much as the rest of a
 * request: it copies the options, builds a key from them, and resets each connection.
 *
 * @param connect - Opens a connection; called if none is idle.
 * @see RFC 9112 section 9 (connection management); RFC 2068 section 19.7.1.1 (Keep-Alive: timeout)
 */
export function createSocketPool(connect: () => Socket): SocketPool {
  let idle: PooledSocket[] = []
  let open = true

  const sweep = (): void => {
    const time = now()
    idle = idle.filter((socket) => (socket.expiresAt as number) > time || !socket.destroy())
    if (idle.length > 0) timer.set(SWEEP_MS)
  }
  const timer = createSharedTimer(sweep, true)

  const drop = (): void => {
    for (const socket of idle.splice(0)) socket.destroy()
  }

  return {
    closeIdle: drop,
    acquire: () => {
      for (let socket; (socket = idle.pop());) {
        // Bytes that arrived while the connection was idle would be read as the response to the next request.
        const isClean = socket.bytesRead === socket.idleBytesRead
        if (isClean && socket.writable && (socket.expiresAt as number) > now()) {
          socket.ref()
          return socket
        }
        socket.destroy()
      }
      const opened: PooledSocket = connect()
      // Errors of an idle connection are ignored. Those of a connection in use are also reported to its request.
      opened.on('error', () => {})
      opened.on('free', () => {
        const ms = Math.min(IDLE_MS, (opened.keepAliveMs ?? Infinity) - MARGIN_MS)
        if (!open || ms <= 0 || !opened.writable || opened.idleBytesRead === undefined) return void opened.destroy()
        opened.expiresAt = now() + ms
        // An idle connection must not keep the process alive.
        opened.unref()
        idle.push(opened)
        if (!timer.isSet()) timer.set(SWEEP_MS)
      })
      opened.on('close', () => {
        const at = idle.indexOf(opened)
        if (at >= 0) idle.splice(at, 1)
      })
      return opened
    },
    close: () => {
      open = false
      timer.clear()
      drop()
    },
  }
}
