import type { QuotaState } from './quotaState.ts'

/** A queue of accounts that need a reservation. */
export interface ReservationQueue {
  readonly push: (state: QuotaState) => void
  /** Whether a query is running. */
  readonly isBusy: () => boolean
  /** Abandons the running queries, which may hang. They no longer block later ones. */
  readonly abandon: () => void
  /** Starts the queued queries and waits until all are done. */
  readonly drain: () => Promise<void>
}

/**
 * Creates a queue of accounts that need a reservation.
 * @param options.batchSize - Accounts per query.
 * @param options.concurrency - Queries running at once.
 * @param options.reserve - Reserves for all accounts of a batch; `isAbandoned` returns whether the query was abandoned. Never rejects.
 */
export const createReservationQueue = (options: {
  batchSize: number
  concurrency: number
  reserve: (batch: readonly QuotaState[], isAbandoned: () => boolean) => Promise<void>
}): ReservationQueue => {
  const { batchSize, concurrency, reserve } = options
  const waiting: QuotaState[] = []
  let running = 0
  /** Incremented when the running queries are abandoned. */
  let round = 0
  let onDrained: (() => void) | undefined

  const startQueries = (): void => {
    while (running < concurrency && waiting.length > 0) {
      running += 1
      const startedIn = round
      const isAbandoned = (): boolean => startedIn !== round
      void reserve(waiting.splice(0, batchSize), isAbandoned).finally(() => {
        if (isAbandoned()) return
        running -= 1
        startQueries()
      })
    }
    if (running === 0) onDrained?.()
  }
  return {
    push: (state) => {
      waiting.push(state)
      // Accounts queued in one round of the event loop go in one query.
      if (waiting.length === 1) setImmediate(startQueries)
    },
    isBusy: () => running > 0,
    abandon: () => {
      round += 1
      running = 0
      waiting.length = 0
      onDrained?.()
    },
    drain: () =>
      new Promise((resolve) => {
        onDrained = resolve
        startQueries()
      }),
  }
}
