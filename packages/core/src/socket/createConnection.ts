import { createSharedTimer } from '../clock/createSharedTimer.ts'
import { now } from '../clock/now.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { FailureContext, FailureFacts } from '../failure/createFailure.ts'
import type { KeyrailError } from '../failure/keyrailError.ts'
import { findChainMismatch } from '../message/findChainMismatch.ts'
import type { ExpectedChain } from '../message/findChainMismatch.ts'
import { parseJson } from '../message/parseJson.ts'
import { readResponse } from '../message/readResponse.ts'
import type { Call, Complete, Send } from '../transport/call/call.ts'
import { createCall } from '../transport/call/createCall.ts'
import { onCancel } from '../transport/call/onCancel.ts'
import { createSocketFailure } from './createSocketFailure.ts'
import { isKeepAlive } from './isKeepAlive.ts'
import type { OpenSocket, SocketEnd, SocketEvents } from './openSocket.ts'
import { getSocketCall } from './socketCall.ts'
import type { SocketNotification, Subscriber } from './socketCall.ts'
import { createSubscriptions } from './socketSubscriptions.ts'

/** How one connection is opened and watched. */
export interface ConnectionOptions {
  readonly open: (events: SocketEvents) => OpenSocket
  /** The URL without its key, until the URL of the connection is known. */
  readonly redactedUrl: string
  /** The chain that the connection must lead to. */
  readonly chain: ExpectedChain
  readonly heartbeatMs: number
  readonly maxResponseBytes: number
  /** Finds out why the server rejected a handshake, if the platform hides it; undefined if that is not possible. */
  readonly explain: ((done: (facts: FailureFacts | undefined) => void) => void) | undefined
  /** Called once when the connection ends, before its calls fail. `toFailure` is undefined if it ended because nobody used it. */
  readonly onEnd: (toFailure: ToFailure | undefined, openMs: number) => void
}

/** Creates the failure of a call that was not sent because the connection ended. */
export type ToFailure = (method: string) => KeyrailError

/** One connection. It is opened at once, and not again when it has ended. */
export interface Connection {
  /** Sends a call, as soon as the connection is open. `eth_subscribe` must have a subscriber. */
  readonly send: Send
  /** Ends the connection. Its calls and subscriptions fail with the facts. */
  readonly end: (facts: FailureFacts) => void
}

/** A call without a response. */
interface Pending {
  readonly call: Call
  readonly complete: Complete
  readonly body: string
  isSent: boolean
  isCanceled: boolean
}

/** How long opening a connection may take, then to find out why it was not opened, and the response to a heartbeat, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000
const EXPLAIN_TIMEOUT_MS = 4_000
const HEARTBEAT_TIMEOUT_MS = 5_000

/**
 * Opens a connection and matches responses with calls by their ids.
 *
 * One timer watches it. Until the connection is open, the timer limits how long that may take. Then it fires when nothing was received for
 * `heartbeatMs`: a connection without calls and subscriptions is closed, any other one has to respond to `eth_chainId` in 5 s.
 *
 * @param options - How it is opened and watched.
 */
