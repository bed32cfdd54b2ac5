import type { JsonRpcApiProvider, Subscriber } from 'ethers'
import { createErrorReport } from './errorReport.ts'

/** One round of a poller. */
export interface PollerOptions {
  /** The call that a failure is reported for. */
  readonly call: { readonly method: string; readonly params: unknown[] }
  /** Polls once. `isCurrent` returns false as soon as the poller was stopped. */
  readonly poll: (isCurrent: () => boolean) => Promise<void>
  /** Forgets the position. */
  readonly reset: () => void
}

/**
 * Creates a subscriber that polls once in each polling interval. Unlike those of ethers, it reports failures.
 *
 * @param provider - Emits, as `error`, failures that are not retryable.
 * @param options - What to poll.
 */
export function createPoller(provider: JsonRpcApiProvider, { call, poll, reset }: PollerOptions): Subscriber {
  const report = createErrorReport(provider, call)
  let timer: number | undefined
  /** The number of the run: a poll of an earlier run does not schedule another one. 0 while it is stopped. */
  let run = 0
  let runs = 0

  const pollAgain = async (own: number): Promise<void> => {
    try {
      await poll(() => run === own)
      report.succeeded()
    } catch (error) {
      if (run === own) report.failed(error)
    }
    if (run === own) timer = provider._setTimeout(() => void pollAgain(own), provider.pollingInterval)
  }
  const start = (): void => {
    if (run > 0) return
    run = ++runs
    void pollAgain(run)
  }
  const stop = (): void => {
    run = 0
    if (timer !== undefined) provider._clearTimeout(timer)
    timer = undefined
  }
  return {
    start,
    stop,
    pause: (drop) => {
      stop()
      if (drop) reset()
    },
    resume: start,
  }
}
