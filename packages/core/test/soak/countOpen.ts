import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** The open handles of this process. */
export interface OpenCount {
  /** Timers that were set through the global functions and are neither over nor cleared, those included that do not hold the process. */
  readonly timers: () => number
  /** Connections that were opened from here and have not closed. */
  readonly sockets: () => number
  readonly stop: () => void
}

/**
 * Counts timers and sockets from now on. The list that Node provides omits unreferenced ones, which could accumulate unnoticed.
 */
export function countOpen(): OpenCount {
  const { setTimeout: set, clearTimeout: clear } = globalThis
  const timers = new Set<unknown>()
  const sockets = new Set<Socket>()
  globalThis.setTimeout = ((run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const timer = set(() => {
      timers.delete(timer)
      run(...args)
    }, ms)
    timers.add(timer)
    return timer
  }) as typeof setTimeout
  globalThis.clearTimeout = (timer) => {
    timers.delete(timer)
    clear(timer)
  }
  const onSocket = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket }
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  subscribe('net.client.socket', onSocket)
  return {
    timers: () => timers.size,
    sockets: () => sockets.size,
    stop: () => {
      globalThis.setTimeout = set
      globalThis.clearTimeout = clear
      unsubscribe('net.client.socket', onSocket)
    },
  }
}
