import type * as http from 'node:http'
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { createRequire } from 'node:module'
import type * as net from 'node:net'
import type * as tls from 'node:tls'
import type * as zlib from 'node:zlib'
import { defer } from '../clock/defer.ts'
import { check } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import { createTooLargeFault, isDecidedByStatus } from './httpClient.ts'
import type { HttpClient, HttpClientOptions, HttpFault, Target } from './httpClient.ts'
import { createHttpClient as createFetchClient } from './http.fetch.ts'
import { findProgrammingError } from './findProgrammingError.ts'
import { readString } from './readString.ts'
import { createSocketPool } from './socketPool.node.ts'
import type { PooledSocket, SocketPool } from './socketPool.node.ts'

/** A target in the form that `node:http` takes. */
interface Prepared {
  readonly client: Pick<typeof http, 'request'>
  readonly options: RequestOptions
  readonly pool: SocketPool | undefined
}

/**
 * Loads a module of Node on first use: TLS and gzip may never be needed. It uses `require`, because `import` of `node:http` reads each of its
 * exports, which loads all of `fetch`: half of a cold start. Any path works for built-in modules.
 */
const load = <T>(name: string): T => createRequire('/')(name) as T

/** Creates a function that opens connections to an origin, as an `http.Agent` or `https.Agent` does. */
const createConnector = (secure: boolean, host: string, port: number): (() => net.Socket) => {
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

/** The functions of `node:zlib` that decode a body, by coding. Only gzip is requested, but some servers use another one all the same. */
const decoders: ReadonlyMap<string, 'unzip' | 'brotliDecompress'> = new Map([
  ['gzip', 'unzip'],
  ['x-gzip', 'unzip'],
  ['deflate', 'unzip'],
  ['br', 'brotliDecompress'],
])

/** After this many chunks of a response, they are joined. */
const MAX_LOOSE_CHUNKS = 1_024

const getHeader = ({ rawHeaders }: IncomingMessage, name: string): string | undefined => {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const candidate = rawHeaders[at] as string
    if (candidate.length === name.length && candidate.toLowerCase() === name) return rawHeaders[at + 1]
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

/** OpenSSL's message for a response without TLS is a list of its internals. */
const describeError = (code: string, message: unknown): string => {
  if (typeof message !== 'string' || !message) return code
  return message.includes('wrong version number')
    ? 'the server responded without TLS: use http, or the port that has TLS'
    : message
}

const toFault = (error: NodeJS.ErrnoException, request: ClientRequest): HttpFault => {
  const mistake = findProgrammingError(error)
  if (mistake) return { kind: 'unknown', text: `the HTTP client threw ${mistake}` }
  const { code = '', syscall, message } = error
  const socket = request.socket as (PooledSocket & { readonly secureConnecting?: boolean }) | null
  return {
    kind: 'network',
    text: describeError(code, message),
    unsent:
      syscall === 'connect' ||
      syscall === 'getaddrinfo' ||
      // None of the addresses of the host accepted the connection.
      error instanceof AggregateError ||
      socket?.secureConnecting === true ||
      certificateErrors.has(code),
    stale: socket?.idleBytesRead !== undefined && socket.idleBytesRead === socket.bytesRead,
  }
}

/** Describes a body that cannot be decoded. */
const undecodable = 'the response cannot be decoded: its content-encoding is not that of its body'

/** The `fetch` of Node reports a code of zlib. */
const describeDecodingError = (error: unknown): string | undefined =>
  /^(?:Z|ERR_)_/.test(readString(() => Object(error).cause.code)) ? undecodable : undefined

/** Creates an HTTP client that uses `node:http` with keep-alive connections, at a third to a half of the cost of the global `fetch`. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { maxResponseBytes, agent } = options
  check(
    agent === undefined || 'addRequest' in Object(agent),
    `agent must be an http.Agent or https.Agent of Node, not ${describeType(agent)}`,
  )
  if (options.fetch) return createFetchClient(options, 'error', describeDecodingError)
  const pools: Record<string, SocketPool> = {}

  const prepare = ({ url, headers }: Target): Prepared => {
    const { protocol, host, hostname: bracketed, port, pathname, search, origin } = new URL(url)
    const secure = protocol === 'https:'
    const hostname = bracketed.replace(/^\[|\]$/g, '')
    const open = (): SocketPool =>
      createSocketPool(createConnector(secure, hostname, Number(port) || (secure ? 443 : 80)))
    const client = load<typeof http>(secure ? 'node:https' : 'node:http')
    // Set at the start by NODE_USE_ENV_PROXY=1 or --use-env-proxy: only Node's own agent goes through the proxy.
    const { options: own } = client.globalAgent as unknown as { readonly options?: { readonly proxyEnv?: object } }
    const hasEnvProxy = own?.proxyEnv !== undefined
    const pool = agent || hasEnvProxy ? undefined : (pools[origin] ??= open())
    return {
      pool,
      client,
      options: {
        protocol,
        hostname,
        port,
        path: pathname + search,
        method: 'POST',
        headers: { ...headers, host, 'accept-encoding': 'gzip', ...(pool && { connection: 'keep-alive' }) },
        ...(pool ? { createConnection: pool.acquire } : { agent: agent as Agent | undefined }),
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
        // For example, an Agent for another protocol.
        const mistake = findProgrammingError(error)
        const text = mistake ? `the HTTP client threw ${mistake}` : (error as Error).message
        defer(() => finish({ kind: mistake ? 'unknown' : 'network', text, unsent: true }))
        return () => {
          over = true
        }
      }
      const { pool } = prepared
      const succeed = (incoming: IncomingMessage, text: string, problem?: string): void => {
        const { statusCode: status = 0 } = incoming
        finish(undefined, { status, text, problem, header: (name) => getHeader(incoming, name) })
      }
      const failToRead = (fault: HttpFault): void => {
        if (response && isDecidedByStatus(response.statusCode)) succeed(response, '', fault.text)
        else finish(fault)
      }
      const tooLarge = (): void => {
        failToRead(createTooLargeFault(maxResponseBytes))
        sent.destroy()
      }
      sent.on('error', (error) => {
        const fault = toFault(error, sent)
        // The server has likely closed the other idle connections, too, and a retry must not use one of them.
        if (fault.stale) pool?.closeIdle()
        failToRead(fault)
      })
      // Some connections close without an error, for example after an unexpected status 101.
      sent.on('close', () => {
        if (response?.complete) return
        const text = response
          ? 'the connection broke in the middle of the response'
          : 'the server closed the connection without a response'
        failToRead({ kind: 'network', text })
      })
      sent.on('response', (incoming) => {
        response = incoming
        const { socket } = incoming as IncomingMessage & { socket: PooledSocket }
        const keepAlive = /timeout=(\d+)/i.exec(getHeader(incoming, 'keep-alive') ?? '')
        if (keepAlive) socket.keepAliveMs = Number(keepAlive[1]) * 1_000
        if (Number(getHeader(incoming, 'content-length')) > maxResponseBytes) return tooLarge()
        const chunks: Buffer[] = []
        let bytes = 0
        let joined = 0
        incoming.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > maxResponseBytes) return tooLarge()
          chunks.push(chunk)
          // A chunk of one byte takes a hundred bytes of memory, and a server may send nothing else.
          if (chunks.length - joined >= MAX_LOOSE_CHUNKS) joined = chunks.push(Buffer.concat(chunks.splice(joined)))
        })
        incoming.on('end', () => {
          socket.idleBytesRead = socket.bytesRead
          const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes)
          const coding = getHeader(incoming, 'content-encoding')
          const decoder = coding && decoders.get(coding.trim().toLowerCase())
          // Some servers name a charset here, and send the text as it is.
          if (!decoder) return succeed(incoming, whole.toString())
          const { constants, [decoder]: decode } = load<typeof zlib>('node:zlib')
          // An empty body has no end of its coding.
          const options = {
            maxOutputLength: maxResponseBytes,
            finishFlush: decoder === 'unzip' ? constants.Z_SYNC_FLUSH : constants.BROTLI_OPERATION_FLUSH,
          }
          ;(decode as typeof zlib.unzip)(whole, options, (error: NodeJS.ErrnoException | null, plain) => {
            if (!error) succeed(incoming, plain.toString())
            else if (error.code === 'ERR_BUFFER_TOO_LARGE') tooLarge()
            else succeed(incoming, '', undecodable)
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
