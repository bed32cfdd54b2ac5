import type * as http from 'node:http'
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type * as https from 'node:https'
import { createRequire } from 'node:module'
import type * as net from 'node:net'
import type * as tls from 'node:tls'
import type * as zlib from 'node:zlib'
import { defer } from '../clock/defer.ts'
import { check } from '../failure/invalid.ts'
import type { HttpClient, HttpClientOptions, Fault, Target } from './httpClient.ts'
import { createHttpClient as createFetchCarrier } from './http.fetch.ts'
import { programmingError } from './programmingError.ts'
import { createSocketPool } from './socketPool.node.ts'
import type { PooledSocket, SocketPool } from './socketPool.node.ts'

/** A target as `node:http` takes it, made once. */
interface Prepared {
  readonly client: Pick<typeof http, 'request'>
  readonly options: RequestOptions
  readonly pool: SocketPool | undefined
}

/**
 * Loads a module of Node when it is needed, TLS and gzip perhaps never. By `require`, because `import` of `node:http` reads each of its exports,
 * and with them loads all of `fetch`: half of a cold start. Any path does, to load what is built in.
 */
const load = <T>(name: string): T => createRequire('/')(name) as T

/** Opens connections to an origin, as an `http.Agent` or `https.Agent` would. */
const connector = (secure: boolean, host: string, port: number): (() => net.Socket) => {
  const { connect, isIP } = load<typeof net>('node:net')
  const options = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 1_000 }
  if (!secure) return () => connect(options)
  const { connect: connectTls } = load<typeof tls>('node:tls')
  let session: Buffer | undefined
  return () =>
    connectTls({ ...options, servername: isIP(host) ? '' : host, ALPNProtocols: ['http/1.1'], session }).on(
      'session',
      (ticket) => {
        session = ticket
      },
    )
}

/** So many parts of an answer are held as they came; then they are joined. */
const MAX_LOOSE_CHUNKS = 1_024

const headerOf = ({ rawHeaders }: IncomingMessage, name: string): string | undefined => {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] as string
    if (given.length === name.length && given.toLowerCase() === name) return rawHeaders[at + 1]
  }
  return undefined
}

