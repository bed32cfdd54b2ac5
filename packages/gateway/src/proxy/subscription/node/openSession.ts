import type { UpstreamHeaders } from '../../options/upstreamOptions.ts'
import { openWebSocket } from './openWebSocket.ts'
import type { NodeConnection } from './openWebSocket.ts'

/** A subscription that the service has at a node. */
export type NodeTopic = 'newHeads' | 'newPendingTransactions'

/** Options of a session. */
export interface SessionOptions {
  /** ws or wss. */
  readonly url: URL
  readonly headers: UpstreamHeaders
  /** A node of another chain is not subscribed to. */
  readonly chainId: number
  /** After this long without a message, the node is sent a request, in milliseconds. */
  readonly silenceMs: number
  /** How long the handshake or a request may take, in milliseconds. */
  readonly timeoutMs: number
  /** Called with the `result` of each notification, which is not checked. */
  readonly onNotification: (topic: NodeTopic, result: unknown) => void
}

/** One connection, from its opening to its end. */
export interface Session {
  /** Subscribes to new topics, and ends the subscriptions to those that are not wanted any more. */
  readonly update: () => void
  readonly isSubscribed: (topic: NodeTopic) => boolean
  readonly close: () => void
}

/** The callbacks of a session. */
export interface SessionHandlers {
  readonly getTopics: () => ReadonlySet<NodeTopic>
  /** The node is on the right chain. */
  readonly onReady: () => void
  /** Not called after `close`. */
  readonly onEnd: (reason: 'lost' | 'wrongChain') => void
}

interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: { readonly subscription?: unknown; readonly result?: unknown } | null
  readonly result?: unknown
}

/** Creates the requests in flight on a connection. */
const createRequests = (
  timeoutMs: number,
  { send, onTimeout }: { readonly send: (text: string) => void; readonly onTimeout: () => void },
) => {
  const pending = new Map<unknown, { readonly timer: NodeJS.Timeout; readonly done: (result: unknown) => void }>()
  let nextId = 1
  return {
    /** @param done - Gets `undefined` for an error. */
    send: (method: string, params: readonly string[], done: (result: unknown) => void): void => {
      const id = nextId++
      pending.set(id, { timer: setTimeout(onTimeout, timeoutMs), done })
      send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    },
    end: (id: unknown, result: unknown): void => {
      const request = pending.get(id)
      if (request === undefined) return
      pending.delete(id)
      clearTimeout(request.timer)
      request.done(result)
    },
    clear: (): void => {
      for (const { timer } of pending.values()) clearTimeout(timer)
      pending.clear()
    },
    size: (): number => pending.size,
  }
}

/**
 * Opens a connection to a node, checks its chain and subscribes. The session ends when the connection breaks, the node does not respond in time
 * or sends something that is not JSON.
 */
export const openSession = (
  { url, headers, chainId, silenceMs, timeoutMs, onNotification }: SessionOptions,
  { getTopics, onReady, onEnd }: SessionHandlers,
): Session => {
  /** The topics that were sent, with the subscription's id once the node has accepted it. */
  const sent = new Map<NodeTopic, string | undefined>()
  const bySubscription = new Map<string, NodeTopic>()
  const requests = createRequests(timeoutMs, { send: (text) => connection.send(text), onTimeout: () => fail('lost') })
  let isReady = false

  const stopTimers = (): void => {
    clearTimeout(handshake)
    clearTimeout(silence)
    requests.clear()
    bySubscription.clear()
  }
  const close = (): void => {
    stopTimers()
    connection.close()
  }
  const fail = (reason: 'lost' | 'wrongChain'): void => {
    close()
    onEnd(reason)
  }
  /** Checks the chain, and that the node responds at all. */
  const checkChain = (): void =>
    requests.send('eth_chainId', [], (result) => {
      if (typeof result !== 'string') fail('lost')
      else if (Number(result) !== chainId) fail('wrongChain')
      else if (!isReady) {
        isReady = true
        onReady()
        update()
      }
    })
  const unsubscribe = (topic: NodeTopic, subscription: string): void => {
    sent.delete(topic)
    bySubscription.delete(subscription)
    requests.send('eth_unsubscribe', [subscription], () => {})
  }
  const subscribe = (topic: NodeTopic): void => {
    sent.set(topic, undefined)
    requests.send('eth_subscribe', [topic], (result) => {
      // A topic that the node rejects is not requested again on this connection.
      if (typeof result !== 'string') return
      sent.set(topic, result)
      bySubscription.set(result, topic)
      update()
    })
  }
  const update = (): void => {
    if (!isReady) return
    const topics = getTopics()
    for (const topic of topics) if (!sent.has(topic)) subscribe(topic)
    for (const [topic, subscription] of sent)
      if (!topics.has(topic) && subscription !== undefined) unsubscribe(topic, subscription)
  }
  const handle = ({ id, method, params, result }: Message): void => {
    if (method === 'eth_subscription') {
      const topic = bySubscription.get(params?.subscription as string)
      if (topic !== undefined) onNotification(topic, params?.result)
    } else requests.end(id, result)
  }
  const connection: NodeConnection = openWebSocket(url, headers, {
    onOpen: () => {
      clearTimeout(handshake)
      silence.refresh()
      checkChain()
    },
    onMessage: (text) => {
      silence.refresh()
      const parsed = parseMessage(text)
      if (parsed === undefined) fail('lost')
      else handle(parsed)
    },
    onClose: () => {
      stopTimers()
      onEnd('lost')
    },
  })
  const handshake = setTimeout(() => fail('lost'), timeoutMs)
  const silence = setTimeout(() => {
    // Before the handshake is done, and while the node owes a response, there is a shorter time limit.
    if (isReady && requests.size() === 0) checkChain()
    silence.refresh()
  }, silenceMs)

  return {
    update,
    isSubscribed: (topic) => sent.get(topic) !== undefined,
    close,
  }
}

const parseMessage = (text: string): Message | undefined => {
  try {
    const message: unknown = JSON.parse(text)
    return typeof message === 'object' && message !== null ? message : undefined
  } catch {
    return undefined
  }
}
