import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { PeerCertificate } from 'node:tls'
import { isLoopback } from '../control/readServiceUrl.ts'
import type { Finding } from './finding.ts'

const dayMs = 86_400_000
const minDays = 14

const fixes: Readonly<Record<string, string>> = {
  ENOTFOUND: 'check the spelling of the host, and the DNS settings of this machine',
  EAI_AGAIN: 'check the network and the DNS settings of this machine',
  ECONNREFUSED: 'check the host and the port, and that the service is running',
  ETIMEDOUT: 'check the host, the port and any firewall',
  EHOSTUNREACH: 'check the network of this machine',
  ENETUNREACH: 'check the network of this machine',
  ECONNRESET: 'check the port, and whether the server expects http or https',
}

const certificateFixes: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'ask the operator to renew the certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'check the host of the URL: the certificate is for another name',
}
const customAuthorityFix =
  'if you use your own certificate authority, set NODE_EXTRA_CA_CERTS to its file; never turn off verification'

const getCode = (error: unknown): string => {
  const { code, errors } = error as { readonly code?: string; readonly errors?: readonly { readonly code?: string }[] }
  // For a host with several IP addresses, each has its own error.
  return code ?? errors?.[0]?.code ?? 'unknown reason'
}

interface Place {
  readonly host: string
  readonly port: number
  readonly timeoutMs: number
}

/** Opens and closes a connection. @returns How long it took to connect, in milliseconds. */
function connect({ host, port, timeoutMs }: Place): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const socket = connectTcp({ host, port, timeout: timeoutMs })
    const end = (complete: () => void): void => {
      socket.destroy()
      complete()
    }
    socket.once('connect', () => end(() => resolve(performance.now() - startedAt)))
    socket.once('timeout', () => end(() => reject(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' }))))
    socket.once('error', (error) => end(() => reject(error)))
  })
}

interface Handshake {
  readonly protocol: string | null
  readonly certificate: PeerCertificate
  /** Why the certificate is not trusted; undefined if it is. */
  readonly certificateError: string | undefined
}

/** Performs a TLS handshake, even with an untrusted certificate: no data is sent. */
function handshake({ host, port, timeoutMs }: Place): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {}
    const socket = connectTls({ host, port, timeout: timeoutMs, rejectUnauthorized: false, ...name })
    const end = (complete: () => void): void => {
      socket.destroy()
      complete()
    }
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate()
      const protocol = socket.getProtocol()
      // Despite its type, this is an error code, or an error with a code.
      const reason = socket.authorizationError as unknown
      const certificateError = socket.authorized
        ? undefined
        : typeof reason === 'string'
          ? reason
          : getCode(reason ?? {})
      end(() => resolve({ protocol, certificate, certificateError }))
    })
    socket.once('timeout', () => end(() => reject(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' }))))
    socket.once('error', (error) => end(() => reject(error)))
  })
}

async function checkTls(place: Place, now: () => number): Promise<Finding> {
  let result: Handshake
  try {
    result = await handshake(place)
  } catch (error) {
    const code = getCode(error)
    return {
      check: 'tls',
      level: 'fail',
      text: `the TLS handshake failed (${code})`,
      fix: 'check the scheme and the port of the URL: the server may expect http',
      facts: { code },
    }
  }
  const { protocol, certificate, certificateError } = result
  const until = Date.parse(certificate.valid_to)
  const days = Math.floor((until - now()) / dayMs)
  const facts = { protocol, days: Number.isNaN(days) ? null : days, certificateError: certificateError ?? null }
  if (certificateError !== undefined) {
    const fix = certificateFixes[certificateError] ?? customAuthorityFix
    return { check: 'tls', level: 'fail', text: `the certificate is not trusted (${certificateError})`, fix, facts }
  }
  const text = `${protocol ?? 'TLS'}, the certificate expires in ${days} days`
  if (days >= minDays) return { check: 'tls', level: 'ok', text, facts }
  return {
    check: 'tls',
    level: 'warn',
    text,
    fix: 'ask the operator why it is not renewed automatically',
    facts,
  }
}

/**
 * Checks the connection to an endpoint, and its certificate.
 *
 * @param url - The URL. Only its scheme, host and port are used.
 * @param options.timeoutMs - The timeout of the connection.
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
    connectMs = await connect(place)
  } catch (error) {
    const code = getCode(error)
    const fix = fixes[code] ?? 'check the URL, and the network of this machine'
    return [{ check: 'reach', level: 'fail', text: `cannot connect to ${url.host} (${code})`, fix, facts: { code } }]
  }
  const facts = { host, port: place.port, connectMs }
  const text = `connected to ${url.host} in ${Math.max(1, Math.round(connectMs))} ms`
  if (isSecure) return [{ check: 'reach', level: 'ok', text, facts }, await checkTls(place, now)]
  if (isLoopback(url.hostname)) return [{ check: 'reach', level: 'ok', text: `${text} (this machine)`, facts }]
  return [
    { check: 'reach', level: 'ok', text, facts },
    {
      check: 'tls',
      level: 'warn',
      text: 'the URL is http: others on the network can read the key',
      fix: 'use https, unless the network is your own',
    },
  ]
}
