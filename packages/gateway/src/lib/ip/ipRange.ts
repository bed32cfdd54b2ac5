import { isMapped, readIp } from './parseIp.ts'
import type { IpBytes } from './parseIp.ts'
import type { ParsedRule } from '../parsedRule.ts'

/** The addresses whose first `bits` bits are those of `bytes`. */
export interface IpRange {
  readonly bytes: IpBytes
  readonly bits: number
}

const noIp = 'is no IP address: write one as in 203.0.113.7 or 2001:db8::1, or a range as in 203.0.113.0/24'

/**
 * Reads an entry of the IP list: an address, or a range in CIDR notation. A range of mapped IPv4 addresses is the IPv4 range.
 * @see RFC 4632 section 3.1
 */
export const parseIpRange = (text: string): ParsedRule<IpRange> => {
  const [address = '', prefix, ...more] = text.split('/')
  if (address.includes('%')) return { fix: 'has a zone: leave away the % and what follows' }
  const bytes = readIp(address)
  if (bytes === undefined || more.length > 0) return { fix: noIp }
  const most = bytes.length * 8
  if (prefix !== undefined && (!/^(?:0|[1-9][0-9]{0,2})$/.test(prefix) || Number(prefix) > most))
    return { fix: `has no good length after the '/': write a whole number from 0 to ${most}` }
  const bits = prefix === undefined ? most : Number(prefix)
  if (!bytes.every((byte, index) => (byte & ~maskOf(index, bits) & 255) === 0))
    return { fix: "names one address and a range at once: write zeros after the range's bits, or leave away the '/'" }
  return { rule: isMapped(bytes) ? { bytes: bytes.slice(12), bits: bits - 96 } : { bytes, bits } }
}

/** The bits of a byte that belong to a range's beginning. */
const maskOf = (index: number, bits: number): number => {
  const kept = Math.min(8, Math.max(0, bits - index * 8))
  return (255 << (8 - kept)) & 255
}

/** Whether an address, as `parseIp` gives it, is in a range. An IPv4 address is in no IPv6 range, not even in `::/0`. */
export const matchesIp = ({ bytes, bits }: IpRange, ip: IpBytes): boolean => {
  if (bytes.length !== ip.length) return false
  for (let index = 0; index * 8 < bits; index += 1)
    if ((((bytes[index] ?? 0) ^ (ip[index] ?? 0)) & maskOf(index, bits)) !== 0) return false
  return true
}
