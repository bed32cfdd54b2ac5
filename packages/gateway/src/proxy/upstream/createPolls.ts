/** A task that runs periodically. */
export interface Poll {
  /** Runs the task now, unless it is running. The next run is due after the usual wait. Resolves when the task is done. */
  readonly run: () => Promise<void>
  /** Computes the wait until the next run again, from now on. */
  readonly reschedule: () => void
  readonly stop: () => void
}

/** The polls of one network's upstreams. They slow down while the network is idle. */
export interface Polls {
  /** Call this for each call to the network. If it was idle, all polls run at once. */
  readonly markUsed: () => void
  /**
   * Creates a poll. It starts with its first `run`.
   * @param task - Must not reject.
   * @param getWaitMs - Gets the time from the end of a run to the next one while the network is in use, in milliseconds.
   */
  readonly create: (task: () => Promise<void>, getWaitMs: () => number) => Poll
}

/** A network is idle after so long without a call. */
const idleAfterMs = 60_000
/** The shortest wait of a poll while its network is idle. */
const idleWaitMs = 60_000

/**
 * Creates the polls of one network. A service can have hundreds of networks of which few are in use: polls of the others run once a minute. A
 * network counts as used when it is created, so that a node that starts together with the service is found soon.
 */
export const createPolls = (): Polls => {
  const all: Poll[] = []
  let usedAt = performance.now()
  const isIdle = (): boolean => performance.now() - usedAt >= idleAfterMs

  const create = (task: () => Promise<void>, getWaitMs: () => number): Poll => {
    let timer: NodeJS.Timeout | undefined
    let running = false
    let stopped = false
    const reschedule = (): void => {
      clearTimeout(timer)
      if (stopped) return
      const waitMs = isIdle() ? Math.max(getWaitMs(), idleWaitMs) : getWaitMs()
      // Polls alone must not keep the process alive.
      timer = setTimeout(() => void run(), waitMs).unref()
    }
    const run = async (): Promise<void> => {
      if (running || stopped) return
      running = true
      await task()
      running = false
      reschedule()
    }
    const stop = (): void => {
      stopped = true
      clearTimeout(timer)
    }
    return { run, reschedule, stop }
  }

  return {
    markUsed: () => {
      const wasIdle = isIdle()
      usedAt = performance.now()
      if (wasIdle) for (const poll of all) void poll.run()
    },
    create: (task, getWaitMs) => {
      const poll = create(task, getWaitMs)
      all.push(poll)
      return poll
    },
  }
}
