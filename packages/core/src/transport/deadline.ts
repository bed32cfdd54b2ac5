import { startTimer } from '../clock/startTimer.ts'
import type { Timer } from '../clock/startTimer.ts'
import { checkRange } from '../failure/check.ts'
import { createTimers } from './call/timers.ts'
import type { Call } from './call/call.ts'
import { timeLeft } from './call/callProgress.ts'
import { endCall } from './call/endCall.ts'
import { isExpensiveMethod } from './call/isExpensiveMethod.ts'
import type { Holder, QueueEntry } from './call/queue.ts'

/** How long calls may take. */
export interface DeadlineOptions {
  /** How long a call may take in total, in milliseconds. @default 10_000, and 60_000 for expensive methods, such as eth_getLogs and debug_* */
  readonly timeoutMs?: number | undefined
}

/** Rejects a time that timers do not support: above 2^31-1 ms they fire at once. */
export function checkTimeout(timeoutMs: number | undefined): void {
  checkRange('timeoutMs', timeoutMs, 1, 2 ** 31 - 1)
}

/**
 * Creates a list of the calls in flight that ends each call at its deadline.
 *
 * @param options - The deadline of calls without their own.
 * @param redactedUrl - The URL for error messages, without its key.
 * @param getCall - Returns the call of an entry.
 */
export function createDeadlines<P extends QueueEntry>(
  { timeoutMs }: DeadlineOptions,
  redactedUrl: string,
  getCall: (place: P) => Call,
): Holder<P> {
  checkTimeout(timeoutMs)
  /** Calls that have time left because they waited in a queue, each with its own timer. */
  const late = new Map<P, Timer>()

  const getTimeoutMs = (place: P): number => {
    const { options, method } = getCall(place)
    return options.timeoutMs ?? timeoutMs ?? (isExpensiveMethod(method) ? 60_000 : 10_000)
  }

  const onTimeout = (place: P): void => {
    const call = getCall(place)
    const leftMs = timeLeft(call)
    if (leftMs < 1) return endCall(call, redactedUrl, 'timeout', `no response within ${getTimeoutMs(place)} ms`)
    // At least 10 ms, because a call that starts to wait with little time left would set a timer for each millisecond of the wait.
    late.set(
      place,
      startTimer(() => onTimeout(place), Math.max(leftMs, 10)),
    )
  }
  const timers = createTimers(onTimeout, getTimeoutMs, (place) => getCall(place).startedAt)

  return {
    enter: (place) => {
      const call = getCall(place)
      call.deadlineAt = call.startedAt + getTimeoutMs(place)
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
