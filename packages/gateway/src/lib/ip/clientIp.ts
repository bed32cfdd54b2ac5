import { matchesIp, parseIpRange } from './ipRange.ts'
import type { IpRange } from './ipRange.ts'
import { parseIp } from './parseIp.ts'

/** Gets the client's IP address from the socket's remote address and the header `X-Forwarded-For`, both as Node returns them. */
export type ClientIp = (peer: string | undefined, forwarded: string | undefined) => string | undefined

/** Reserved for documentation (RFC 5737), so no client has it. */
const testAddress = '192.0.2.1'
const loopback = /^(?:::1$|(?:::ffff:)?127\.)/

/** Whether a peer is one of `trustedProxies`. Only then its `X-Forwarded-For` is used. */
export const isTrustedProxy = (clientIp: ClientIp, peer: string | undefined): boolean =>
  clientIp(peer, testAddress) === testAddress

/** Whether a peer may forward requests of many clients: a trusted proxy, or a process on this machine, which may be a proxy. */
export const mayBeProxy = (clientIp: ClientIp, peer: string): boolean =>
  loopback.test(peer) || isTrustedProxy(clientIp, peer)

/** Removes the zone of a link-local address (`fe80::1%eth0`), because lists of addresses contain no zones. */
export const removeZone = (peer: string): string => peer.split('%', 1)[0] ?? ''

/** An address with a port or brackets, as some proxies write it: `192.0.2.1:4711`, `[2001:db8::1]:4711`, `[2001:db8::1]`. */
const withPort = /^(?:\[([^\]]*)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5})$/

/** More proxies than anyone chains. Limits the cost of a hostile header. */
const maxHops = 32

const parseHop = (hop: string): string | undefined => {
  const [, bracketed, dotted] = withPort.exec(hop) ?? []
  const text = bracketed ?? dotted ?? hop
  return parseIp(text) === undefined ? undefined : text
}

/**
 * Creates a function that gets the client's IP address. It is the socket's remote address, unless that is a trusted proxy. Then it is the
 * rightmost address in `X-Forwarded-For` that is not a trusted proxy. Addresses further to the left can be forged.
 * @param trustedProxies - Addresses and ranges, such as `10.0.0.0/8`.
 * @throws {TypeError} If an entry is neither. The message names the entry and the fix.
 * @example
 * const clientIp = createClientIp(['10.0.0.0/8'])
 * clientIp('10.0.0.1', '6.6.6.6, 203.0.113.7') // '203.0.113.7'
 * clientIp('203.0.113.9', '6.6.6.6') // '203.0.113.9'
 */
export const createClientIp = (trustedProxies: readonly string[]): ClientIp => {
  const trusted = trustedProxies.map((text, index): IpRange => {
    const parsed = parseIpRange(text)
    if ('fix' in parsed) throw new TypeError(`trustedProxies[${index}] ${parsed.fix}`)
    return parsed.rule
  })
  if (trusted.length === 0) return (peer) => peer
  const isTrusted = (address: string): boolean => {
    const bytes = parseIp(address)
    return bytes !== undefined && trusted.some((rule) => matchesIp(rule, bytes))
  }
  return (peer, forwarded) => {
    if (peer === undefined || forwarded === undefined) return peer
    let known = removeZone(peer)
    let end = forwarded.length
    for (let hops = 0; hops < maxHops && end >= 0 && isTrusted(known); hops += 1) {
      const comma = end === 0 ? -1 : forwarded.lastIndexOf(',', end - 1)
      const hop = parseHop(forwarded.slice(comma + 1, end).trim())
      // A malformed hop: use the proxy that forwarded it.
      if (hop === undefined) return known
      known = hop
      end = comma
    }
    return known
  }
}
