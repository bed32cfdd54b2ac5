/**
 * Does a work now and then, at once for the first time. One that fails is made good the next time; alone it keeps no process alive.
 * @param options.work - Asks between its steps whether it is to end.
 * @param options.everyMs - In milliseconds.
 * @returns What ends it.
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
      // Such as a database that is gone.
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
