import { pipeline, Readable } from 'node:stream'
import type { Transform } from 'node:stream'
import { Pool } from 'undici'
import type { Dispatcher } from 'undici'
import { createErrorMask } from './createErrorMask.ts'
import type { ErrorMask } from './createErrorMask.ts'
import { createChunks } from '../../lib/createChunks.ts'
import type { Chunks } from '../../lib/createChunks.ts'
import { dropBytes, holdBytes } from '../../lib/memoryBudget.ts'
import type { BufferedBytes } from '../../lib/memoryBudget.ts'
import { unpin } from '../../lib/unpin.ts'
import { createBackoff } from './health/createBackoff.ts'
import type { Backoff } from './health/createBackoff.ts'
import type { Budget } from './health/createBudget.ts'
import { getDecoders } from './getDecoders.ts'
import { getCredentials, getSecrets } from './upstreamSecrets.ts'
import type { UpstreamHeaders } from './upstreamHeaders.ts'

/** How a request to an upstream failed. */
export type UpstreamFault =
  /** Not a byte of it was sent. */
  | 'unsent'
  /** The connection broke after it was sent. */
  | 'broken'
  /** The response exceeds its byte budget. */
  | 'tooLarge'
  /** All requests together buffer as many bytes as they may. */
  | 'noRoom'

/** A complete response. */
export interface UpstreamResponse {
  readonly status: number
  readonly body: Buffer
  /** The `retry-after` header. */
  readonly retryAfter?: string | undefined
}

/** How many more bytes of responses may be read. The calls of one request share it. */
export interface ByteBudget {
  left: number
  /** The memory of the request, if that is counted. */
  readonly buffered?: BufferedBytes | undefined
}

/** Consumes a response's bytes as they arrive. The last call is `end` or `fail`. */
export interface ResponseConsumer {
  readonly data: (chunk: Buffer) => void
  readonly end: () => void
  readonly fail: () => void
}

/** Pauses, resumes or aborts a response. */
export interface FlowControl {
  readonly pause: () => void
  readonly resume: () => void
  readonly abort: () => void
}

/**
 * A request to an upstream. `done` is called once, with a fault or a response; not after it was stopped, and not if `large` returned a consumer.
 * `code` is the code of the error behind the fault, such as `ECONNREFUSED`.
 */
export interface UpstreamRequest {
  readonly body: string
  readonly budget: ByteBudget
  readonly done: (fault: UpstreamFault | undefined, response?: UpstreamResponse, code?: string) => void
  /** Called when it is written to a connection: from then on the node may have received it. */
  readonly sent?: (() => void) | undefined
  /**
   * Called once, with the chunks so far, when a response with status 2xx grows large. Returns a consumer for the rest, or `undefined` to
   * buffer the whole response.
   */
  readonly large?: ((head: readonly Buffer[], flow: FlowControl) => ResponseConsumer | undefined) | undefined
  /** Headers of this request, besides those of the node. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** A call of the gateway's own, not a caller's. Its `User-Agent` says so. */
  readonly probe?: boolean
  /** How many calls it is. @default 1 */
  readonly calls?: number | undefined
  /** How many units of the budget it uses. @default 1 */
  readonly units?: number | undefined
}

/** An HTTP client for one node. Its URL is private. */
export interface Upstream {
  /** Posts a body, and charges it to the budget. @returns A function that stops the request. */
  readonly post: (request: UpstreamRequest) => () => void
  /** Masks the parts of the URL that callers must not see, in an error object. */
  readonly maskError: ErrorMask
  /** How many requests of callers have not ended. */
  readonly inFlight: () => number
  /** Pauses the node while it says that it gets too many requests. */
  readonly backoff: Backoff
  /** Whether the budget of the day has room for one of the gateway's own queries. */
  readonly hasRoomForQuery: () => boolean
  readonly close: () => Promise<void>
}

const maxConnections = 128
/** Probes have connections of their own, so a node is never unreachable only because many callers wait for it. */
const maxProbeConnections = 2
/** The most connections that callers who read a large response slowly can hold. Past that, large responses are buffered. */
const maxStreams = 64
/** A larger response is streamed. */
const maxBufferedBytes = 1024 * 1024
const connectTimeoutMs = 5_000
const keepAliveMs = 20_000

