import { vi } from 'vitest'

/**
 * Replaces the timers and `performance` of this process: time passes only when a test calls `vi.advanceTimersByTimeAsync`. Sockets stay real,
 * so a test waits for a request with {@link until}. Call it before the first request of a test: the clock of Keyrail moves on when one of its
 * real timers fires, such as that of an idle connection. Undo it with `vi.useRealTimers()`.
 */
export function useFakeClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
}

/** Waits until a condition holds without advancing the fake clock: `expect.poll` would advance it by 50 ms for each try. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}
