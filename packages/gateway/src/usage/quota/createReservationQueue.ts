import type { QuotaState } from './quotaState.ts'

/** Whose rows are to be asked, and how many are asked at once. */
export interface ReservationQueue {
  readonly push: (state: QuotaState) => void
  /** Whether a question is in flight. */
  readonly isBusy: () => boolean
  /** Gives up what is in flight, which may hang for long: nobody waits for it any more, and it blocks nothing that comes later. */
  readonly giveUp: () => void
  /** Begins what has gathered, and waits until nothing is in flight. */
  readonly still: () => Promise<void>
}

/**
 * Makes the queue of those who wait for a reservation.
 * @param options.most - Accounts in one question.
 * @param options.atOnce - Questions in flight at once.
 * @param options.ask - Asks for all of a batch. Told whether it was given up meanwhile. Never rejected.
 */
export const createReservationQueue = (options: {
  most: number
  atOnce: number
  ask: (batch: readonly QuotaState[], isGivenUp: () => boolean) => Promise<void>
}): ReservationQueue => {
  const { most, atOnce, ask } = options
  const waiting: QuotaState[] = []
  let inFlight = 0
  /** Moves when what is in flight is given up. */
  let round = 0
  let whenStill: (() => void) | undefined

  const askAll = (): void => {
    while (inFlight < atOnce && waiting.length > 0) {
      inFlight += 1
      const asked = round
      const isGivenUp = (): boolean => asked !== round
      void ask(waiting.splice(0, most), isGivenUp).finally(() => {
        if (isGivenUp()) return
        inFlight -= 1
        askAll()
      })
    }
    if (inFlight === 0) whenStill?.()
  }
  return {
    push: (state) => {
      waiting.push(state)
      // All that came in this round of the event loop goes together.
      if (waiting.length === 1) setImmediate(askAll)
    },
    isBusy: () => inFlight > 0,
    giveUp: () => {
      round += 1
      inFlight = 0
      waiting.length = 0
      whenStill?.()
    },
    still: () =>
      new Promise((resolve) => {
        whenStill = resolve
        askAll()
      }),
  }
}
