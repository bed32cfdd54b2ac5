import { now } from '../clock/now.ts'
import { startTimer } from '../clock/startTimer.ts'
import type { Timer } from '../clock/startTimer.ts'
import { checkRange } from '../failure/check.ts'
import { createTimers } from './timers.ts'
import type { Call } from './call.ts'
import { endCall } from './endCall.ts'
import { isExpensiveMethod } from './isExpensiveMethod.ts'
import type { Holder, QueueEntry } from './queue.ts'
import { creditWaits } from './waits.ts'

/** How long calls may take. */
export interface DeadlineOptions {
  /** How long a call may take in all, in milliseconds. @default 10_000, and 60_000 for eth_getLogs, eth_simulateV1, debug_* and trace_* */
  readonly timeoutMs?: number | undefined
}

/** Refuses a time that timers cannot keep: above 2^31-1 ms they strike at once. */
export function checkTimeout(timeoutMs: number | undefined): void {
  checkRange('timeoutMs', timeoutMs, 1, 2 ** 31 - 1)
}

/**
 * Holds the calls under way, and ends those that do not leave in time.
 *
 * @param options - The deadline of calls without one of their own.
 * @param redactedUrl - What may be printed of the address.
 * @param callOf - The call of what enters.
 */
export function createDeadlines<P extends QueueEntry>(
  { timeoutMs }: DeadlineOptions,
  redactedUrl: string,
  callOf: (place: P) => Call,
): Holder<P> {
  checkTimeout(timeoutMs)
  /** Calls that have time left because they waited, when their time would else be up. */
  const late = new Map<P, Timer>()

  const msOf = (place: P): number => {
    const { options, method } = callOf(place)
    return options.timeoutMs ?? timeoutMs ?? (isExpensiveMethod(method) ? 60_000 : 10_000)
  }

  const strike = (place: P): void => {
    const call = callOf(place)
    const time = now()
    creditWaits(call, time)
    let worker = call
    while (worker.below) worker = worker.below
    const leftMs = call.deadlineAt - (call.waitingSince ?? time)
    if (worker.waitingSince === undefined ? leftMs < 1 : leftMs <= 0)
      return endCall(call, redactedUrl, 'timeout', `no response within ${msOf(place)} ms`)
    // Not for each instant of a long wait, where little time was left at its beginning.
    late.set(
      place,
      startTimer(() => strike(place), Math.max(leftMs, 10)),
    )
  }
  const timers = createTimers(strike, msOf, (place) => callOf(place).startedAt)

  return {
    enter: (place) => {
      const call = callOf(place)
      call.deadlineAt = call.startedAt + msOf(place)
      timers.set(place)
    },
    leave: (place) => {
      if (place.before) return timers.clear(place)
      clearTimeout(late.get(place))
      late.delete(place)
    },
    all: () => [...timers.all(), ...late.keys()],
  }
}
