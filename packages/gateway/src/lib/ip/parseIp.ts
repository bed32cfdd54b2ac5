/** An IP address by its bytes: 4 of IPv4, 16 of IPv6. */
export type IpBytes = readonly number[]

/** The longest text of an IP address, with a mapped IPv4 address written out. */
const longest = 45

const readIPv4 = (text: string): number[] | undefined => {
  const parts = text.split('.')
  // A leading zero means octal to some readers and nothing to others.
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9][0-9]{0,2})$/.test(part))) return undefined
  const bytes = parts.map(Number)
  return bytes.every((byte) => byte <= 255) ? bytes : undefined
}

/** The bytes of groups divided by single colons. */
const readGroups = (text: string, mayEndInIPv4: boolean): number[] | undefined => {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [index, group] of groups.entries()) {
    if (mayEndInIPv4 && index === groups.length - 1 && group.includes('.')) {
      const last = readIPv4(group)
      if (last === undefined) return undefined
      bytes.push(...last)
    } else if (/^[0-9a-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 255)
    } else return undefined
  }
  return bytes
}

const readIPv6 = (text: string): number[] | undefined => {
  const [before = '', after, ...more] = text.split('::')
  if (more.length > 0) return undefined
  const head = readGroups(before, after === undefined)
  const tail = after === undefined ? [] : readGroups(after, true)
  if (head === undefined || tail === undefined) return undefined
  const length = head.length + tail.length
  if (after === undefined) return length === 16 ? head : undefined
  return length > 14 ? undefined : [...head, ...Array.from({ length: 16 - length }, () => 0), ...tail]
}

/**
 * Reads an IP address as it was written: a mapped IPv4 address stays IPv6.
 * @see RFC 4291 section 2.2
 */
export const readIp = (text: string): IpBytes | undefined => {
  if (text.length > longest) return undefined
  return text.includes(':') ? readIPv6(text) : readIPv4(text)
}

/** Whether IPv6 bytes are an IPv4 address mapped into IPv6, as a socket that listens on both sees it. */
export const isMapped = (bytes: IpBytes): boolean =>
  bytes.length === 16 && bytes[10] === 255 && bytes[11] === 255 && bytes.slice(0, 10).every((byte) => byte === 0)

/**
 * Reads an IP address; a mapped IPv4 address (`::ffff:192.0.2.1`) becomes the IPv4 address. A zone (`fe80::1%eth0`) is rejected: it
 * means something on one machine only.
 * @returns Its bytes, or `undefined` where the text is no IP address.
 */
export const parseIp = (text: string): IpBytes | undefined => {
  const bytes = readIp(text)
  return bytes !== undefined && isMapped(bytes) ? bytes.slice(12) : bytes
}