export function createConnection(options: ConnectionOptions): Connection {
  const { redactedUrl, chain, heartbeatMs, maxResponseBytes, explain, onEnd } = options
  const pending = new Map<number, Pending>()
  const subscriptions = createSubscriptions()
  let lastId = 0
  let openedAt: number | undefined
  let lastReceivedAt = 0
  let heartbeat: Call | undefined
  let heartbeatAt: number | undefined
  let isExplaining = false
  let over = false

  const getContext = (method: string): FailureContext => ({ redactedUrl, ...socket.context(), method })

  /** Ends the connection; without facts because nobody uses it. */
  const end = (facts: FailureFacts | undefined, isDead = true): void => {
    if (over) return
    over = true
    timer.clear()
    socket.close(isDead)
    const openMs = openedAt === undefined ? 0 : now() - openedAt
    if (!facts) return onEnd(undefined, openMs)
    // The server does not name the message that is too large. A smaller one cannot be the one that it rejects.
    const lost: FailureFacts = facts.kind === 'invalidRequest' && openedAt ? { ...facts, kind: 'network' } : facts
    onEnd((method) => createSocketFailure(lost, getContext(method), false), openMs)
    const all = [...pending.values()].filter(({ isCanceled }) => !isCanceled)
    pending.clear()
    const largest = Math.max(...all.map(({ body }) => body.length))
    for (const { call, complete, body, isSent } of all)
      complete(false, createSocketFailure(body.length === largest ? facts : lost, getContext(call.method), isSent))
    subscriptions.endAll(createSocketFailure(lost, getContext('eth_subscribe'), true))
  }

  const write = (entry: Pending): void => {
    entry.isSent = true
    socket.send(entry.body)
  }

  const send: Send = (call, complete) => {
    const id = ++lastId
    const body = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(call.method)},"params":${call.params}}`
    const entry: Pending = { call, complete, body, isSent: false, isCanceled: false }
    pending.set(id, entry)
    onCancel(call, (reason) => {
      // A subscription that the server opens all the same must be ended, so its response is awaited.
      if (entry.isSent && call.method === 'eth_subscribe') entry.isCanceled = true
      else pending.delete(id)
      complete(false, reason)
    })
    if (openedAt !== undefined) write(entry)
  }

  const unsubscribe = (id: string): void => {
    subscriptions.remove(id)
    if (!over)
      socket.send(`{"jsonrpc":"2.0","id":${++lastId},"method":"eth_unsubscribe","params":[${JSON.stringify(id)}]}`)
  }

  /** Completes an `eth_subscribe` call. */
  const addSubscription = ({ call, complete, isCanceled }: Pending, id: unknown): void => {
    if (typeof id !== 'string') {
      const text = 'the result of eth_subscribe is not the id of a subscription'
      if (!isCanceled)
        complete(false, createFailure({ kind: 'badResponse', text, final: true }, getContext(call.method)))
      return
    }
    if (isCanceled) return unsubscribe(id)
    const subscriber = getSocketCall(call) as Subscriber
    if (subscriptions.add(id, subscriber)) {
      subscriber.unsubscribe = () => unsubscribe(id)
      return complete(true, id)
    }
    const facts: FailureFacts = { kind: 'badResponse', text: 'the server gave two subscriptions the same id' }
    complete(false, createSocketFailure(facts, getContext(call.method), true))
    end(facts)
  }

  const isSubscribing = (): boolean => [...pending.values()].some(({ call }) => call.method === 'eth_subscribe')

  /** The call that a response is for. An error without an id is about the only call there is: the server cannot read it. */
  const takePending = ({ id, error }: Message): Pending | undefined => {
    const isAboutOnly = id == null && error != null && pending.size === 1
    const [key = 0] = isAboutOnly ? pending.keys() : [typeof id === 'string' ? Number(id) : (id as number)]
    const entry = pending.get(key)
    pending.delete(key)
    return entry
  }

  const readMessage = (text: string, message: Message, method: string): ReturnType<typeof readResponse> => {
    if (text.length > maxResponseBytes) {
      const tooLarge = `the response is larger than maxResponseBytes (${maxResponseBytes})`
      return { kind: 'badResponse', text: tooLarge, final: true }
    }
    const id = message.id as number
    const read = readResponse({ status: 200, text, header: () => null }, { id, method }, message)
    const mismatch = 'result' in read && method === 'eth_chainId' && findChainMismatch(chain, read.result)
    return mismatch || read
  }

  const onResponse = (text: string, message: Message): void => {
    const entry = takePending(message)
    // The call was canceled, or the server has responded to it before.
    if (!entry) return
    const { call, complete, isCanceled } = entry
    const { method } = call
    const read = readMessage(text, message, method)
    if (!('result' in read)) {
      if (!isCanceled) complete(false, createFailure({ ...read, status: undefined }, getContext(method)))
    } else if (method === 'eth_subscribe') addSubscription(entry, read.result)
    else complete(true, read.result)
    if (method === 'eth_subscribe' && !isSubscribing()) subscriptions.clearEarly()
    // Everything else on this connection is from the wrong chain, too.
    if ('kind' in read && read.kind === 'wrongNetwork') end(read)
  }

  /** Passes a notification, or the end of a subscription, on to its subscriber. False if too many without a subscriber are stored. */
  const passOn = (notification: SocketNotification, text: string, message: Message): boolean => {
    if (message.error == null) return subscriptions.deliver(notification, isSubscribing)
    // The service has ended this subscription, for example because the allow list of the app is narrower now.
    const read = readMessage(text, { ...message, id: 0 }, 'eth_subscribe') as FailureFacts
    const failure = createFailure(read, getContext('eth_subscribe'))
    return subscriptions.end(notification.subscription, failure, isSubscribing)
  }

  const onMessage = (text: string): void => {
    lastReceivedAt = now()
    let message: Message
    try {
      message = Object(parseJson(text)) as Message
    } catch {
      if (isKeepAlive(text)) return
      // It may have been a notification, and no notification may be lost without an error.
      return end({ kind: 'badResponse', text: 'the server sent a message that is not JSON' })
    }
    if (message.method !== 'eth_subscription') return onResponse(text, message)
    const notification = Object(message.params) as SocketNotification
    // It is about no subscription.
    if (typeof notification.subscription !== 'string') return
    if (!passOn(notification, text, message))
      end({ kind: 'badResponse', text: 'the server sent too many notifications before the id of their subscription' })
  }

  /** Checks that the server responds, and that it is on the right chain. */
  const sendHeartbeat = (): void => {
    heartbeatAt = now()
    timer.set(HEARTBEAT_TIMEOUT_MS)
    // One that has no response, although the server sends other messages.
    heartbeat?.cancel?.(undefined)
    heartbeat = createCall('eth_chainId', '[]', {})
    send(heartbeat, () => {})
  }

  const onTimer = (): void => {
    const text = `no connection within ${CONNECT_TIMEOUT_MS} ms`
    // Node 22 reports nothing if the server rejects the handshake with 401.
    if (openedAt === undefined) return onSocketEnd({ facts: { kind: 'network', text }, isHidden: !isExplaining })
    if (heartbeatAt !== undefined && lastReceivedAt < heartbeatAt)
      return end({
        kind: 'network',
        text: 'the connection is dead: nothing was received, and no response to a heartbeat',
      })
    heartbeatAt = undefined
    const leftMs = lastReceivedAt + heartbeatMs - now()
    // Timers of the platform may fire a little early.
    if (leftMs >= 1) timer.set(leftMs)
    else if (pending.size + subscriptions.count() === 0) end(undefined, false)
    else sendHeartbeat()
  }
  const timer = createSharedTimer(onTimer)

  const onOpen = (): void => {
    openedAt = lastReceivedAt = now()
    const waiting = [...pending.values()]
    if (chain.id === undefined) timer.set(heartbeatMs)
    else sendHeartbeat()
    for (const entry of waiting) write(entry)
  }

  const onSocketEnd = ({ facts, isHidden }: SocketEnd): void => {
    if (!isHidden || !explain) return end(facts)
    isExplaining = true
    socket.close(true)
    timer.set(EXPLAIN_TIMEOUT_MS)
    const text = `${facts.text}, although the same URL responds to POST: the server, or a proxy, does not accept WebSocket`
    explain((found) => {
      if (!found) end({ ...facts, text })
      // The POST did not get through either, which says no more.
      else end(found.kind === 'network' ? facts : found)
    })
  }

  timer.set(CONNECT_TIMEOUT_MS)
  const socket = options.open({ onOpen, onMessage, onEnd: onSocketEnd })
  return { send, end: (facts) => end(facts, false) }
}

interface Message {
  readonly id?: unknown
  readonly error?: unknown
  readonly method?: unknown
  readonly params?: unknown
}