/** Node's codes for a certificate that it does not accept: it ends the connection before it sends the request. */
const certificateErrors: ReadonlySet<string> = new Set([
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'CRL_HAS_EXPIRED',
  'CRL_NOT_YET_VALID',
  'CRL_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERROR_IN_CERT_NOT_AFTER_FIELD',
  'ERROR_IN_CERT_NOT_BEFORE_FIELD',
  'ERROR_IN_CRL_LAST_UPDATE_FIELD',
  'ERROR_IN_CRL_NEXT_UPDATE_FIELD',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_DECRYPT_CRL_SIGNATURE',
  'UNABLE_TO_GET_CRL',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

const faultOf = (error: NodeJS.ErrnoException, request: ClientRequest): Fault => {
  const mistake = programmingError(error)
  if (mistake) return { kind: 'unknown', text: `the HTTP client threw ${mistake}` }
  const { code = '', syscall, message } = error
  const socket = request.socket as (PooledSocket & { readonly secureConnecting?: boolean }) | null
  return {
    kind: 'network',
    text: typeof message === 'string' && message ? message : String(code),
    unsent:
      syscall === 'connect' ||
      syscall === 'getaddrinfo' ||
      // Each address of a name was tried, and none took the connection.
      error instanceof AggregateError ||
      socket?.secureConnecting === true ||
      certificateErrors.has(code),
    stale: socket?.keptBytesRead !== undefined && socket.keptBytesRead === socket.bytesRead,
  }
}

/** Carries by `node:http` over kept-alive connections: a third to a half of the cost of the global `fetch`. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  if (options.fetch) return createFetchCarrier(options, 'error')
  const { maxResponseBytes, agent } = options
  check(agent === undefined || 'addRequest' in Object(agent), 'agent must be an http.Agent or https.Agent of Node')
  const pools: Record<string, SocketPool> = {}

  const prepare = ({ url, headers }: Target): Prepared => {
    const { protocol, host, hostname: bracketed, port, pathname, search, origin } = new URL(url)
    const secure = protocol === 'https:'
    const hostname = bracketed.replace(/^\[|\]$/g, '')
    const open = (): SocketPool => createSocketPool(connector(secure, hostname, Number(port) || (secure ? 443 : 80)))
    const pool = agent ? undefined : (pools[origin] ??= open())
    return {
      pool,
      client: secure ? load<typeof https>('node:https') : load<typeof http>('node:http'),
      options: {
        protocol,
        hostname,
        port,
        path: pathname + search,
        method: 'POST',
        headers: { ...headers, host, 'accept-encoding': 'gzip', ...(pool && { connection: 'keep-alive' }) },
        ...(pool ? { createConnection: pool.take } : { agent: agent as Agent }),
      },
    }
  }
  let prepared: Prepared
  let preparedFor: Target | undefined

  return {
    send: (target, body, done) => {
      let over = false
      let response: IncomingMessage | undefined
      const finish: typeof done = (...outcome) => {
        if (over) return
        over = true
        done(...outcome)
      }
      let sent: ClientRequest
      try {
        if (target !== preparedFor) {
          prepared = prepare(target)
          preparedFor = target
        }
        sent = prepared.client.request(prepared.options)
      } catch (error) {
        // An Agent of the wrong protocol, for example.
        const mistake = programmingError(error)
        const text = mistake ? `the HTTP client threw ${mistake}` : (error as Error).message
        defer(() => finish({ kind: mistake ? 'unknown' : 'network', text, unsent: true }))
        return () => {
          over = true
        }
      }
      const { pool } = prepared
      const refuse = (text: string, final = false): void => {
        finish({ kind: 'badResponse', text, final })
        sent.destroy()
      }
      const tooLarge = (): void => refuse(`the answer is larger than maxResponseBytes (${maxResponseBytes})`, true)
      sent.on('error', (error) => {
        const fault = faultOf(error, sent)
        // What ended this connection has likely ended the others that were idle, and a second try must not meet one of them.
        if (fault.stale) pool?.drop()
        finish(fault)
      })
      // Some ends come without an error, such as an unasked 101.
      sent.on('close', () => {
        if (response?.complete) return
        const text = response
          ? 'the connection broke in the middle of the answer'
          : 'the connection closed without an answer'
        finish({ kind: 'network', text })
      })
      sent.on('response', (incoming) => {
        response = incoming
        const { socket, statusCode: status = 0 } = incoming as IncomingMessage & { socket: PooledSocket }
        const encoding = headerOf(incoming, 'content-encoding')
        const keptSeconds = /timeout=(\d+)/i.exec(headerOf(incoming, 'keep-alive') ?? '')
        if (keptSeconds) socket.keptMs = Number(keptSeconds[1]) * 1_000
        if (Number(headerOf(incoming, 'content-length')) > maxResponseBytes) return tooLarge()
        const chunks: Buffer[] = []
        let bytes = 0
        let joined = 0
        incoming.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > maxResponseBytes) return tooLarge()
          chunks.push(chunk)
          // A chunk of one byte takes a hundred times as much, and a server may send nothing but those.
          if (chunks.length - joined >= MAX_LOOSE_CHUNKS) joined = chunks.push(Buffer.concat(chunks.splice(joined)))
        })
        incoming.on('end', () => {
          socket.keptBytesRead = socket.bytesRead
          const reply = (text: string): void =>
            finish(undefined, { status, text, header: (name) => headerOf(incoming, name) })
          const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes)
          if (!encoding || encoding === 'identity') return reply(whole.toString())
          if (encoding !== 'gzip') return refuse(`the answer is encoded as '${encoding}', which was not asked for`)
          const { gunzip } = load<typeof zlib>('node:zlib')
          gunzip(whole, { maxOutputLength: maxResponseBytes }, (error: NodeJS.ErrnoException | null, plain) => {
            if (!error) reply(plain.toString())
            else if (error.code === 'ERR_BUFFER_TOO_LARGE') tooLarge()
            else refuse('the answer is broken gzip')
          })
        })
      })
      sent.end(body)
      return () => {
        over = true
        sent.destroy()
      }
    },
    close: () => {
      for (const pool of Object.values(pools)) pool.close()
    },
  }
}
