import { checkRange } from '../failure/invalid.ts'
import type { Layer } from './call.ts'
import { endCall } from './endCall.ts'

/** Options of {@link deadline}. */
export interface DeadlineOptions {
  /** How long a call may take in all, in milliseconds. @default 10_000, and 60_000 for eth_getLogs, eth_simulateV1, debug_* and trace_* */
  readonly timeoutMs?: number | undefined
}

const heavy = /^(eth_getLogs$|eth_simulateV1$|debug_|trace_)/

/** Refuses a time that timers cannot keep: above 2^31-1 ms they strike at once. */
export function checkTimeout(timeoutMs: number | undefined): void {
  checkRange('timeoutMs', timeoutMs, 1, 2 ** 31 - 1)
}

/**
 * Ends a call that takes too long: one timer for the whole call, with all its attempts and waits.
 *
 * @param options - `timeoutMs`; a call's own `timeoutMs` goes before it.
 * @throws {KeyrailError} kind `timeout`, source `client`, when the time is up.
 * @example
 * const transport = compose(http({ url: 'http://127.0.0.1:8545' }), deadline({ timeoutMs: 3_000 }))
 */
export function deadline(options: DeadlineOptions = {}): Layer {
  checkTimeout(options.timeoutMs)
  return (next, label) => (call, settle) => {
    const ms = call.options.timeoutMs ?? options.timeoutMs ?? (heavy.test(call.method) ? 60_000 : 10_000)
    call.deadlineAt = performance.now() + ms
    const timer = setTimeout(() => endCall(call, label, 'timeout', `no answer within ${ms} ms`), ms)
    next(call, (ok, value) => {
      clearTimeout(timer)
      settle(ok, value)
    })
  }
}
