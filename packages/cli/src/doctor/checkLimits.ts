import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import type { Finding } from './finding.ts'

/** What is left, below which it is told. */
const lowShare = 0.1

/** A limit, and how much of it is left. */
interface Limit {
  /** As in `a day`. */
  readonly window: string
  readonly limit: number
  readonly remaining: number
}

const windows = { '': 'a second', '-day': 'a day', '-month': 'a month' } as const

const grouped = (value: number): string => value.toLocaleString('en-US')

const whole = (text: string | null): number | undefined =>
  text !== null && /^\d+$/.test(text.trim()) ? Number(text) : undefined

/** Of a Keyrail service these are known; of others `x-ratelimit-limit` is over a time that they do not say. */
function limitsOf(headers: Headers): Limit[] {
  const isKeyrail = headers.has('x-chain-id')
  return Object.entries(windows).flatMap(([suffix, window]) => {
    const limit = whole(headers.get(`x-ratelimit-limit${suffix}`))
    const remaining = whole(headers.get(`x-ratelimit-remaining${suffix}`))
    if (limit === undefined || remaining === undefined) return []
    return [{ window: suffix === '' && !isKeyrail ? 'at a time' : window, limit, remaining }]
  })
}

/** After a quiet while more may be left than a second allows: as much as may come at once. */
const words = ({ window, limit, remaining }: Limit): string =>
  window === 'a second'
    ? `${grouped(limit)} a second, ${grouped(remaining)} at once`
    : `${grouped(remaining)} of ${grouped(limit)} ${window} left`

/** Looks what the address says of its limits, in the headers of an answer. */
export function checkLimits(headers: Headers): Finding {
  const limits = limitsOf(headers)
  const other = ['ratelimit', 'ratelimit-policy', 'ratelimit-limit', 'ratelimit-remaining'].flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [`${name}: ${stripControlCharacters(value.slice(0, 100))}`]
  })
  if (limits.length === 0) {
    return {
      check: 'limits',
      level: 'ok',
      text: other.length === 0 ? 'it announces no limits' : other.join('; '),
      facts: { limits },
    }
  }
  const text = limits.map((one) => words(one)).join(', ')
  // What a second allows is back a second later.
  const low = limits.find(({ window, limit, remaining }) => window !== 'a second' && remaining < limit * lowShare)
  return low === undefined
    ? { check: 'limits', level: 'ok', text, facts: { limits } }
    : {
        check: 'limits',
        level: 'warn',
        text,
        fix: 'ask for a higher limit, or for less: a cache, batches that ask twice for nothing, slower polling',
        facts: { limits },
      }
}
