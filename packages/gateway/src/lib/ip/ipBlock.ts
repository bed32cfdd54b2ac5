import { parseIp } from './parseIp.ts'

/**
 * The block of addresses that one caller has: an IPv4 address, or a /64 of IPv6.
 * @returns A short text; what is no IP address shares one.
 */
export const ipBlock = (ip: string): string => {
  const bytes = parseIp(ip)
  return bytes === undefined ? 'other' : bytes.slice(0, bytes.length === 4 ? 4 : 8).join('.')
}
