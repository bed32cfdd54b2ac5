import { parseIp } from './parseIp.ts'

/**
 * Gets the block of addresses that one client usually has: one IPv4 address, or an IPv6 /64.
 * @returns A short text that identifies the block. It is the same for all invalid addresses.
 */
export const toIpBlock = (ip: string): string => {
  const bytes = parseIp(ip)
  return bytes === undefined ? 'other' : bytes.slice(0, bytes.length === 4 ? 4 : 8).join('.')
}
