/**
 * Runs a job immediately and then at an interval. A failed run is ignored, and a run is skipped while another one is running. The timer does
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
  let isRunning = false
  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    try {
      await work(() => stopped)
    } catch {
      // For example, the database is unavailable. The next run tries again.
    }
    isRunning = false
  }
  const timer = setInterval(() => void run(), everyMs)
  timer.unref()
  void run()
  return () => {
    stopped = true
    clearInterval(timer)
  }
}
