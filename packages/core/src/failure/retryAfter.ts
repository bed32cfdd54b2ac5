import { dataText } from './dataText.ts'
import type { Facts } from './facts.ts'

/**
 * How long the server asked to wait. Looked for in the error's data first (`retryAfterMs`, `backoff_seconds`, `rate.backoff_seconds`), which
 * is exact and speaks of this very call, then in the `retry-after` header (seconds), then in the text ("try again in 250ms"), then in the header as an HTTP-date.
 * What cannot be read is passed over.
 *
 * @param facts - What is known of the failure.
 * @param now - The time an HTTP-date is counted from, in milliseconds. Default: the answer's own `date`, else this machine's clock.
 * @returns Milliseconds, 0 or more; undefined where nothing was asked.
 * @example
 * retryAfter({ text: '', retryAfter: '2' }) // 2000
 * @see RFC 9110 section 10.2.3 (Retry-After)
 */
export function retryAfter(
  { text, retryAfter: header, date, rpcError }: Facts,
  now: number = Date.parse(date ?? '') || Date.now(),
): number | undefined {
  const asked = `${dataText(rpcError?.data)} wait ${header?.trim()}s ${text}`
  const [, exact, amount, unit = ''] =
    /(?:(AfterMs)|backoff_seconds|again|retry|wait)(?:":| after| in| for)? ?([\d.]+) ?(mi?[ls]|[sm,}])/i.exec(asked) ??
    []
  return [
    Number(amount) * (exact || unit[1] ? 1 : /m/i.test(unit) ? 60_000 : 1000),
    // Only a date has colons; engines read nearly anything else as some date, too.
    Math.max(0, Date.parse(/:/.test(header ?? '') ? `${header}` : '') - now),
  ].find((wait) => wait < Infinity)
}
