import { timedOut, withTimeout } from '../../lib/withTimeout.ts'

/** Reads in another thread. @returns `undefined` if that fails, takes too long, or if the thread is stalled. */
type GuardedRead = <Result>(work: () => Promise<Result>, waitMs: number | undefined) => Promise<Result | undefined>

/**
 * Keeps calls from waiting for a thread that is stalled: while a read that took too long is still open, and while too many are, no read starts.
 * @param options.patienceMs - How long a read may take, unless it names a shorter time.
 */
export const createReadGuard = ({
  patienceMs,
  maxPending,
  onError,
}: {
  readonly patienceMs: number
  readonly maxPending: number
  readonly onError: (error: unknown) => void
}): GuardedRead => {
  let pending = 0
  let late = 0
  return async (work, waitMs = patienceMs) => {
    if (late > 0 || pending >= maxPending) return undefined
    pending += 1
    const working = work()
      .catch((error: unknown) => void onError(error))
      .finally(() => (pending -= 1))
    const result = await withTimeout(working, Math.min(patienceMs, waitMs))
    if (result !== timedOut) return result as Exclude<typeof result, void>
    late += 1
    void working.finally(() => (late -= 1))
    return undefined
  }
}
