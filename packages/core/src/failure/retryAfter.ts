import type { Facts } from './facts.ts'

/**
 * How long the server asked to wait. Looked for in the error's data first (`retryAfterMs`, `backoff_seconds`, `rate.backoff_seconds`), which
 * is exact and speaks of this very call, then in the `retry-after` header (seconds or HTTP-date), then in the text ("try again in 250ms").
 * What cannot be read is passed over.
 *
 * @param facts - What is known of the failure.
 * @param now - The time an HTTP-date is counted from, in milliseconds. Default: the answer's own `date`, else this machine's clock.
 * @returns Milliseconds, 0 or more; undefined where nothing was asked.
 * @see RFC 9110 section 10.2.3 (Retry-After)
 */
export function retryAfter(facts: Facts, now?: number): number | undefined {
  const data = facts.rpcError?.data as
    | { retryAfterMs?: unknown; backoff_seconds?: unknown; rate?: typeof data }
    | null
    | undefined
  const header = facts.retryAfter ?? ''
  const [, amount = '', unit = ''] =
    /(?:try again|retry|wait)(?: again)?(?: after| in| for)? (\d+(?:\.\d+)?) ?(m?s|mi?n|sec)/i.exec(facts.text) ?? []
  return [
    data?.retryAfterMs,
    seconds(data?.backoff_seconds),
    seconds(data?.rate?.backoff_seconds),
    /^\s*\d+(\.\d+)?\s*$/.test(header)
      ? seconds(+header)
      : Math.max(
          0,
          Date.parse(/[a-z]/i.test(header) ? header : '') - (now ?? (Date.parse(facts.date ?? '') || Date.now())),
        ),
    amount && +amount * (/^ms/i.test(unit) ? 1 : /^m/i.test(unit) ? 60_000 : 1000),
  ].find((wait): wait is number => typeof wait === 'number' && wait >= 0)
}

const seconds = (value: unknown): unknown => (typeof value === 'number' ? value * 1000 : undefined)
