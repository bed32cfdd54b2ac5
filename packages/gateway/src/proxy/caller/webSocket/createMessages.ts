import { rejections } from '../../../errors/rejections.ts'
import { dropAllBytes, holdBytes } from '../../../lib/memoryBudget.ts'
import type { Network } from '../../../lib/network.ts'
import { sendRejection } from '../../request/endRequest.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import { handleBody } from '../../request/handleBody.ts'
import { readCallIds } from '../../request/readCallIds.ts'
import type { AuthorizedRequest, Reply, RequestContext } from '../../request/requestContext.ts'
import type { BodyPart, ResponseContent } from '../../request/responseParts.ts'
import { createRequestContext, disconnect } from '../../request/startRequest.ts'
import type { SubscriptionCalls } from '../../subscription/subscriptionCalls.ts'
import { minBytesPerSecond } from '../http/writeParts.ts'
import { createFrameHeader } from '../../../lib/textFrames.ts'

/** The messages of one connection: each is handled like the body of a POST. */
export interface Messages {
  /** Handles a message, or queues it if too many are in flight. */
  readonly add: (body: Buffer) => void
  /** Handles no message from now on, and lets those in flight complete. */
  readonly stop: () => void
  /** Call this when the connection has closed. */
  readonly disconnect: () => void
  readonly inFlight: () => number
  /** How many messages were handled. */
  readonly count: () => number
  /** Bytes of responses that the caller has not read. */
  readonly unflushedBytes: () => number
  /** When the caller must have read the first of them, by `performance.now`; `Infinity` if there are none. */
  readonly flushBy: () => number
  /** Whether the connection is paused, because too many messages are in flight. */
  readonly isPaused: () => boolean
}

/** The part of a connection that its messages need. */
export interface MessagesOptions {
  /** Of the network. */
  readonly name: Network
  readonly gateway: () => GatewayContext
  readonly authorized: () => AuthorizedRequest
  readonly subscriptions: () => SubscriptionCalls | undefined
  readonly write: (bytes: Buffer, flushed?: () => void) => void
  readonly isOpen: () => boolean
  /** Called when no message is in flight. */
  readonly onIdle: () => void
  readonly pause: () => void
  readonly resume: () => void
}

/** A message in flight. */
interface OpenMessage {
  readonly context: RequestContext
  readonly gateway: GatewayContext
  isSent: boolean
}

/** As for a POST, smaller bodies are not counted. */
const uncountedBytes = 4 * 1024
/** A shorter response is joined into one buffer. */
const joinedUpTo = 64 * 1024
/** Only so often a call that keeps the connection open is free, in milliseconds. viem sends one every 30 seconds. */
const keepAliveMs = 5_000

const toChunks = (body: string | readonly BodyPart[]): readonly Buffer[] => {
  const parts = typeof body === 'string' ? [body] : body
  // There are no streams among them: see `Reply.streams`.
  return parts.flatMap((part) => (typeof part === 'string' ? Buffer.from(part) : 'start' in part ? [] : part))
}

const toFrame = (chunks: readonly Buffer[]): { readonly parts: readonly Buffer[]; readonly total: number } => {
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
  const header = createFrameHeader(bytes)
  const total = header.length + bytes
  const parts = [header, ...chunks]
  return { parts: total <= joinedUpTo ? [Buffer.concat(parts, total)] : parts, total }
}

const createKeepAliveLimit = (): (() => boolean) => {
  let takenAt = -keepAliveMs
  return () => {
    const now = performance.now()
    if (now - takenAt < keepAliveMs) return false
    takenAt = now
    return true
  }
}

