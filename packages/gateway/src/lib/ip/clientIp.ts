import { matchesIp, parseIpRange } from './ipRange.ts'
import type { IpRange } from './ipRange.ts'
import { parseIp } from './parseIp.ts'

/** Finds out who called: from the socket's peer and the header `X-Forwarded-For`, both as Node gives them. */
export type ClientIp = (peer: string | undefined, forwarded: string | undefined) => string | undefined

/** For examples alone (RFC 5737): nobody has it. */
const nobodys = '192.0.2.1'
const here = /^(?:::1$|(?:::ffff:)?127\.)/

/** Whether a peer is one of `trustedProxies`: only then is its `X-Forwarded-For` believed. */
export const isTrustedProxy = (clientIp: ClientIp, peer: string | undefined): boolean =>
  clientIp(peer, nobodys) === nobodys

/** Whether others may come through a peer: a trusted proxy, or one on this machine, as it may be a proxy too. */
export const speaksForMany = (clientIp: ClientIp, peer: string): boolean =>
  here.test(peer) || isTrustedProxy(clientIp, peer)

/** A peer's address without the zone that a link-local one has (`fe80::1%eth0`), because no list of addresses contains zones. */
export const withoutZone = (peer: string): string => peer.split('%', 1)[0] ?? ''

/** An address with a port, as some proxies write it: `192.0.2.1:4711`, `[2001:db8::1]:4711`, and `[2001:db8::1]`. */
const withPort = /^(?:\[([^\]]*)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5})$/

/** More proxies than anybody has in a row: a caller must not make reading its header dear. */
const mostHops = 32

const addressIn = (hop: string): string | undefined => {
  const [, bracketed, dotted] = withPort.exec(hop) ?? []
  const text = bracketed ?? dotted ?? hop
  return parseIp(text) === undefined ? undefined : text
}

/**
 * Makes the rule of whose IP counts. It is the socket's peer; only where that is a proxy of the operator's own is it believed about who
 * called it, and so on from right to left up to the first that is none. What stands further left anyone could have written.
 * @param trustedProxies - Addresses and ranges, as in `10.0.0.0/8`.
 * @throws {TypeError} where one is neither. The message names it and the fix.
 * @example
 * const clientIp = createClientIp(['10.0.0.0/8'])
 * clientIp('10.0.0.1', '6.6.6.6, 203.0.113.7') // '203.0.113.7'
 * clientIp('203.0.113.9', '6.6.6.6') // '203.0.113.9'
 */
export const createClientIp = (trustedProxies: readonly string[]): ClientIp => {
  const trusted = trustedProxies.map((text, index): IpRange => {
    const reading = parseIpRange(text)
    if ('fix' in reading) throw new TypeError(`trustedProxies[${index}] ${reading.fix}`)
    return reading.rule
  })
  if (trusted.length === 0) return (peer) => peer
  const isTrusted = (address: string): boolean => {
    const bytes = parseIp(address)
    return bytes !== undefined && trusted.some((rule) => matchesIp(rule, bytes))
  }
  return (peer, forwarded) => {
    if (peer === undefined || forwarded === undefined) return peer
    let known = withoutZone(peer)
    let end = forwarded.length
    for (let hops = 0; hops < mostHops && end >= 0 && isTrusted(known); hops += 1) {
      const comma = end === 0 ? -1 : forwarded.lastIndexOf(',', end - 1)
      const hop = addressIn(forwarded.slice(comma + 1, end).trim())
      // What cannot be read says nothing: the caller is then the proxy that passed it on.
      if (hop === undefined) return known
      known = hop
      end = comma
    }
    return known
  }
}
