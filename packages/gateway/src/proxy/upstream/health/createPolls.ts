/** A task that runs periodically. */
export interface Poll {
  /** Runs the task now, unless it is running. The next run is due after the usual wait. Resolves when the task is done. */
  readonly run: () => Promise<void>
  /** Computes the wait until the next run again, from now on. */
  readonly reschedule: () => void
  /** Call this when another instance has run the task: the next run is due after the usual wait, and up to a second by chance. */
  readonly postpone: () => void
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
   * @param claim - Called when a run is due. If it resolves to `false`, another instance is running the task: it runs here only if that does not
   * postpone it within a second. Must not reject. @default all runs are here
   */
  readonly create: (task: () => Promise<void>, getWaitMs: () => number, claim?: () => Promise<boolean>) => Poll
}

/** A network is idle after this long without a call. */
const idleAfterMs = 60_000
/** The shortest wait of a poll while its network is idle. */
const idleWaitMs = 60_000
/** Others wait a little longer than the instance that ran a task last, so that it claims the next run too, and almost no claims compete. */
const maxExtraWaitMs = 1_000
/** How long to wait for the result of another instance that has claimed a run. */
const resultWaitMs = 1_000

interface RunningPoll extends Poll {
  /** Runs the task, unless another instance just has. */
  readonly wake: () => void
}

/**
 * Creates the polls of one network. A service can have hundreds of networks of which few are in use: polls of the others run once a minute. A
 * network counts as used when it is created, so that a node that starts together with the service is found soon.
 */
export const createPolls = (): Polls => {
  const all: RunningPoll[] = []
  let usedAt = performance.now()
  const isIdle = (): boolean => performance.now() - usedAt >= idleAfterMs

  const create: (...args: Parameters<Polls['create']>) => RunningPoll = (task, getWaitMs, claim) => {
    let timer: NodeJS.Timeout | undefined
    let running = false
    let stopped = false
    let postponedAt = -Infinity
    const schedule = (waitMs: number, onDue: () => void): void => {
      clearTimeout(timer)
      // Polls alone must not keep the process alive.
      if (!stopped) timer = setTimeout(onDue, waitMs).unref()
    }
    const reschedule = (extraMs = 0): void => {
      const waitMs = isIdle() ? Math.max(getWaitMs(), idleWaitMs) : getWaitMs()
      schedule(waitMs + extraMs, () => void (claim === undefined ? run() : runOnce(claim)))
    }
    const run = async (): Promise<void> => {
      if (running || stopped) return
      running = true
      await task()
      running = false
      reschedule()
    }
    const runOnce = async (isClaimed: () => Promise<boolean>): Promise<void> => {
      const due = timer
      const isOurs = await isClaimed()
      // It was postponed or has run while the claim was in flight.
      if (timer !== due) return
      if (isOurs) void run()
      else schedule(resultWaitMs, () => void run())
    }
    return {
      run,
      reschedule: () => reschedule(),
      postpone: () => {
        postponedAt = performance.now()
        if (!running) reschedule(Math.random() * maxExtraWaitMs)
      },
      wake: () => {
        if (performance.now() - postponedAt < getWaitMs()) reschedule()
        else void run()
      },
      stop: () => {
        stopped = true
        clearTimeout(timer)
      },
    }
  }

  return {
    markUsed: () => {
      const wasIdle = isIdle()
      usedAt = performance.now()
      if (wasIdle) for (const poll of all) poll.wake()
    },
    create: (...args) => {
      const poll = create(...args)
      all.push(poll)
      return poll
    },
  }
}
