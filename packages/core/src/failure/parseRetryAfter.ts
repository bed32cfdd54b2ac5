import { MAX_TIMER_MS } from '../clock/startTimer.ts'
import { stringifyData } from './stringifyData.ts'
import type { FailureFacts } from './failureFacts.ts'

/**
 * Finds how long the server says to wait. Looks in this order: the error's data (`retryAfterMs`, `backoff_seconds`, `rate.backoff_seconds`), which
 * is exact and about this call; the `retry-after` header in seconds; the text ("try again in 250ms"); the header as an HTTP-date. Skips values that
 * cannot be parsed, and shortens a wait that is too long for a timer.
 *
 * @param facts - The facts about the failure.
 * @param now - The time that an HTTP-date is relative to, in milliseconds since 1970. @default the response's `date` header, or this machine's clock
 * @returns Milliseconds, from 0 to 2^31 - 1; undefined if the server does not say.
 * @example
 * parseRetryAfter({ text: '', retryAfter: '2' }) // 2000
 * @see RFC 9110 section 10.2.3 (Retry-After)
 */
export function parseRetryAfter(
  { text, retryAfter: header, date, rpcError }: FailureFacts,
  now: number = Date.parse(date ?? '') || Date.now(),
): number | undefined {
  const searched = `${stringifyData(rpcError?.data)} wait ${header?.trim()}s ${text}`
  const [, exact, amount, unit = ''] =
    /(?:(AfterMs)|backoff_seconds|again|retry|wait)(?:":| after| in| for)? ?([\d.]+) ?(mi?[ls]|[sm,}])/i.exec(
      searched,
    ) ?? []
  const wait = [
    Number(amount) * (exact || unit[1] ? 1 : /m/i.test(unit) ? 60_000 : 1000),
    // A date always has colons. Without this check, engines parse almost any text as a date.
    Math.max(0, Date.parse(/:/.test(header ?? '') ? `${header}` : '') - now),
  ].find((ms) => ms < Infinity)
  return wait && Math.min(wait, MAX_TIMER_MS)
}
