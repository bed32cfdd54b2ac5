import { vi } from 'vitest'

const realSetTimeout = setTimeout
const pollMs = 2
/** About a minute, which only catches hangs. */
const maxPolls = 30_000

/**
 * Stops the clock that the gateway in this process uses for timeouts, hedging and queues, so that a test decides when time passes, even on a
 * busy machine. Sockets stay real. Wait for them with `until`, because `expect.poll` advances the stopped clock. Restore the clock with
 * `vi.useRealTimers()`.
 * @returns A function that advances the clock by milliseconds and runs the timers that are due.
 */
export const controlTime = (): ((ms: number) => void) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  return (ms) => void vi.advanceTimersByTime(ms)
}

/**
 * Waits until a condition is true. Does not advance a stopped clock.
 * @throws {Error} If it does not become true within about a minute.
 */
export const until = async (condition: () => boolean): Promise<void> => {
  for (let poll = 0; !condition(); poll += 1) {
    if (poll === maxPolls) throw new Error(`Still not true: ${String(condition)}`)
    await new Promise((resolve) => realSetTimeout(resolve, pollMs))
  }
}
