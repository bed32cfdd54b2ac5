import type { Finding } from './finding.ts'
import type { LastResponse } from './probe.ts'

/** Tokens have a validity period, and Retry-After may be a date. */
const maxOffsetMs = 30_000

/** Compares this machine's clock with the server's, by the header Date, which has a resolution of one second. */
export function checkClock({
  headers,
  sentAt,
  receivedAt,
}: Pick<LastResponse, 'headers' | 'sentAt' | 'receivedAt'>): Finding {
  const at = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(at)) return { check: 'clock', level: 'ok', text: 'the server does not send the time' }
  // The header's second may have started up to 1 s ago.
  const earliest = at - receivedAt
  const latest = at + 1_000 - sentAt
  const offsetMs = earliest > 0 ? earliest : latest < 0 ? latest : 0
  const facts = { offsetMs }
  const seconds = Math.round(Math.abs(offsetMs) / 1_000)
  if (Math.abs(offsetMs) <= maxOffsetMs) {
    const text = offsetMs === 0 ? 'clocks are in sync' : `clocks differ by ${seconds} s`
    return { check: 'clock', level: 'ok', text, facts }
  }
  return {
    check: 'clock',
    level: 'warn',
    text: `the server's clock is ${seconds} s ${offsetMs > 0 ? 'ahead' : 'behind'}`,
    fix: 'set the wrong clock: otherwise tokens are rejected as expired or not yet valid',
    facts,
  }
}
