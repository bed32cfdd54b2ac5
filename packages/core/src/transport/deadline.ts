import { checkNames, checkRange } from '../failure/invalid.ts'
import type { Layer } from './call.ts'
import { endCall } from './endCall.ts'
import { heavy } from './heavy.ts'

/** Options of {@link deadline}. */
export interface DeadlineOptions {
  /** How long a call may take in all, in milliseconds. @default 10_000, and 60_000 for eth_getLogs, eth_simulateV1, debug_* and trace_* */
  readonly timeoutMs?: number | undefined
}

/** Refuses a time that timers cannot keep: above 2^31-1 ms they strike at once. */
export function checkTimeout(timeoutMs: number | undefined): void {
  checkRange('timeoutMs', timeoutMs, 1, 2 ** 31 - 1)
}

/**
 * Ends a call that takes too long: one timer for the whole call, with all its attempts. The time that it stands in a queue of ours, for a budget or
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
  return (next, label) => (call, settle) => {
    const ms = call.options.timeoutMs ?? options.timeoutMs ?? (heavy.test(call.method) ? 60_000 : 10_000)
    let countedAt = performance.now()
    call.deadlineAt = countedAt + ms
    const strike = (): void => {
      const now = performance.now()
      let worker = call
      while (worker.below) worker = worker.below
      const leftMs = call.deadlineAt - Math.max(worker.waitingSince ?? now, worker === call ? 0 : countedAt)
      if (worker.waitingSince === undefined ? leftMs < 1 : leftMs <= 0)
        return endCall(call, label, 'timeout', `no answer within ${ms} ms`)
      // The queue itself moves the deadline of a record that stands in it. For one that works for this call, we do.
      if (worker !== call) call.deadlineAt = now + leftMs
      countedAt = now
      // Not for each instant of a long wait, where little time was left at its beginning.
      timer = setTimeout(strike, Math.max(leftMs, 10))
    }
    let timer = setTimeout(strike, ms)
    next(call, (ok, value) => {
      clearTimeout(timer)
      settle(ok, value)
    })
  }
}
