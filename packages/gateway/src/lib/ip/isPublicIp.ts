import { matchesIp, parseIpRange } from './ipRange.ts'
import type { IpRange } from './ipRange.ts'
import { parseIp } from './parseIp.ts'

const toRanges = (texts: readonly string[]): readonly IpRange[] =>
  texts.map((text) => {
    const parsed = parseIpRange(text)
    if ('fix' in parsed) throw new Error(`${text} ${parsed.fix}`)
    return parsed.rule
  })

/** Not globally reachable, by the IANA registry of special-purpose addresses; and multicast. */
const specialIpv4 = toRanges([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])
/** All other IPv6 addresses are special: loopback, private, link-local, multicast, and those that hold an IPv4 address. */
const globalIpv6 = toRanges(['2000::/3'])
/** Protocol assignments with Teredo, documentation, and 6to4, which holds an IPv4 address. */
const specialIpv6 = toRanges(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/**
 * Whether an IP address is one of the public internet: not of this machine, of a private network, or reserved.
 * @param text - As DNS returns it. A mapped IPv4 address counts as the IPv4 address. Any other text is not public.
 * @see RFC 6890
 */
export const isPublicIp = (text: string): boolean => {
  const ip = parseIp(text)
  if (ip === undefined) return false
  const isIn = (ranges: readonly IpRange[]): boolean => ranges.some((range) => matchesIp(range, ip))
  return ip.length === 4 ? !isIn(specialIpv4) : isIn(globalIpv6) && !isIn(specialIpv6)
}
