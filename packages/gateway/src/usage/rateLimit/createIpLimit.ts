import { parseIp } from '../../lib/ip/parseIp.ts'
import { createRateLimit } from './createRateLimit.ts'
import type { RateLimitOptions } from './createRateLimit.ts'
import type { RateDecision } from './rateDecision.ts'

/** Limits how often one caller, by IP, may come with a key that nobody has. */
export interface IpLimit {
  /**
   * Takes from the allowance of an IP.
   * @param what.app - If given, what is taken from is the allowance that the IP has for this app alone.
   * @param what.calls - How many; 0 to see what is left. @default 1
   */
  take(ip: string | undefined, what?: { readonly app?: string; readonly calls?: number }): RateDecision
  readonly size: number
}

/**
 * Makes a limit per IP. An IPv6 caller has a whole /64 to choose addresses from, so that is what counts as one; a mapped IPv4 address
 * is the IPv4 address. What is no IP shares one allowance. Take only once a key was found to be unknown: a caller with a good key
 * must not pay for a neighbour's guesses.
 * @throws {TypeError} where an option is out of its range.
 * @example
 * const limit = createIpLimit({ perSecond: 10, burst: 50 })
 * limit.take('2001:db8::1').granted // 1
 */
export const createIpLimit = (options: RateLimitOptions): IpLimit => {
  const limit = createRateLimit(options)
  return {
    take: (ip, { app, calls } = {}) => limit.take(app === undefined ? callerOf(ip) : `${callerOf(ip)} ${app}`, calls),
    get size() {
      return limit.size
    },
  }
}

const callerOf = (ip: string | undefined): string => {
  const bytes = ip === undefined ? undefined : parseIp(ip)
  if (bytes === undefined) return 'other'
  return bytes.slice(0, bytes.length === 4 ? 4 : 8).join('.')
}
