import { vi } from 'vitest'

/**
 * Replaces the timers and `performance` of this process: time passes only when a test calls `vi.advanceTimersByTimeAsync`. Sockets stay real,
 * so a test waits for a request with `expect.poll`, which keeps the real clock. Undo it with `vi.useRealTimers()`.
 */
export function useFakeClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
}
