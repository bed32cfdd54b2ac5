import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** What is in flight on one connection. */
interface ConnectionState {
  /** Requests whose answer is not written yet. With pipelining there can be several. */
  open: number
  /** The last request whose header was read, and its response. */
  request: IncomingMessage | undefined
  response: ServerResponse | undefined
  /** What begins the requests that wait for their turn. */
  readonly waiting: (() => void)[]
  /** What waits is let go when the connection ends. */
  watched: boolean
  /** What is to be done once nothing is open any more. */
  atRest: (() => void) | undefined
}

/** Counts the requests of each connection, so that a connection is closed after its last answer and not before. */
export interface Connections {
  /**
   * Whether a request may begin at once. One of a long pipeline begins, by `later`, when those before it have been answered: what
   * one connection asks for must not take all that there is. Where too many wait its connection is cut.
   */
  readonly mayBegin: (request: IncomingMessage, response: ServerResponse) => boolean
  readonly later: (request: IncomingMessage, begin: () => void) => void
  readonly begin: (request: IncomingMessage) => void
  /** Call when an answer has been written or its caller has gone. */
  readonly finish: (request: IncomingMessage) => void
  /** Whether no later request was read on its connection: only the last answer may end a connection, since they go out in order. */
  readonly isLast: (request: IncomingMessage) => boolean
  /** Runs `then` once all whole requests of a connection are answered. For what cannot be answered by a response object. */
  readonly whenAnswered: (socket: Duplex, then: () => void) => void
  /**
   * Told that a caller will send no more. It may wait for its answer, or be gone: on the wire that is the same. So it has a while,
   * and then its connection is cut, but for an answer that is being written.
   */
  readonly halfClosed: (socket: Duplex) => void
  /** Requests in flight on all connections. */
  readonly count: () => number
}

/** Requests of one connection that are worked on at once. */
const atOnce = 4
/** Requests of one connection that wait. Each takes a hundred times the memory that it took bytes on the way. */
const mostWaiting = 500
/** Of all: one connection may have as many as are left, so that others find some. */
const mostWaitingOfAll = 10_000
/** How long a caller that sends no more is taken to wait, in milliseconds. */
const halfClosedMs = 2_000

/** Makes the books of a server's connections. */
export const createConnections = (): Connections => {
  const states = new WeakMap<Duplex, ConnectionState>()
  let total = 0
  let waitingOfAll = 0
  const stateOf = (socket: Duplex): ConnectionState => {
    const known = states.get(socket)
    if (known !== undefined) return known
    const state: ConnectionState = {
      open: 0,
      request: undefined,
      response: undefined,
      waiting: [],
      watched: false,
      atRest: undefined,
    }
    states.set(socket, state)
    return state
  }
  const restIfDone = (state: ConnectionState): void => {
    // A request whose body broke off is still open, and never will be answered in its own right.
    const broken = state.request?.complete === false ? 1 : 0
    if (state.atRest === undefined || state.waiting.length > 0 || state.open > broken) return
    const then = state.atRest
    state.atRest = undefined
    then()
  }
  return {
    mayBegin: (request, response) => {
      const state = stateOf(request.socket)
      state.response = response
      return state.open < atOnce && state.waiting.length === 0
    },
    later: ({ socket }, begin) => {
      // What was read with the request that had it cut comes here all the same.
      if (socket.destroyed) return
      const state = stateOf(socket)
      const { waiting } = state
      if (!state.watched)
        socket.on('close', () => {
          waitingOfAll -= waiting.length
          waiting.length = 0
        })
      state.watched = true
      waiting.push(begin)
      waitingOfAll += 1
      if (waiting.length > Math.min(mostWaiting, mostWaitingOfAll - waitingOfAll)) socket.destroy()
      // What is not read yet stays with its caller.
      else socket.pause()
    },
    begin: (request) => {
      const state = stateOf(request.socket)
      state.open += 1
      state.request = request
      total += 1
    },
    finish: (request) => {
      const { socket } = request
      const state = stateOf(socket)
      state.open -= 1
      total -= 1
      const next = socket.destroyed ? undefined : state.waiting.shift()
      if (next !== undefined) {
        waitingOfAll -= 1
        if (state.waiting.length === 0) socket.resume()
        next()
      }
      restIfDone(state)
    },
    isLast: (request) => {
      const state = stateOf(request.socket)
      return state.request === request && state.waiting.length === 0
    },
    whenAnswered: (socket, then) => {
      const state = stateOf(socket)
      state.atRest = then
      restIfDone(state)
    },
    halfClosed: (socket) => {
      const state = states.get(socket)
      if (state === undefined || state.open === 0) return
      setTimeout(() => {
        if (state.open > 0 && state.response?.headersSent !== true) socket.destroy()
      }, halfClosedMs).unref()
    },
    count: () => total,
  }
}
