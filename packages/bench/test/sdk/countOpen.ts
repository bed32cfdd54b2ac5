import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** The open handles of this process. */
export interface OpenCount {
  /** Timers of the global functions that have neither fired nor been cleared, including those that do not keep the process alive. */
  readonly timers: () => number
  /** Connections that this process opened and that are still open. */
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
