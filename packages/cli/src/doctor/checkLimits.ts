import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import type { Finding } from './finding.ts'

/** Warn if less than this share of a quota is left. */
const lowShare = 0.1

/** A limit, and how much of it is left. */
interface Limit {
  /** For example `a day`. */
  readonly window: string
  readonly limit: number
  readonly remaining: number
}

const windows = { '': 'a second', '-day': 'a day', '-month': 'a month' } as const

const grouped = (value: number): string => value.toLocaleString('en-US')

const parseCount = (text: string | null): number | undefined =>
  text !== null && /^\d+$/.test(text.trim()) ? Number(text) : undefined

/** Parses the limits in the headers. Only a Keyrail service is known to use `x-ratelimit-limit` for a second. */
function parseLimits(headers: Headers): Limit[] {
  const isKeyrail = headers.has('x-chain-id')
  return Object.entries(windows).flatMap(([suffix, window]) => {
    const limit = parseCount(headers.get(`x-ratelimit-limit${suffix}`))
    const remaining = parseCount(headers.get(`x-ratelimit-remaining${suffix}`))
    if (limit === undefined || remaining === undefined) return []
    return [{ window: suffix === '' && !isKeyrail ? 'per window' : window, limit, remaining }]
  })
}

/** Formats a limit. The rate's remaining burst can be larger than the rate. */
const format = ({ window, limit, remaining }: Limit): string =>
  window === 'a second'
    ? `${grouped(limit)} a second, ${grouped(remaining)} at once`
    : `${grouped(remaining)} of ${grouped(limit)} ${window} left`

/** Checks the rate limits and quotas in the headers of a response. */
export function checkLimits(headers: Headers): Finding {
  const limits = parseLimits(headers)
  const other = ['ratelimit', 'ratelimit-policy', 'ratelimit-limit', 'ratelimit-remaining'].flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [`${name}: ${stripControlCharacters(value.slice(0, 100))}`]
  })
  if (limits.length === 0) {
    return {
      check: 'limits',
      level: 'ok',
      text: other.length === 0 ? 'the endpoint announces no limits' : other.join('; '),
      facts: { limits },
    }
  }
  const text = limits.map((limit) => format(limit)).join(', ')
  // A rate resets within a second.
  const low = limits.find(({ window, limit, remaining }) => window !== 'a second' && remaining < limit * lowShare)
  return low === undefined
    ? { check: 'limits', level: 'ok', text, facts: { limits } }
    : {
        check: 'limits',
        level: 'warn',
        text,
        fix: 'request a higher limit, or send fewer calls: use a cache, avoid duplicate calls in batches, poll less often',
        facts: { limits },
      }
}
