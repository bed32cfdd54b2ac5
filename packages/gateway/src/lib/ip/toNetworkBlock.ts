import { parseIp } from './parseIp.ts'

/**
 * Gets the block of an IP address that says where a caller is, but not who: an IPv4 /24 or an IPv6 /48.
 * @returns Such as `203.0.113.0/24` or `2001:db8:1::/48`; `undefined` if it is not an IP address.
 */
export const toNetworkBlock = (ip: string): string | undefined => {
  const bytes = parseIp(ip)
  if (bytes === undefined) return undefined
  if (bytes.length === 4) return `${bytes.slice(0, 3).join('.')}.0/24`
  const groups = [0, 2, 4].map((index) => (((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0)).toString(16))
  while (groups.at(-1) === '0') groups.pop()
  return `${groups.join(':')}::/48`
}
