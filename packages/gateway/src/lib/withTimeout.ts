/** The result of `withTimeout` when the time is up. */
export const timedOut = Symbol('timed out')

/**
 * Waits for work, but not longer than `ms`. The work itself continues.
 * @param ms - In milliseconds.
 * @param options.unref - Whether the process may exit while this waits. @default false
 * @returns The result of the work, or `timedOut`.
 * @throws The error of the work, if it rejects in time.
 */
export const withTimeout = async <T>(
  work: Promise<T>,
  ms: number,
  { unref = false }: { unref?: boolean } = {},
): Promise<T | typeof timedOut> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<typeof timedOut>((resolve) => {
    timer = setTimeout(() => resolve(timedOut), Math.max(0, ms))
    if (unref) timer.unref()
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Creates a function that waits for several pieces of work, one after another, within one time budget.
 * @param ms - The budget in milliseconds, starting now. `Infinity` waits until the work is done.
 * @returns Whether the work was done in time.
 */
export const createTimeBudget = (ms: number): ((work: Promise<unknown>) => Promise<boolean>) => {
  const endsAt = performance.now() + ms
  return async (work) => {
    if (ms !== Infinity) return (await withTimeout(work, endsAt - performance.now())) !== timedOut
    await work
    return true
  }
}
