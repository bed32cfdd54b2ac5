import { Pool } from 'undici'
import type { Dispatcher } from 'undici'

/** How an exchange with an upstream failed. */
export type UpstreamFault =
  /** Not a byte of the request was sent. */
  | 'unsent'
  /** The connection broke after the request was sent. */
  | 'broken'
  /** The answer ran past the bytes it was allowed. */
  | 'tooLarge'

/** An answer read to its end. */
export interface UpstreamAnswer {
  readonly status: number
  readonly body: Buffer
}

/** How many bytes of answers may still be read. Shared by the calls of one request. */
export interface ByteBudget {
  left: number
}

/** One exchange. `done` is called once, with a fault or an answer, and not after `cancel`. */
export interface UpstreamExchange {
  readonly body: string
  readonly budget: ByteBudget
  readonly done: (fault: UpstreamFault | undefined, answer?: UpstreamAnswer) => void
}

/** One node. Its URL lies in a closure. */
export interface Upstream {
  /** Posts a body. @returns What stops it. */
  readonly post: (exchange: UpstreamExchange) => () => void
  /** What of the URL must not be seen by a caller, longest first. */
  readonly secrets: readonly string[]
  readonly close: () => Promise<void>
}

const connections = 64
const connectTimeoutMs = 5_000
const keepAliveMs = 20_000

/**
 * Makes an upstream: a pool of connections to one node. The request to it is built new, nothing of the caller's but the call
 * itself goes into it, and a redirect is not followed.
 * @param address - Its URL, http or https; user and password become a Basic authorization.
 */
export const createUpstream = (address: URL): Upstream => {
  const pool = new Pool(address.origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    // The deadline of a call is kept by the one who makes it.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    connect: { timeout: connectTimeoutMs },
  })
  const path = `${address.pathname}${address.search}`
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  if (address.username !== '' || address.password !== '') {
    const pair = `${decoded(address.username)}:${decoded(address.password)}`
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  }

  const post = ({ body, budget, done }: UpstreamExchange): (() => void) => {
    let controller: Dispatcher.DispatchController | undefined
    let ended = false
    let status = 0
    let chunks: Buffer[] = []
    let size = 0
    const end = (fault: UpstreamFault | undefined, answer?: UpstreamAnswer): void => {
      if (ended) return
      ended = true
      chunks = []
      done(fault, answer)
    }
    const stop = (): void => {
      ended = true
      chunks = []
      controller?.abort(new Error('stopped'))
    }
    pool.dispatch(
      { path, method: 'POST', headers, body },
      {
        onRequestStart: (given) => {
          controller = given
          // Stopped while it waited for a connection: abort before a byte is written.
          if (ended) given.abort(new Error('stopped'))
        },
        onResponseStart: (_, code) => {
          status = code
        },
        onResponseData: (given, chunk) => {
          if (ended) return
          if (chunk.length <= budget.left) {
            budget.left -= chunk.length
            size += chunk.length
            chunks.push(chunk)
            return
          }
          // What was read is let go, so another call of the same request may have its place.
          budget.left += size
          end('tooLarge')
          given.abort(new Error('stopped'))
        },
        onResponseEnd: () =>
          end(undefined, { status, body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) }),
        onResponseError: () => end(controller === undefined ? 'unsent' : 'broken'),
      },
    )
    return stop
  }

  return { post, secrets: secretsOf(address), close: () => pool.destroy() }
}

/** Below this a part is a common word (`rpc`, `v2`, `geth`), which a node may say for its own reasons. */
const shortestSecret = 8

/** The parts of a URL that a node's own error text might repeat. */
const secretsOf = (address: URL): readonly string[] => {
  const parts = [
    address.href,
    address.host,
    address.hostname,
    `${address.pathname}${address.search}`,
    address.username,
    address.password,
  ]
  for (const segment of address.pathname.split('/')) if (segment.length >= shortestSecret) parts.push(segment)
  for (const value of address.searchParams.values()) if (value.length >= shortestSecret) parts.push(value)
  // What an Authorization header made of the pair would hold; the padding may be left off.
  if (address.username !== '' || address.password !== '') {
    const pair = `${decoded(address.username)}:${decoded(address.password)}`
    parts.push(pair, Buffer.from(pair).toString('base64').replace(/=+$/, ''))
  }
  const spelled = parts.flatMap((part) => [part, decoded(part)])
  return [...new Set(spelled)].filter((part) => part.length >= shortestSecret).toSorted((a, b) => b.length - a.length)
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
