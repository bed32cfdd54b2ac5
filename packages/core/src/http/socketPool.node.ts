import type { Socket } from 'node:net'
import { createSharedTimer } from '../clock/createSharedTimer.ts'
import { now } from '../clock/now.ts'

/** A connection, and what must be remembered of it from one request to the next. */
export interface PooledSocket extends Socket {
  /** How many bytes it had received when its last answer ended; undefined before that. */
  keptBytesRead?: number | undefined
  /** How long its server keeps it open when idle, in milliseconds, as far as the server said so. */
  keptMs?: number | undefined
  /** When it is too old to be used again, as `now()` counts. */
  keptUntil?: number | undefined
}

/** Connections to one origin, kept alive between requests. */
export interface SocketPool {
  /** Gives the connection that was in use last, or a new one. It comes back of itself when it emits `free`, as `node:http` lets it. */
  readonly take: () => PooledSocket
  /** Closes the idle ones. */
  readonly drop: () => void
  readonly close: () => void
}

/** Shorter than the idle time of common servers and balancers (5 s and more), so that their close rarely meets our next request. */
const IDLE_MS = 4_000

/** How much sooner than the server we drop an idle connection: its close takes time to travel. */
const MARGIN_MS = 1_000

const SWEEP_MS = 1_000

/**
 * Keeps connections for `createConnection` of `node:http`. In place of an `http.Agent`, whose bookkeeping costs as much as the rest of a request:
 * it copies the options, makes a key of them, and resets each connection.
 *
 * @param connect - Opens a connection; called where none is idle.
 * @see RFC 9112 section 9 (connection management); RFC 2068 section 19.7.1.1 (Keep-Alive: timeout)
 */
export function createSocketPool(connect: () => Socket): SocketPool {
  let idle: PooledSocket[] = []
  let open = true

  const sweep = (): void => {
    const time = now()
    idle = idle.filter((socket) => (socket.keptUntil as number) > time || !socket.destroy())
    if (idle.length > 0) timer.set(SWEEP_MS)
  }
  const timer = createSharedTimer(sweep, true)

  const drop = (): void => {
    for (const socket of idle.splice(0)) socket.destroy()
  }

  return {
    drop,
    take: () => {
      for (let socket; (socket = idle.pop());) {
        // Bytes that nobody asked for would be taken for the answer to the next request.
        const silent = socket.bytesRead === socket.keptBytesRead
        if (silent && socket.writable && (socket.keptUntil as number) > now()) {
          socket.ref()
          return socket
        }
        socket.destroy()
      }
      const fresh: PooledSocket = connect()
      // An idle connection breaks unheard; one in use is heard by its request.
      fresh.on('error', () => {})
      fresh.on('free', () => {
        const ms = Math.min(IDLE_MS, (fresh.keptMs ?? Infinity) - MARGIN_MS)
        if (!open || ms <= 0 || !fresh.writable || fresh.keptBytesRead === undefined) return void fresh.destroy()
        fresh.keptUntil = now() + ms
        // Nothing is waited for, so the process may end.
        fresh.unref()
        idle.push(fresh)
        if (!timer.isSet()) timer.set(SWEEP_MS)
      })
      fresh.on('close', () => {
        const at = idle.indexOf(fresh)
        if (at >= 0) idle.splice(at, 1)
      })
      return fresh
    },
    close: () => {
      open = false
      timer.clear()
      drop()
    },
  }
}
