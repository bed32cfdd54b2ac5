import { rejections } from '../../../errors/rejections.ts'
import { dropAllBytes, holdBytes } from '../../../lib/memoryBudget.ts'
import { createFrameHeader } from '../../../lib/textFrames.ts'
import { sendRejection } from '../../request/endRequest.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import { handleBody } from '../../request/handleBody.ts'
import { readCallIds } from '../../request/readCallIds.ts'
import type { Reply, RequestContext } from '../../request/requestContext.ts'
import type { BodyPart, ResponseContent } from '../../request/responseParts.ts'
import { createRequestContext, disconnect } from '../../request/startRequest.ts'
import { minBytesPerSecond } from '../http/writeParts.ts'
import { closeIfIdle, isOpen, stopMessages } from './closeConnection.ts'
import type { OpenMessage, SocketConnection, SocketMessages } from './socketConnection.ts'

/** As for a POST, smaller bodies are not counted. */
const uncountedBytes = 4 * 1024
/** A shorter response is joined into one buffer. */
const joinedUpTo = 64 * 1024
/** Only so often a call that keeps the connection open is free, in milliseconds. viem sends one every 30 seconds. */
const keepAliveMs = 5_000

/** Creates the messages of a new connection. */
export const createMessages = (): SocketMessages => ({
  queue: [],
  open: new Set(),
  count: 0,
  unflushed: 0,
  deadlines: [],
  isPaused: false,
  isStopped: false,
  keptAliveAt: -keepAliveMs,
})

/**
 * Handles a message like the body of a POST, or queues it. The caller is not read from while `maxInFlight` messages are in flight, or their responses
 * unread.
 */
export const addMessage = (connection: SocketConnection, body: Buffer): void => {
  connection.messages.queue.push(body)
  startQueued(connection)
}

/** Stops the messages of a connection that has closed. */
export const disconnectMessages = (connection: SocketConnection): void => {
  stopMessages(connection)
  for (const message of connection.messages.open) {
    if (!message.isSent) disconnect(message.gateway, message.context)
    finish(connection, message)
  }
}

const startQueued = (connection: SocketConnection): void => {
  const { server, ws, messages } = connection
  const { queue, open } = messages
  while (open.size < server.gateway().config.webSocket.maxInFlight && !messages.isStopped) {
    const body = queue.shift()
    if (body === undefined) break
    start(connection, body)
  }
  const isFull = queue.length > 0
  if (isFull === messages.isPaused) return
  messages.isPaused = isFull
  if (isFull) ws.pause()
  else {
    // Nothing could be read while it was paused, not even a pong.
    connection.isAlive = true
    ws.resume()
  }
}

const start = (connection: SocketConnection, body: Buffer): void => {
  const { server, authorized, path, messages } = connection
  messages.count += 1
  const gateway = server.gateway()
  const network = gateway.networks.get(path.network)
  // A reload has removed it. The connection is closed soon.
  if (network === undefined) return
  const context = createMessageContext(connection, gateway, (content) => send(connection, message, content))
  context.facts.chainId = network.group.chainId
  context.trace = gateway.config.tracer?.start(context)
  const message: OpenMessage = { context, gateway, isSent: false }
  messages.open.add(message)
  gateway.inFlight += 1
  if (body.length > uncountedBytes && !holdBytes(context.buffered, body.length)) {
    context.facts.ids = readCallIds(body)
    sendRejection(gateway, context, rejections.upstreamBusy())
  } else handleBody(gateway, { ...authorized, context, network }, body)
}

/** Creates the context of a message, as of a request. */
const createMessageContext = (
  { authorized, path, messages, subscriber }: SocketConnection,
  gateway: GatewayContext,
  send: (body: ResponseContent['body']) => void,
): RequestContext => {
  const { context: opening, tenant } = authorized
  const calls = subscriber.calls()
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
    takeKeepAlive: () => takeKeepAlive(messages),
    afterBody: (_context, then) => then(),
    send: (_context, response) => {
      send(response.body)
      release?.()
    },
  }
  // Shows in the log which connection it belongs to.
  const identity = { caller: opening.caller, reply, requestId: `${opening.requestId}.${messages.count}` }
  const context = createRequestContext(gateway, identity, tenant.share)
  const { facts } = context
  facts.network = path.network
  facts.tenant = tenant
  return context
}

const takeKeepAlive = (messages: SocketMessages): boolean => {
  const now = performance.now()
  if (now - messages.keptAliveAt < keepAliveMs) return false
  messages.keptAliveAt = now
  return true
}

const send = (connection: SocketConnection, message: OpenMessage, body: ResponseContent['body']): void => {
  const { messages, writer } = connection
  message.isSent = true
  if (body === undefined || !isOpen(connection)) {
    finish(connection, message)
    return
  }
  const { parts, total } = toFrame(toChunks(body))
  messages.unflushed += total
  const readMs = message.gateway.limits.writeTimeoutMs + (messages.unflushed / minBytesPerSecond) * 1_000
  messages.deadlines.push(performance.now() + readMs)
  const flushed = (): void => {
    messages.unflushed -= total
    messages.deadlines.shift()
    finish(connection, message)
  }
  for (const [index, part] of parts.entries()) writer.write(part, index === parts.length - 1 ? flushed : undefined)
}

const finish = (connection: SocketConnection, message: OpenMessage): void => {
  if (!connection.messages.open.delete(message)) return
  message.gateway.inFlight -= 1
  dropAllBytes(message.context.buffered)
  startQueued(connection)
  closeIfIdle(connection)
}

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
