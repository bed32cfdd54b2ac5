import { getWaitMs } from './getWaitMs.ts'
import { openSession } from './openSession.ts'
import type { NodeTopic, Session, SessionOptions } from './openSession.ts'

/** A change of a node's WebSocket, as it is logged. `lost`: it could not be opened, broke, or the node did not respond. */
export type NodeSocketState = 'connected' | 'lost' | 'wrongChain'

/** The subscriptions of one node over its WebSocket. */
export interface NodeSocket {
  /** Sets what to subscribe to. The connection is open as long as that is anything. */
  readonly setTopics: (topics: ReadonlySet<NodeTopic>) => void
  /** Whether the node has accepted the subscription on the open connection. */
  readonly isSubscribed: (topic: NodeTopic) => boolean
}

const longestRetryMs = 60_000
/** A connection that lasted this long starts the backoff over. */
const stableMs = 60_000

/** Options of a node's socket. */
export interface NodeSocketOptions extends SessionOptions {
  /** The longest wait before the first new attempt, in milliseconds. @see `getWaitMs` */
  readonly firstRetryMs: number
  /** Called on each change of the state. */
  readonly onState: (state: NodeSocketState) => void
}

/**
 * Creates the subscriptions of a node. A connection that breaks, is silent although it was sent a request, or sends something that is not JSON is
 * opened again after a backoff with jitter.
 */
export const createNodeSocket = (options: NodeSocketOptions): NodeSocket => {
  let topics: ReadonlySet<NodeTopic> = new Set()
  let session: Session | undefined
  let retryTimer: NodeJS.Timeout | undefined
  let failures = 0
  let state: NodeSocketState | undefined

  const setState = (next: NodeSocketState): void => {
    if (state === next) return
    state = next
    options.onState(next)
  }
  const open = (): void => {
    retryTimer = undefined
    const startedAt = performance.now()
    session = openSession(options, {
      getTopics: () => topics,
      onReady: () => setState('connected'),
      onEnd: (reason) => {
        session = undefined
        if (performance.now() - startedAt >= stableMs) failures = 0
        failures += 1
        const waitMs = getWaitMs(failures, { firstMs: options.firstRetryMs, longestMs: longestRetryMs })
        retryTimer = setTimeout(open, waitMs)
        setState(reason)
      },
    })
  }
  return {
    setTopics: (next) => {
      topics = next
      if (next.size > 0 && session === undefined && retryTimer === undefined) open()
      else if (next.size > 0) session?.update()
      else {
        session?.close()
        clearTimeout(retryTimer)
        session = undefined
        retryTimer = undefined
        failures = 0
        state = undefined
      }
    },
    isSubscribed: (topic) => session?.isSubscribed(topic) === true,
  }
}