/** Creates the context of a message, as of a request. */
const createMessageContext = (
  { name, subscriptions }: MessagesOptions,
  {
    gateway,
    authorized,
    number,
    takeKeepAlive,
    send,
  }: {
    readonly gateway: GatewayContext
    readonly authorized: AuthorizedRequest
    /** 1 for the first message of its connection. */
    readonly number: number
    readonly takeKeepAlive: () => boolean
    readonly send: (body: ResponseContent['body']) => void
  },
): RequestContext => {
  const { context: opening, tenant, network } = authorized
  const calls = subscriptions()
  let release: (() => void) | undefined
  const reply: Reply = {
    transport: 'websocket',
    // Its frames must not be interleaved.
    streams: false,
    matchesIds: true,
    subscriptions: calls && {
      ...calls,
      run: (call, done) => {
        if (typeof facts.ids === 'object') release ??= calls.hold()
        calls.run(call, done)
      },
    },
    takeKeepAlive,
    afterBody: (_context, then) => then(),
    send: (_context, response) => {
      send(response.body)
      release?.()
    },
  }
  // Shows in the log which connection it belongs to.
  const identity = { caller: opening.caller, reply, requestId: `${opening.requestId}.${number}` }
  const context = createRequestContext(gateway, identity, tenant.share)
  const { facts } = context
  facts.network = name
  facts.tenant = tenant
  facts.chainId = network.group.chainId
  context.trace = gateway.tracer?.start(context)
  return context
}

/** Creates the messages of a connection. The caller is not read from while `maxInFlight` messages are in flight, or their responses unread. */
export const createMessages = (options: MessagesOptions): Messages => {
  const { write, isOpen } = options
  const queue: Buffer[] = []
  const open = new Set<OpenMessage>()
  let count = 0
  let unflushed = 0
  /** When each response that is being written must have been read, in their order. */
  const deadlines: number[] = []
  let isPaused = false
  let isStopped = false
  const takeKeepAlive = createKeepAliveLimit()

  const startQueued = (): void => {
    while (open.size < options.gateway().sockets.options.maxInFlight && !isStopped) {
      const body = queue.shift()
      if (body === undefined) break
      start(body)
    }
    const isFull = queue.length > 0
    if (isFull === isPaused) return
    isPaused = isFull
    if (isFull) options.pause()
    else options.resume()
  }
  const finish = (message: OpenMessage): void => {
    if (!open.delete(message)) return
    message.gateway.inFlight -= 1
    dropAllBytes(message.context.buffered)
    startQueued()
    if (open.size === 0) options.onIdle()
  }
  const send = (message: OpenMessage, body: ResponseContent['body']): void => {
    message.isSent = true
    if (body === undefined || !isOpen()) {
      finish(message)
      return
    }
    const { parts, total } = toFrame(toChunks(body))
    unflushed += total
    deadlines.push(performance.now() + message.gateway.limits.writeTimeoutMs + (unflushed / minBytesPerSecond) * 1_000)
    const flushed = (): void => {
      unflushed -= total
      deadlines.shift()
      finish(message)
    }
    for (const [index, part] of parts.entries()) write(part, index === parts.length - 1 ? flushed : undefined)
  }
  const start = (body: Buffer): void => {
    count += 1
    const gateway = options.gateway()
    const authorized = options.authorized()
    const network = gateway.networks.get(options.name)
    // A reload has removed it. The connection is closed soon.
    if (network === undefined) return
    const context = createMessageContext(options, {
      gateway,
      authorized: { ...authorized, network },
      number: count,
      takeKeepAlive,
      send: (content) => send(message, content),
    })
    const message: OpenMessage = { context, gateway, isSent: false }
    open.add(message)
    gateway.inFlight += 1
    if (body.length > uncountedBytes && !holdBytes(context.buffered, body.length)) {
      context.facts.ids = readCallIds(body)
      sendRejection(gateway, context, rejections.upstreamBusy())
    } else handleBody(gateway, { ...authorized, context, network }, body)
  }

  const stop = (): void => {
    isStopped = true
    queue.length = 0
  }
  return {
    add: (body) => {
      queue.push(body)
      startQueued()
    },
    stop,
    disconnect: () => {
      stop()
      for (const message of open) {
        if (!message.isSent) disconnect(message.gateway, message.context)
        finish(message)
      }
    },
    inFlight: () => open.size,
    count: () => count,
    unflushedBytes: () => unflushed,
    flushBy: () => deadlines[0] ?? Infinity,
    isPaused: () => isPaused,
  }
}