const noBytes = Buffer.alloc(0)

/** Shared by all requests: its stack has no information, and a stack is expensive to take. */
const stopped = new Error('stopped')

/**
 * Creates an upstream: a connection pool to one node. A request to it contains the caller's call and nothing else of the caller's request.
 * Redirects are not followed.
 * @param url - http or https. User and password become a Basic authorization.
 * @param options.headers - Sent with each request.
 * @param options.budget - @default none
 * @param options.backoff - @default a new one
 */
export const createUpstream = (
  url: URL,
  {
    headers: ownHeaders = {},
    budget: nodeBudget,
    backoff = createBackoff(),
  }: { headers?: UpstreamHeaders; budget?: Budget; backoff?: Backoff } = {},
): Upstream => {
  const createPool = (connections: number): Pool =>
    new Pool(url.origin, {
      connections,
      pipelining: 1,
      allowH2: false,
      // Callers of `post` have timeouts of their own.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      connect: { timeout: connectTimeoutMs },
    })
  const pool = createPool(maxConnections)
  const probePool = createPool(maxProbeConnections)
  const path = `${url.pathname}${url.search}`
  const headers: Record<string, string> = {
    ...Object.fromEntries(Object.entries(ownHeaders).map(([name, value]) => [name.toLowerCase(), value])),
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
  }
  const credentials = getCredentials(url)
  if (credentials !== undefined) headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`

  const probeHeaders = { ...headers, 'user-agent': 'keyrail-probe' }
  let streams = 0
  let inFlight = 0

  const post = (request: UpstreamRequest): (() => void) => {
    const { body, budget, done, sent, large, headers: more, probe = false } = request
    nodeBudget?.charge(request.calls ?? 1, request.units ?? 1)
    let isInFlight = !probe
    if (!probe) inFlight += 1
    const leave = (): void => {
      if (isInFlight) inFlight -= 1
      isInFlight = false
    }
    let controller: Dispatcher.DispatchController | undefined
    let consumer: ResponseConsumer | undefined
    let isLargeHandled = large === undefined
    let ended = false
    let status = 0
    let retryAfter: string | undefined
    let bodyDecoders: readonly (() => Transform)[] = []
    let decoder: Transform | undefined
    /** How many bytes are held while they are decoded. */
    let encodedSize = 0
    let contentLength: number | undefined
    /** Most responses are one chunk. */
    let first: Buffer | undefined
    let chunks: Chunks | undefined
    let size = 0
    const returnBytes = (): void => {
      budget.left += size
      dropBytes(budget.buffered, size + encodedSize)
    }
    const finish = (fault: UpstreamFault | undefined, response?: UpstreamResponse, code?: string): void => {
      if (ended) return
      ended = true
      leave()
      first = undefined
      chunks = undefined
      decoder?.destroy()
      // A retry, or another call of the same request, may read the bytes that were read in vain.
      if (fault !== undefined) returnBytes()
      done(fault, response, code)
    }
    const stop = (): void => {
      if (!ended) returnBytes()
      ended = true
      leave()
      first = undefined
      chunks = undefined
      decoder?.destroy()
      controller?.abort(stopped)
    }
    const takeConsumer = (): ResponseConsumer | undefined => {
      const taken = consumer
      if (taken !== undefined) streams -= 1
      leave()
      consumer = undefined
      return taken
    }
    const handleLarge = (active: Dispatcher.DispatchController): void => {
      if (status < 200 || status >= 300 || streams >= maxStreams) return
      isLargeHandled = true
      consumer = large?.(chunks?.list() ?? (first === undefined ? [] : [first]), {
        pause: () => active.pause(),
        resume: () => active.resume(),
        abort: () => active.abort(stopped),
      })
      // `large` may have stopped the request.
      if (active.aborted) consumer = undefined
      if (consumer === undefined) return
      // A stream is not buffered.
      dropBytes(budget.buffered, size)
      streams += 1
      ended = true
      first = undefined
      chunks = undefined
    }
    /** The body could not be read, so what is known decides: the status and the headers. */
    const finishUnread = (): void => {
      if (!ended) returnBytes()
      size = 0
      finish(undefined, { status, body: noBytes, retryAfter })
    }
    /** Decodes a body in slices, each of which is counted before the next one exists. */
    const decodeBody = (body: Buffer): void => {
      encodedSize = size
      budget.left += size
      size = 0
      let decoded: Chunks | undefined
      const stages = bodyDecoders.map((create) => create())
      decoder = stages.at(-1) as Transform
      decoder.on('data', (slice: Buffer) => {
        if (ended) return
        if (slice.length > budget.left) finish('tooLarge')
        else if (holdBytes(budget.buffered, slice.length)) {
          budget.left -= slice.length
          size += slice.length
          if (decoded === undefined) decoded = createChunks(slice)
          else decoded.add(slice)
        } else finish('noRoom')
      })
      decoder.on('error', finishUnread)
      decoder.on('end', () => {
        if (ended) return
        dropBytes(budget.buffered, encodedSize)
        finish(undefined, { status, body: withoutMark(decoded?.join() ?? noBytes), retryAfter })
      })
      // An error of one stage is an error of the last one.
      pipeline([Readable.from([body]), ...stages], () => {})
    }
    const dispatcher = probe ? probePool : pool
    dispatcher.dispatch(
      {
        path,
        method: 'POST',
        headers: probe ? probeHeaders : more === undefined ? headers : { ...headers, ...more },
        body,
      },
      {
        onRequestStart: (active) => {
          controller = active
          // Stopped while it waited for a connection: abort before a byte is written.
          if (ended) active.abort(stopped)
          else sent?.()
        },
        onResponseStart: (
          active,
          code,
          { 'content-length': length, 'content-encoding': encoding, 'retry-after': wait },
        ) => {
          status = code
          bodyDecoders = getDecoders(encoding)
          if (bodyDecoders.length > 0) isLargeHandled = true
          retryAfter = Array.isArray(wait) ? wait[0] : wait
          if (length !== undefined) contentLength = Number(length)
          if (length === undefined || Number(length) <= budget.left) return
          finish('tooLarge')
          active.abort(stopped)
        },
        onResponseData: (active, chunk) => {
          if (ended && consumer === undefined) return
          if (consumer === undefined && chunk.length <= budget.left && !holdBytes(budget.buffered, chunk.length)) {
            finish('noRoom')
            active.abort(stopped)
            return
          }
          if (chunk.length <= budget.left) {
            budget.left -= chunk.length
            size += chunk.length
            if (consumer === undefined) {
              if (first === undefined) first = unpin(chunk)
              else (chunks ??= createChunks(first)).add(chunk)
              if (!isLargeHandled && size > maxBufferedBytes) handleLarge(active)
            } else consumer.data(unpin(chunk))
            return
          }
          if (consumer === undefined) finish('tooLarge')
          else takeConsumer()?.fail()
          active.abort(stopped)
        },
        onResponseEnd: () => {
          if (consumer === undefined) {
            const body = chunks?.join() ?? first ?? noBytes
            if (bodyDecoders.length === 0 || size === 0)
              finish(undefined, { status, body: withoutMark(body), retryAfter })
            else decodeBody(body)
          } else takeConsumer()?.end()
        },
        onResponseError: (_controller, { code }: NodeJS.ErrnoException) => {
          if (consumer === undefined && status >= 400) finishUnread()
          else if (consumer === undefined) finish(controller === undefined ? 'unsent' : 'broken', undefined, code)
          // If the response is paused and the node closes its connection after it, undici reports an error although all of it has arrived.
          else if (size === contentLength) takeConsumer()?.end()
          else takeConsumer()?.fail()
        },
      },
    )
    return stop
  }

  const close = async (): Promise<void> => {
    await Promise.all([pool.destroy(), probePool.destroy()])
  }
  return {
    post,
    maskError: createErrorMask(getSecrets(url, ownHeaders)),
    inFlight: () => inFlight,
    backoff,
    hasRoomForQuery: () => nodeBudget?.hasRoomToday() ?? true,
    close,
  }
}

/** Removes a byte order mark, which a parser may ignore (RFC 8259 section 8.1). */
const withoutMark = (body: Buffer): Buffer =>
  body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body
