import type { IncomingHttpHeaders } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { Transform } from 'node:stream'
import type { Dispatcher } from 'undici'
import { addChunk, joinChunks, listChunks } from '../../lib/chunks.ts'
import type { Chunks } from '../../lib/chunks.ts'
import { dropBytes, holdBytes } from '../../lib/memoryBudget.ts'
import type { BufferedBytes } from '../../lib/memoryBudget.ts'
import { unpin } from '../../lib/unpin.ts'
import { getDecoders } from './getDecoders.ts'

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

/** What an attempt got from its upstream. */
export interface Received {
  readonly fault: UpstreamFault | undefined
  readonly response: UpstreamResponse | undefined
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

/** What the requests to one node share. */
export interface PostedRequests {
  /** How many requests of callers have not ended. */
  inFlight: number
  /** How many of their responses are streamed. */
  streams: number
}

/** A request to an upstream, and what has arrived of its response. */
interface Posted {
  readonly request: UpstreamRequest
  readonly all: PostedRequests
  isInFlight: boolean
  controller: Dispatcher.DispatchController | undefined
  consumer: ResponseConsumer | undefined
  isLargeHandled: boolean
  ended: boolean
  status: number
  retryAfter: string | undefined
  bodyDecoders: readonly (() => Transform)[]
  decoder: Transform | undefined
  /** How many bytes are held while they are decoded. */
  encodedSize: number
  contentLength: number | undefined
  chunks: Chunks | undefined
  size: number
}

/** The most connections that callers who read a large response slowly can hold. Past that, large responses are buffered. */
const maxStreams = 64
/** A larger response is streamed. */
const maxBufferedBytes = 1024 * 1024

const noBytes = Buffer.alloc(0)

/** Shared by all requests: its stack has no information, and a stack is expensive to take. */
const stopped = new Error('stopped')

/** Sends a request to a node, and reads its response. @returns A function that stops it. */
export const postRequest = (
  dispatcher: Dispatcher,
  options: Pick<Dispatcher.DispatchOptions, 'path' | 'headers'>,
  request: UpstreamRequest,
  all: PostedRequests,
): (() => void) => {
  const posted: Posted = {
    request,
    all,
    isInFlight: request.probe !== true,
    controller: undefined,
    consumer: undefined,
    isLargeHandled: request.large === undefined,
    ended: false,
    status: 0,
    retryAfter: undefined,
    bodyDecoders: [],
    decoder: undefined,
    encodedSize: 0,
    contentLength: undefined,
    chunks: undefined,
    size: 0,
  }
  if (posted.isInFlight) all.inFlight += 1
  dispatcher.dispatch(
    { ...options, method: 'POST', body: request.body },
    {
      onRequestStart: (active) => {
        posted.controller = active
        // Stopped while it waited for a connection: abort before a byte is written.
        if (posted.ended) active.abort(stopped)
        else request.sent?.()
      },
      onResponseStart: (active, status, headers) => startResponse(posted, active, { status, headers }),
      onResponseData: (active, chunk) => receiveChunk(posted, active, chunk),
      onResponseEnd: () => endResponse(posted),
      onResponseError: (_controller, { code }: NodeJS.ErrnoException) => failResponse(posted, code),
    },
  )
  return () => {
    if (!posted.ended) returnBytes(posted)
    end(posted)
    posted.controller?.abort(stopped)
  }
}

const returnBytes = ({ request: { budget }, size, encodedSize }: Posted): void => {
  budget.left += size
  dropBytes(budget.buffered, size + encodedSize)
}

const end = (posted: Posted): void => {
  posted.ended = true
  leave(posted)
  posted.chunks = undefined
  posted.decoder?.destroy()
}

const leave = (posted: Posted): void => {
  if (posted.isInFlight) posted.all.inFlight -= 1
  posted.isInFlight = false
}

const finish = (posted: Posted, fault: UpstreamFault | undefined, response?: UpstreamResponse, code?: string): void => {
  if (posted.ended) return
  end(posted)
  // A retry, or another call of the same request, may read the bytes that were read in vain.
  if (fault !== undefined) returnBytes(posted)
  posted.request.done(fault, response, code)
}

/** The body could not be read, so what is known decides: the status and the headers. */
const finishUnread = (posted: Posted): void => {
  if (!posted.ended) returnBytes(posted)
  posted.size = 0
  finishWith(posted, noBytes)
}

const finishWith = (posted: Posted, body: Buffer): void =>
  finish(posted, undefined, { status: posted.status, body: withoutMark(body), retryAfter: posted.retryAfter })

const startResponse = (
  posted: Posted,
  active: Dispatcher.DispatchController,
  { status, headers }: { readonly status: number; readonly headers: IncomingHttpHeaders },
): void => {
  const { 'content-length': length, 'content-encoding': encoding, 'retry-after': wait } = headers
  posted.status = status
  posted.bodyDecoders = getDecoders(encoding)
  if (posted.bodyDecoders.length > 0) posted.isLargeHandled = true
  posted.retryAfter = Array.isArray(wait) ? wait[0] : wait
  if (length === undefined) return
  posted.contentLength = Number(length)
  if (posted.contentLength <= posted.request.budget.left) return
  finish(posted, 'tooLarge')
  active.abort(stopped)
}

const receiveChunk = (posted: Posted, active: Dispatcher.DispatchController, chunk: Buffer): void => {
  const { consumer, request } = posted
  const { budget } = request
  if (posted.ended && consumer === undefined) return
  if (chunk.length > budget.left) {
    if (consumer === undefined) finish(posted, 'tooLarge')
    else takeConsumer(posted)?.fail()
    active.abort(stopped)
    return
  }
  if (consumer === undefined && !holdBytes(budget.buffered, chunk.length)) {
    finish(posted, 'noRoom')
    active.abort(stopped)
    return
  }
  budget.left -= chunk.length
  posted.size += chunk.length
  if (consumer !== undefined) {
    consumer.data(unpin(chunk))
    return
  }
  posted.chunks = addChunk(posted.chunks, chunk)
  if (!posted.isLargeHandled && posted.size > maxBufferedBytes) handleLarge(posted, active)
}

const handleLarge = (posted: Posted, active: Dispatcher.DispatchController): void => {
  const { request, all, status, chunks } = posted
  if (status < 200 || status >= 300 || all.streams >= maxStreams) return
  posted.isLargeHandled = true
  posted.consumer = request.large?.(listChunks(chunks), {
    pause: () => active.pause(),
    resume: () => active.resume(),
    abort: () => active.abort(stopped),
  })
  // `large` may have stopped the request.
  if (active.aborted) posted.consumer = undefined
  if (posted.consumer === undefined) return
  // A stream is not buffered.
  dropBytes(request.budget.buffered, posted.size)
  all.streams += 1
  posted.ended = true
  posted.chunks = undefined
}

const takeConsumer = (posted: Posted): ResponseConsumer | undefined => {
  const { consumer } = posted
  if (consumer !== undefined) posted.all.streams -= 1
  leave(posted)
  posted.consumer = undefined
  return consumer
}

const endResponse = (posted: Posted): void => {
  if (posted.consumer !== undefined) {
    takeConsumer(posted)?.end()
    return
  }
  const body = joinChunks(posted.chunks)
  if (posted.bodyDecoders.length === 0 || posted.size === 0) finishWith(posted, body)
  else decodeBody(posted, body)
}

const failResponse = (posted: Posted, code: string | undefined): void => {
  const { consumer, status, controller, size, contentLength } = posted
  if (consumer === undefined && status >= 400) finishUnread(posted)
  else if (consumer === undefined) finish(posted, controller === undefined ? 'unsent' : 'broken', undefined, code)
  // If the response is paused and the node closes its connection after it, undici reports an error although all of it has arrived.
  else if (size === contentLength) takeConsumer(posted)?.end()
  else takeConsumer(posted)?.fail()
}

/** Decodes a body in slices, each of which is counted before the next one exists. */
const decodeBody = (posted: Posted, body: Buffer): void => {
  const { budget } = posted.request
  posted.encodedSize = posted.size
  budget.left += posted.size
  posted.size = 0
  let decoded: Chunks | undefined
  const stages = posted.bodyDecoders.map((create) => create())
  const decoder = stages.at(-1) as Transform
  posted.decoder = decoder
  decoder.on('data', (slice: Buffer) => {
    if (posted.ended) return
    if (slice.length > budget.left) finish(posted, 'tooLarge')
    else if (holdBytes(budget.buffered, slice.length)) {
      budget.left -= slice.length
      posted.size += slice.length
      decoded = addChunk(decoded, slice)
    } else finish(posted, 'noRoom')
  })
  decoder.on('error', () => finishUnread(posted))
  decoder.on('end', () => {
    if (posted.ended) return
    dropBytes(budget.buffered, posted.encodedSize)
    finishWith(posted, joinChunks(decoded))
  })
  // An error of one stage is an error of the last one.
  pipeline([Readable.from([body]), ...stages], () => {})
}

/** Removes a byte order mark, which a parser may ignore (RFC 8259 section 8.1). */
const withoutMark = (body: Buffer): Buffer =>
  body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body
