import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** The state of one connection. */
interface ConnectionState {
  /** Requests whose response is not written yet. With pipelining there can be several. */
  open: number
  /** The last request whose header was read, and its response. */
  request: IncomingMessage | undefined
  response: ServerResponse | undefined
  /** Starts the requests that wait in the queue. */
  readonly queue: (() => void)[]
  /** A listener clears the queue when the connection ends. */
  hasCloseListener: boolean
  /** Called once no request is open. */
  onIdle: (() => void) | undefined
}

/** Tracks the requests of each connection, so that a connection is closed after its last response and not before. */
export interface Connections {
  /**
   * Starts a request at once, or when earlier requests of its pipeline have completed, so that one connection cannot use all capacity. A connection
   * with too many requests in the queue is cut.
   */
  readonly enqueue: (request: IncomingMessage, response: ServerResponse, start: () => void) => void
  readonly start: (request: IncomingMessage) => void
  /** Call this when a response was written or its caller disconnected. */
  readonly finish: (request: IncomingMessage) => void
  /** Whether no later request was read on its connection: only the last response may close a connection, because they are sent in order. */
  readonly isLast: (request: IncomingMessage) => boolean
  /** Whether no request is open on a connection. */
  readonly isIdle: (socket: Duplex) => boolean
  /** Calls `listener` once all complete requests of a connection have their responses. For a response without a response object. */
  readonly onceIdle: (socket: Duplex, listener: () => void) => void
  /**
   * Call this when a caller will send no more. It may be waiting for its response, or have disconnected: on the wire both look the same. After a grace period
   * its connection is cut, unless a response is being written.
   */
  readonly halfClosed: (socket: Duplex) => void
  /** Requests in flight on all connections. */
  readonly count: () => number
}

/** The most requests of one connection that are handled at the same time. */
const maxOpen = 4
/** The most requests of one connection in its queue. Each takes a hundred times as much memory as it had bytes on the wire. */
const maxQueued = 500
/** For all connections. One connection may have at most as many as are left, so that others get a fair share. */
const maxQueuedInTotal = 10_000
/** The grace period of a caller that will send no more, in milliseconds. */
const halfClosedGraceMs = 2_000

/** Creates the tracker of a server's connections. */
export const createConnections = (): Connections => {
  const states = new WeakMap<Duplex, ConnectionState>()
  let total = 0
  let queuedInTotal = 0
  const getState = (socket: Duplex): ConnectionState => {
    const known = states.get(socket)
    if (known !== undefined) return known
    const state: ConnectionState = {
      open: 0,
      request: undefined,
      response: undefined,
      queue: [],
      hasCloseListener: false,
      onIdle: undefined,
    }
    states.set(socket, state)
    return state
  }
  const checkIdle = (state: ConnectionState): void => {
    // A request whose body broke off stays open and never gets a response of its own.
    const broken = state.request?.complete === false ? 1 : 0
    if (state.onIdle === undefined || state.queue.length > 0 || state.open > broken) return
    const listener = state.onIdle
    state.onIdle = undefined
    listener()
  }
  return {
    enqueue: ({ socket }, response, start) => {
      const state = getState(socket)
      const { queue } = state
      state.response = response
      if (state.open < maxOpen && queue.length === 0) {
        start()
        return
      }
      // Requests that were parsed before the connection was cut still arrive here.
      if (socket.destroyed) return
      if (!state.hasCloseListener)
        socket.on('close', () => {
          queuedInTotal -= queue.length
          queue.length = 0
        })
      state.hasCloseListener = true
      queue.push(start)
      queuedInTotal += 1
      if (queue.length > Math.min(maxQueued, maxQueuedInTotal - queuedInTotal)) socket.destroy()
      // Backpressure: the caller keeps the bytes that are not read yet.
      else socket.pause()
    },
    start: (request) => {
      const state = getState(request.socket)
      state.open += 1
      state.request = request
      total += 1
    },
    finish: (request) => {
      const { socket } = request
      const state = getState(socket)
      state.open -= 1
      total -= 1
      // Otherwise an idle connection would keep its last request with everything that belongs to it.
      if (state.request === request) state.request = undefined
      if (state.response?.req === request) state.response = undefined
      const next = socket.destroyed ? undefined : state.queue.shift()
      if (next !== undefined) {
        queuedInTotal -= 1
        if (state.queue.length === 0) socket.resume()
        next()
      }
      checkIdle(state)
    },
    isLast: (request) => {
      const state = getState(request.socket)
      return state.request === request && state.queue.length === 0
    },
    isIdle: (socket) => {
      const state = states.get(socket)
      return state === undefined || (state.open === 0 && state.queue.length === 0)
    },
    onceIdle: (socket, listener) => {
      const state = getState(socket)
      state.onIdle = listener
      checkIdle(state)
    },
    halfClosed: (socket) => {
      const state = states.get(socket)
      if (state === undefined || state.open === 0) return
      setTimeout(() => {
        if (state.open > 0 && state.response?.headersSent !== true) socket.destroy()
      }, halfClosedGraceMs).unref()
    },
    count: () => total,
  }
}
