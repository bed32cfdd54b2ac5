import { Pool } from 'undici'
import type { Dispatcher } from 'undici'
import { createErrorMask } from './createErrorMask.ts'
import type { ErrorMask, UpstreamSecrets } from './createErrorMask.ts'
import { dropBytes, holdBytes } from '../../lib/memoryBudget.ts'
import type { BufferedBytes } from '../../lib/memoryBudget.ts'

/** How an exchange with an upstream failed. */
export type UpstreamFault =
  /** Not a byte of the request was sent. */
  | 'unsent'
  /** The connection broke after the request was sent. */
  | 'broken'
  /** The answer ran past the bytes it was allowed. */
  | 'tooLarge'
  /** All requests together keep as many bytes as they may. */
  | 'noRoom'

/** An answer read to its end. */
export interface UpstreamResponse {
  readonly status: number
  readonly body: Buffer
}

/** How many bytes of answers may still be read. Shared by the calls of one request. */
export interface ByteBudget {
  left: number
  /** What the request keeps, where that is counted. */
  readonly kept?: BufferedBytes | undefined
}

/** Takes an answer's bytes as they come. One of `end` and `fail` is called, last. */
export interface ResponseTaker {
  readonly data: (chunk: Buffer) => void
  readonly end: () => void
  readonly fail: () => void
}

/** Holds an answer back, lets it go on, or gives it up. */
export interface ResponseFlow {
  readonly pause: () => void
  readonly resume: () => void
  readonly abort: () => void
}

/** One exchange. `done` is called once, with a fault or an answer; not after it was stopped, and not where `large` gave a taker. */
export interface UpstreamExchange {
  readonly body: string
  readonly budget: ByteBudget
  readonly done: (fault: UpstreamFault | undefined, answer?: UpstreamResponse) => void
  /** Called when the request is written to a connection: from then on the node may have received it. */
  readonly sent?: (() => void) | undefined
  /**
   * Asked once, with what has come so far, when an answer of status 2xx grows large: gives what is to take the rest, or
   * `undefined` where the whole is to be kept.
   */
  readonly large?: ((head: readonly Buffer[], flow: ResponseFlow) => ResponseTaker | undefined) | undefined
  /** Not a caller's but our own, which the request says by its user agent. */
  readonly probe?: boolean
}

/** One node. Its URL lies in a closure. */
export interface Upstream {
  /** Posts a body. @returns What stops it. */
  readonly post: (context: UpstreamExchange) => () => void
  /** Hides in an error object what a caller must not see of the URL. */
  readonly maskError: ErrorMask
  readonly close: () => Promise<void>
}

const connections = 128
/** Our own questions have connections of their own: however many callers wait, a node is not called unreachable for it. */
const probeConnections = 2
/** Of those, how many may be held by callers who read a large answer slowly; what is large past that is kept whole. */
const maxStreams = 64
/** An answer larger than this is no longer kept whole. */
const keptUpTo = 1024 * 1024
const connectTimeoutMs = 5_000
const keepAliveMs = 20_000

/** One for all: a stack would tell nothing, and taking it costs. */
const stopped = new Error('stopped')

/**
 * Makes an upstream: a pool of connections to one node. The request to it is built new, nothing of the caller's but the call
 * itself goes into it, and a redirect is not followed.
 * @param address - Its URL, http or https; user and password become a Basic authorization.
 */
