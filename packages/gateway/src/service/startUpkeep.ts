/**
 * Runs a job immediately and then at an interval. A failed run is ignored, and a run is skipped while another one is in flight. The timer does
 * not keep the process alive.
 * @param options.work - The job. It checks `stopped()` between its steps.
 * @param options.everyMs - In milliseconds.
 * @returns A function that stops it.
 */
export const startUpkeep = ({
  work,
  everyMs,
}: {
  work: (stopped: () => boolean) => Promise<void>
  everyMs: number
}): (() => void) => {
  let stopped = false
  let inFlight = false
  const run = async (): Promise<void> => {
    if (inFlight) return
    inFlight = true
    try {
      await work(() => stopped)
    } catch {
      // For example, the database is unavailable. The next run tries again.
    }
    inFlight = false
  }
  const timer = setInterval(() => void run(), everyMs)
  timer.unref()
  void run()
  return () => {
    stopped = true
    clearInterval(timer)
  }
}
