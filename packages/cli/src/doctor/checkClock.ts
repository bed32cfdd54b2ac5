import type { Finding } from './finding.ts'
import type { Seen } from './probe.ts'

/** Tokens are good from a time to a time, and Retry-After may be a time of day. */
const apartMs = 30_000

/** Looks how far this machine's clock and that of the address are apart, by the header Date, which counts whole seconds. */
export function checkClock({ headers, sentAt, answeredAt }: Pick<Seen, 'headers' | 'sentAt' | 'answeredAt'>): Finding {
  const at = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(at)) return { check: 'clock', level: 'ok', text: 'it does not say what time it has' }
  // The second that it names has begun up to 1 s ago.
  const earliest = at - answeredAt
  const latest = at + 1_000 - sentAt
  const offsetMs = earliest > 0 ? earliest : latest < 0 ? latest : 0
  const facts = { offsetMs }
  if (Math.abs(offsetMs) <= apartMs) {
    const text = offsetMs === 0 ? 'it is as late there as here' : `${Math.round(Math.abs(offsetMs) / 1_000)} s apart`
    return { check: 'clock', level: 'ok', text, facts }
  }
  return {
    check: 'clock',
    level: 'warn',
    text: `it is ${Math.round(Math.abs(offsetMs) / 1_000)} s ${offsetMs > 0 ? 'later' : 'earlier'} there than here`,
    fix: 'set the clock of whichever is wrong: tokens would be rejected as too old or too new',
    facts,
  }
}
