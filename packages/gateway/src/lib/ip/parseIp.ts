/** The bytes of an IP address: 4 for IPv4, 16 for IPv6. */
export type IpBytes = readonly number[]

/** The length of the maxLength IP address, a mapped IPv4 address in full. */
const maxLength = 45

const parseIPv4 = (text: string): number[] | undefined => {
  const parts = text.split('.')
  // Some parsers read a leading zero as octal and others ignore it.
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9][0-9]{0,2})$/.test(part))) return undefined
  const bytes = parts.map(Number)
  return bytes.every((byte) => byte <= 255) ? bytes : undefined
}

/** Parses groups separated by single colons. */
const parseGroups = (text: string, mayEndInIPv4: boolean): number[] | undefined => {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [index, group] of groups.entries()) {
    if (mayEndInIPv4 && index === groups.length - 1 && group.includes('.')) {
      const last = parseIPv4(group)
      if (last === undefined) return undefined
      bytes.push(...last)
    } else if (/^[0-9a-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 255)
    } else return undefined
  }
  return bytes
}

const parseIPv6 = (text: string): number[] | undefined => {
  const [before = '', after, ...more] = text.split('::')
  if (more.length > 0) return undefined
  const head = parseGroups(before, after === undefined)
  const tail = after === undefined ? [] : parseGroups(after, true)
  if (head === undefined || tail === undefined) return undefined
  const length = head.length + tail.length
  if (after === undefined) return length === 16 ? head : undefined
  return length > 14 ? undefined : [...head, ...Array.from({ length: 16 - length }, () => 0), ...tail]
}

/**
 * Parses an IP address as written: a mapped IPv4 address stays IPv6.
 * @see RFC 4291 section 2.2
 */
export const parseWrittenIp = (text: string): IpBytes | undefined => {
  if (text.length > maxLength) return undefined
  return text.includes(':') ? parseIPv6(text) : parseIPv4(text)
}

/** Whether IPv6 bytes are a mapped IPv4 address, as a dual-stack socket reports it. */
export const isMapped = (bytes: IpBytes): boolean =>
  bytes.length === 16 && bytes[10] === 255 && bytes[11] === 255 && bytes.slice(0, 10).every((byte) => byte === 0)

/**
 * Parses an IP address. A mapped IPv4 address (`::ffff:192.0.2.1`) becomes the IPv4 address. A zone (`fe80::1%eth0`) is rejected, because
 * it only has a meaning on one machine.
 * @returns Its bytes, or `undefined` if the text is not an IP address.
 */
export const parseIp = (text: string): IpBytes | undefined => {
  const bytes = parseWrittenIp(text)
  return bytes !== undefined && isMapped(bytes) ? bytes.slice(12) : bytes
}
