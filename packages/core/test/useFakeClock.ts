import { vi } from 'vitest'

/**
 * Replaces the timers and `performance` of this process: time passes only when a test calls `vi.advanceTimersByTimeAsync`. Sockets stay real,
 * so a test waits for a request with {@link until}. Undo it with `vi.useRealTimers()`.
 */
export function useFakeClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
}

/** Waits until a condition holds without advancing the fake clock: `expect.poll` would advance it by 50 ms for each try. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}
