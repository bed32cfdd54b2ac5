import type { IncomingHttpHeaders } from 'node:http'
import { matchesIp, parseIpRange } from '../../lib/ip/ipRange.ts'
import { parseIp } from '../../lib/ip/parseIp.ts'
import { isTrustedProxy, removeZone } from '../../lib/ip/clientIp.ts'
import type { ClientIp } from '../../lib/ip/clientIp.ts'

/** The part of a request that shows whether a proxy passed it on. */
interface ForwardedRequest {
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** Headers in which proxies name the caller. Only the first one is read. */
const proxyHeaders = [
  { key: 'x-forwarded-for', name: 'X-Forwarded-For' },
  { key: 'forwarded', name: 'Forwarded' },
  { key: 'x-real-ip', name: 'X-Real-IP' },
] as const

/**
 * Addresses that a caller from the internet does not have: loopback, private (RFC 1918, RFC 4193), shared (RFC 6598), link-local (RFC 3927,
 * RFC 4291), and the old site-local ones (RFC 3879).
 */
const localRanges = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
].map((range) => {
  const reading = parseIpRange(range)
  if ('fix' in reading) throw new TypeError(`${range} ${reading.fix}`)
  return reading.rule
})

const isLocal = (ip: string): boolean => {
  const bytes = parseIp(ip)
  return bytes !== undefined && localRanges.some((rule) => matchesIp(rule, bytes))
}

/** More proxies than most deployments have; every peer after these is ignored. */
const maxWarnings = 16

/**
 * Creates the check for a proxy that `trustedProxies` should name. Without it all callers of that proxy count as one IP address: one of them
 * who enters wrong passwords, or unknown keys, locks out all the others.
 *
 * @param options.warn - Called once for each peer, for at most 16 of them, with the peer's IP, the header's name and how to fix it. Nothing of
 * the header's value is in the text.
 * @returns The check, to be called with every request and with the rule of the current config.
 */
export const createProxyWarning = ({
  warn,
}: {
  warn: (what: string) => void
}): ((request: ForwardedRequest, clientIp: ClientIp) => void) => {
  const warned = new Set<string>()
  return ({ headers, socket }, clientIp) => {
    const header = proxyHeaders.find(({ key }) => headers[key] !== undefined)
    if (header === undefined || socket.remoteAddress === undefined || warned.size >= maxWarnings) return
    const peer = removeZone(socket.remoteAddress)
    if (warned.has(peer)) return
    const isTrusted = isTrustedProxy(clientIp, peer)
    const isRead = header.key === 'x-forwarded-for'
    if (isTrusted ? isRead : !isLocal(peer)) return
    warned.add(peer)
    const fixes = [
      ...(isRead ? [] : ['make the proxy send X-Forwarded-For, the only such header that is read']),
      ...(isTrusted ? [] : [`add it to the config: "trustedProxies": ["${peer}"]`]),
    ]
    warn(
      `${header.name} arrives from ${peer}${isTrusted ? '' : ', which is not in trustedProxies'}. All callers behind it count as one IP address, ` +
        `so one caller's failed log-ins lock out everyone. If it is your proxy, ${fixes.join(', and ')}`,
    )
  }
}
