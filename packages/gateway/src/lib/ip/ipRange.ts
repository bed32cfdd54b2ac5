import { isMapped, parseWrittenIp } from './parseIp.ts'
import type { IpBytes } from './parseIp.ts'
import type { ParsedRule } from '../parsedRule.ts'

/** The addresses whose first `bits` bits are those of `bytes`. */
export interface IpRange {
  readonly bytes: IpBytes
  readonly bits: number
}

const noIp = 'is not an IP address: use one such as 203.0.113.7 or 2001:db8::1, or a range such as 203.0.113.0/24'

/**
 * Parses an entry of an IP allow list: an address, or a range in CIDR notation. A range of mapped IPv4 addresses becomes the IPv4 range.
 * @see RFC 4632 section 3.1
 */
export const parseIpRange = (text: string): ParsedRule<IpRange> => {
  const [address = '', prefix, ...more] = text.split('/')
  if (address.includes('%')) return { fix: 'has a zone: remove the % and everything after it' }
  const bytes = parseWrittenIp(address)
  if (bytes === undefined || more.length > 0) return { fix: noIp }
  const most = bytes.length * 8
  if (prefix !== undefined && (!/^(?:0|[1-9][0-9]{0,2})$/.test(prefix) || Number(prefix) > most))
    return { fix: `has an invalid prefix length: use a whole number from 0 to ${most} after the '/'` }
  const bits = prefix === undefined ? most : Number(prefix)
  if (!bytes.every((byte, index) => (byte & ~getMask(index, bits) & 255) === 0))
    return { fix: "has bits set after the prefix: set them to zero, or remove the '/' and the length" }
  return { rule: isMapped(bytes) ? { bytes: bytes.slice(12), bits: bits - 96 } : { bytes, bits } }
}

/** Gets the mask of the bits of a byte that are part of the prefix. */
const getMask = (index: number, bits: number): number => {
  const count = Math.min(8, Math.max(0, bits - index * 8))
  return (255 << (8 - count)) & 255
}

/** Whether an address, as returned by `parseIp`, is in a range. No IPv4 address is in an IPv6 range, not even in `::/0`. */
export const matchesIp = ({ bytes, bits }: IpRange, ip: IpBytes): boolean => {
  if (bytes.length !== ip.length) return false
  for (let index = 0; index * 8 < bits; index += 1)
    if ((((bytes[index] ?? 0) ^ (ip[index] ?? 0)) & getMask(index, bits)) !== 0) return false
  return true
}
