import { vi } from 'vitest'

/**
 * Stops the clock that the gateway in this process uses for timeouts, hedging and waits, so that a test decides when time passes, however
 * busy the machine is. Sockets and `expect.poll` stay real. End it with `vi.useRealTimers()`.
 * @returns Lets milliseconds pass and runs the timers that are due.
 */
export const controlTime = (): ((ms: number) => void) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  return (ms) => void vi.advanceTimersByTime(ms)
}
