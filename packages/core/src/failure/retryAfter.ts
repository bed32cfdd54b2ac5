import type { Facts } from './facts.ts'

/**
 * How long the server asked to wait. Looked for in the error's data first (`retryAfterMs`, `backoff_seconds`, `rate.backoff_seconds`), which
 * is exact and speaks of this very call, then in the `retry-after` header (seconds or HTTP-date), then in the text ("try again in 250ms").
 * What cannot be read is passed over.
 *
 * @param facts - What is known of the failure.
 * @param now - The time an HTTP-date is counted from, in milliseconds. Default: the answer's own `date`, else this machine's clock.
 * @returns Milliseconds, 0 or more; undefined where nothing was asked.
 * @example
 * retryAfter({ text: '', retryAfter: '2' }) // 2000
 * @see RFC 9110 section 10.2.3 (Retry-After)
 */
export function retryAfter(facts: Facts, now: number = Date.parse(facts.date ?? '') || Date.now()): number | undefined {
  const data = Object(facts.rpcError?.data) as Data
  const header = facts.retryAfter?.trim() || 'none'
  const [, amount, unit] = /(?:again|retry|wait)(?: after| in| for)? ([\d.]+) ?(mi?[ls]|s|m)/i.exec(facts.text) ?? []
  return [
    Number(data.retryAfterMs ?? NaN),
    Number(data.backoff_seconds ?? data.rate?.backoff_seconds ?? header) * 1000,
    // Only a date has colons; engines read nearly anything else as some date, too.
    Math.max(0, Date.parse(/:/.test(header) ? header : '') - now),
    Number(amount) * (unit?.[1] ? 1 : /s/i.test(unit ?? '') ? 1000 : 60_000),
  ].find((wait) => wait >= 0 && wait < Infinity)
}

interface Data {
  readonly retryAfterMs?: unknown
  readonly backoff_seconds?: unknown
  readonly rate?: Data | null
}
