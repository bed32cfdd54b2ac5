import { startTimer } from '../clock/startTimer.ts'
import { checkNames, checkRange } from '../failure/check.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import type { Call, Layer, Complete } from './call/call.ts'
import { timeLeft } from './call/callProgress.ts'
import { onCancel } from './call/onCancel.ts'

/** Options of {@link retry}. */
export interface RetryOptions {
  /** How often a failed call is retried, at most. @default 3 */
  readonly retries?: number | undefined
  /** The first wait is a random time up to this, in milliseconds; it doubles with each retry. @default 150 */
  readonly baseMs?: number | undefined
  /** The longest such wait, in milliseconds. A wait that the server asks for is not shortened. @default 5_000 */
  readonly capMs?: number | undefined
}

/** Whether a server rejected a read with an error that nobody knows. A service behind a load balancer may know more a moment later. */
const isUnknownError = ({ method }: Call, { kind, source }: KeyrailError): boolean =>
  kind === 'unknown' && source !== 'client' && isReadMethod(method)

/**
 * Creates a layer that retries a call if its failure is `retryable`, and once if it is a read with an `unknown` error of a server. It waits for a
 * random part of an exponentially growing time (full jitter), or for as long as the server asked. If the wait does not fit into the call's deadline,
 * the call fails at once.
 *
 * @param options - How often calls are retried, and how long it waits.
 * @throws {KeyrailError} A call fails with the failure of the last try.
 * @example
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', retry: { retries: 5 } })
 * @see RFC 9110 section 10.2.3 (Retry-After)
 */
export function retry(options: RetryOptions = {}): Layer {
  checkNames('retry', options, ['retries', 'baseMs', 'capMs'])
  const { retries = 3, baseMs = 150, capMs = 5_000 } = options
  for (const [name, value] of Object.entries({ retries, baseMs, capMs })) checkRange(name, value, 0, 1e9)
  return (next) => {
    /** Sends a call that was retried `retried` times, and retries it if it fails. */
    const attempt = (call: Call, complete: Complete, retried: number): void =>
      next(call, (ok, failure) => {
        if (
          ok ||
          call.ended ||
          retried >= (call.options.retries ?? retries) ||
          !isKeyrailError(failure) ||
          !(failure.retryable || (retried === 0 && isUnknownError(call, failure)))
        )
          return complete(ok, failure)
        const waitMs = Math.round(failure.retryAfterMs ?? Math.random() * Math.min(capMs, baseMs * 2 ** retried))
        // The longest time that a timer supports also limits the wait of a call without a deadline.
        const leftMs = Math.max(0, Math.min(Math.round(timeLeft(call)), 2 ** 31 - 1))
        if (waitMs >= leftMs) {
          const message = `${failure.message} Not retried: the next try would be in ${waitMs} ms, but the deadline is in ${leftMs} ms.`
          return complete(ok, new KeyrailError(message, failure))
        }
        call.emit?.({ type: 'retry', kind: failure.kind, waitMs })
        const timer = startTimer(() => call.ended || attempt(call, complete, retried + 1), waitMs)
        onCancel(call, (reason) => {
          clearTimeout(timer)
          complete(false, reason)
        })
      })
    return (call, complete) => attempt(call, complete, 0)
  }
}
