import { vi } from 'vitest'

const realSetTimeout = setTimeout
const pollMs = 2
/** About a minute, which only catches hangs. */
const mostPolls = 30_000

/**
 * Stops the clock that the gateway in this process uses for timeouts, hedging and waits, so that a test decides when time passes, however
 * busy the machine is. Sockets stay real. Wait for them with `until`, since `expect.poll` lets the stopped clock go on. End it with
 * `vi.useRealTimers()`.
 * @returns Lets milliseconds pass and runs the timers that are due.
 */
export const controlTime = (): ((ms: number) => void) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  return (ms) => void vi.advanceTimersByTime(ms)
}

/**
 * Waits until a condition is true. A stopped clock stays where it is.
 * @throws {Error} If it does not become true within about a minute.
 */
export const until = async (condition: () => boolean): Promise<void> => {
  for (let poll = 0; !condition(); poll += 1) {
    if (poll === mostPolls) throw new Error(`Still not true: ${String(condition)}`)
    await new Promise((resolve) => realSetTimeout(resolve, pollMs))
  }
}
