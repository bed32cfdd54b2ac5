import { checkNames, checkRange } from '../failure/invalid.ts'
import { createAlarms } from './alarms.ts'
import type { Alarm } from './alarms.ts'
import type { Call, Layer } from './call.ts'
import { endCall } from './endCall.ts'
import { heavy } from './heavy.ts'
import { creditWaits } from './waits.ts'

/** Options of {@link deadline}. */
export interface DeadlineOptions {
  /** How long a call may take in all, in milliseconds. @default 10_000, and 60_000 for eth_getLogs, eth_simulateV1, debug_* and trace_* */
  readonly timeoutMs?: number | undefined
}

/** Of one call. */
interface CallAlarm extends Alarm {
  readonly call: Call
  /** Set where it turned out that there is some. */
  timer: ReturnType<typeof setTimeout> | undefined
}

/** Refuses a time that timers cannot keep: above 2^31-1 ms they strike at once. */
export function checkTimeout(timeoutMs: number | undefined): void {
  checkRange('timeoutMs', timeoutMs, 1, 2 ** 31 - 1)
}

/**
 * Ends a call that takes too long, with all its attempts. The time that it stands in a queue of ours, for a budget or
 * for a free place, does not count.
 *
 * @param options - `timeoutMs`; a call's own `timeoutMs` goes before it.
 * @throws {KeyrailError} kind `timeout`, source `client`, when the time is up.
 * @example
 * const transport = compose(http({ url: 'http://127.0.0.1:8545' }), deadline({ timeoutMs: 3_000 }))
 */
export function deadline(options: DeadlineOptions = {}): Layer {
  checkNames('deadline', options, ['timeoutMs'])
  checkTimeout(options.timeoutMs)
  return (next, label) => {
    const strike = (alarm: CallAlarm): void => {
      const { call, ms } = alarm
      const now = performance.now()
      creditWaits(call, now)
      let worker = call
      while (worker.below) worker = worker.below
      const leftMs = call.deadlineAt - (call.waitingSince ?? now)
      if (worker.waitingSince === undefined ? leftMs < 1 : leftMs <= 0)
        return endCall(call, label, 'timeout', `no answer within ${ms} ms`)
      // Not for each instant of a long wait, where little time was left at its beginning.
      alarm.timer = setTimeout(strike, Math.max(leftMs, 10), alarm)
    }
    const alarms = createAlarms(strike)
    return (call, settle) => {
      const ms = call.options.timeoutMs ?? options.timeoutMs ?? (heavy.test(call.method) ? 60_000 : 10_000)
      const { startedAt } = call
      const dueAt = startedAt + ms
      call.deadlineAt = dueAt
      const alarm: CallAlarm = { ms, dueAt, rung: false, call, timer: undefined, before: undefined, after: undefined }
      alarms.set(alarm)
      next(call, (ok, value) => {
        if (alarm.rung) clearTimeout(alarm.timer)
        else alarms.unset(alarm)
        settle(ok, value)
      })
    }
  }
}