export const createUpstream = (address: URL): Upstream => {
  const poolOf = (size: number): Pool =>
    new Pool(address.origin, {
      connections: size,
      pipelining: 1,
      allowH2: false,
      // The deadline of a call is kept by the one who makes it.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      connect: { timeout: connectTimeoutMs },
    })
  const pool = poolOf(connections)
  const probePool = poolOf(probeConnections)
  const path = `${address.pathname}${address.search}`
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  const pair = pairOf(address)
  if (pair !== undefined) headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`

  const probeHeaders = { ...headers, 'user-agent': 'keyrail-probe' }
  let streams = 0

  const post = ({ body, budget, done, sent, large, probe }: UpstreamExchange): (() => void) => {
    let controller: Dispatcher.DispatchController | undefined
    let taker: ResponseTaker | undefined
    let asked = large === undefined
    let ended = false
    let status = 0
    let announced: number | undefined
    let chunks: Buffer[] = []
    let size = 0
    const giveBack = (): void => {
      budget.left += size
      dropBytes(budget.kept, size)
    }
    const end = (fault: UpstreamFault | undefined, answer?: UpstreamResponse): void => {
      if (ended) return
      ended = true
      chunks = []
      // What was read for nothing may be read by another try, or another call of the same request.
      if (fault !== undefined) giveBack()
      done(fault, answer)
    }
    const stop = (): void => {
      if (!ended) giveBack()
      ended = true
      chunks = []
      controller?.abort(stopped)
    }
    const untake = (): ResponseTaker | undefined => {
      const given = taker
      if (given !== undefined) streams -= 1
      taker = undefined
      return given
    }
    const askLarge = (given: Dispatcher.DispatchController): void => {
      if (status < 200 || status >= 300 || streams >= maxStreams) return
      asked = true
      taker = large?.(chunks, {
        pause: () => given.pause(),
        resume: () => given.resume(),
        abort: () => given.abort(stopped),
      })
      // Given up already by the one who was to take it.
      if (given.aborted) taker = undefined
      if (taker === undefined) return
      // What is on its way is kept by nobody.
      dropBytes(budget.kept, size)
      streams += 1
      ended = true
      chunks = []
    }
    const dispatcher = probe === true ? probePool : pool
    dispatcher.dispatch(
      { path, method: 'POST', headers: probe === true ? probeHeaders : headers, body },
      {
        onRequestStart: (given) => {
          controller = given
          // Stopped while it waited for a connection: abort before a byte is written.
          if (ended) given.abort(stopped)
          else sent?.()
        },
        onResponseStart: (given, code, { 'content-length': length }) => {
          status = code
          if (length !== undefined) announced = Number(length)
          if (length === undefined || Number(length) <= budget.left) return
          end('tooLarge')
          given.abort(stopped)
        },
        onResponseData: (given, chunk) => {
          if (ended && taker === undefined) return
          if (taker === undefined && chunk.length <= budget.left && !holdBytes(budget.kept, chunk.length)) {
            end('noRoom')
            given.abort(stopped)
            return
          }
          if (chunk.length <= budget.left) {
            budget.left -= chunk.length
            size += chunk.length
            if (taker === undefined) {
              chunks.push(chunk)
              if (!asked && size > keptUpTo) askLarge(given)
            } else taker.data(chunk)
            return
          }
          if (taker === undefined) end('tooLarge')
          else untake()?.fail()
          given.abort(stopped)
        },
        onResponseEnd: () => {
          if (taker === undefined)
            end(undefined, { status, body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) })
          else untake()?.end()
        },
        onResponseError: () => {
          if (taker === undefined) end(controller === undefined ? 'unsent' : 'broken')
          // A node may close its connection behind an answer. Where that was held back, this is how it is told, though all of it has come.
          else if (size === announced) untake()?.end()
          else untake()?.fail()
        },
      },
    )
    return stop
  }

  const close = async (): Promise<void> => {
    await Promise.all([pool.destroy(), probePool.destroy()])
  }
  return { post, maskError: createErrorMask(secretsOf(address)), close }
}

/** Below this a part is a common word (`rpc`, `v2`, `geth`), which a node may say for its own reasons. */
const shortestSecret = 8

/** The parts of a URL that a node's own error text might repeat. */
const secretsOf = (address: URL): UpstreamSecrets => {
  const { href, host, hostname, pathname, search, searchParams, username, password } = address
  const parts = [...pathname.split('/'), ...searchParams.values(), username, password, pairOf(address) ?? '']
  return {
    secrets: spelled(parts),
    wholes: spelled([href, host, hostname, `${pathname}${search}`]),
  }
}

/** Texts that are long enough, with their percent escapes and without. */
const spelled = (texts: readonly string[]): readonly string[] =>
  [...new Set(texts.flatMap((text) => [text, decoded(text)]))].filter(({ length }) => length >= shortestSecret)

/** User and password as HTTP's Basic scheme joins them; `undefined` where there are none. */
const pairOf = ({ username, password }: URL): string | undefined =>
  username === '' && password === '' ? undefined : `${decoded(username)}:${decoded(password)}`

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
