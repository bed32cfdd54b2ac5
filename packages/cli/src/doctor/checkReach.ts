import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { PeerCertificate } from 'node:tls'
import { isLoopback } from '../control/readServiceUrl.ts'
import type { Finding } from './finding.ts'

const dayMs = 86_400_000
const soonDays = 14

const fixes: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no such name is known: look at the spelling of the host, and at the DNS of this machine',
  EAI_AGAIN: 'names cannot be looked up now: look at the network and the DNS of this machine',
  ECONNREFUSED: 'nothing listens there: look at the host and the port, and whether the service runs',
  ETIMEDOUT: 'nothing answers there: look at the host, the port and the firewall in between',
  EHOSTUNREACH: 'there is no way there from this machine: look at the network',
  ENETUNREACH: 'there is no way there from this machine: look at the network',
  ECONNRESET: 'it hangs up at once: look at the port, and whether it is http or https that is spoken there',
}

const trustFixes: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'whoever runs it must renew the certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name: look at the host of the address',
}
const ownAuthority =
  'its authority is not known here: NODE_EXTRA_CA_CERTS names a file with one of your own; never switch the check off'

const codeOf = (error: unknown): string => {
  const { code, errors } = error as { readonly code?: string; readonly errors?: readonly { readonly code?: string }[] }
  // Of several addresses of one name each failed by itself.
  return code ?? errors?.[0]?.code ?? 'unknown reason'
}

interface Place {
  readonly host: string
  readonly port: number
  readonly timeoutMs: number
}

/** Opens a connection and closes it again. @returns How long that took, in milliseconds. */
function reach({ host, port, timeoutMs }: Place): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const socket = connectTcp({ host, port, timeout: timeoutMs })
    const end = (settle: () => void): void => {
      socket.destroy()
      settle()
    }
    socket.once('connect', () => end(() => resolve(performance.now() - startedAt)))
    socket.once('timeout', () => end(() => reject(Object.assign(new Error('too slow'), { code: 'ETIMEDOUT' }))))
    socket.once('error', (error) => end(() => reject(error)))
  })
}

interface Handshake {
  readonly protocol: string | null
  readonly certificate: PeerCertificate
  /** Why the certificate is not believed; undefined where it is. */
  readonly distrust: string | undefined
}

/** Shakes hands, also with whom it would not trust: nothing is sent. */
function shakeHands({ host, port, timeoutMs }: Place): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {}
    const socket = connectTls({ host, port, timeout: timeoutMs, rejectUnauthorized: false, ...name })
    const end = (settle: () => void): void => {
      socket.destroy()
      settle()
    }
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate()
      const protocol = socket.getProtocol()
      // The types call it an error; it is the code of one, or an error that has a code.
      const why = socket.authorizationError as unknown
      const distrust = socket.authorized ? undefined : typeof why === 'string' ? why : codeOf(why ?? {})
      end(() => resolve({ protocol, certificate, distrust }))
    })
    socket.once('timeout', () => end(() => reject(Object.assign(new Error('too slow'), { code: 'ETIMEDOUT' }))))
    socket.once('error', (error) => end(() => reject(error)))
  })
}

async function examineTls(place: Place, now: () => number): Promise<Finding> {
  let shaken: Handshake
  try {
    shaken = await shakeHands(place)
  } catch (error) {
    const code = codeOf(error)
    return {
      check: 'tls',
      level: 'fail',
      text: `no TLS is spoken there (${code})`,
      fix: 'is it http, or another port? Look at the beginning of the address',
      facts: { code },
    }
  }
  const { protocol, certificate, distrust } = shaken
  const until = Date.parse(certificate.valid_to)
  const days = Math.floor((until - now()) / dayMs)
  const facts = { protocol, days: Number.isNaN(days) ? null : days, distrust: distrust ?? null }
  if (distrust !== undefined) {
    const fix = trustFixes[distrust] ?? ownAuthority
    return { check: 'tls', level: 'fail', text: `the certificate is not to be trusted (${distrust})`, fix, facts }
  }
  const text = `${protocol ?? 'TLS'}, the certificate is good for ${days} days`
  if (days >= soonDays) return { check: 'tls', level: 'ok', text, facts }
  return {
    check: 'tls',
    level: 'warn',
    text,
    fix: 'whoever runs it should look why it is not renewed by itself',
    facts,
  }
}

/**
 * Looks whether an address can be reached, and by what.
 *
 * @param url - Its URL; only scheme, host and port are used.
 * @param options.timeoutMs - How long a connection may take.
 * @param options.now - Milliseconds since 1970.
 */
export async function checkReach(
  url: URL,
  { timeoutMs, now = Date.now }: { readonly timeoutMs: number; readonly now?: () => number },
): Promise<Finding[]> {
  const isSecure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const place = { host, port: Number(url.port) || (isSecure ? 443 : 80), timeoutMs }
  let connectMs: number
  try {
    connectMs = await reach(place)
  } catch (error) {
    const code = codeOf(error)
    const fix = fixes[code] ?? 'look at the address, and at the network of this machine'
    return [{ check: 'reach', level: 'fail', text: `${url.host} cannot be reached (${code})`, fix, facts: { code } }]
  }
  const facts = { host, port: place.port, connectMs }
  const text = `${url.host} in ${Math.max(1, Math.round(connectMs))} ms`
  if (isSecure) return [{ check: 'reach', level: 'ok', text, facts }, await examineTls(place, now)]
  if (isLoopback(url.hostname)) return [{ check: 'reach', level: 'ok', text: `${text}, on this machine`, facts }]
  return [
    { check: 'reach', level: 'ok', text, facts },
    {
      check: 'tls',
      level: 'warn',
      text: 'it is http: the key can be read by whoever stands in between',
      fix: 'use https, unless the way there is your own',
    },
  ]
}
