import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** What is under way on one connection. */
interface ConnectionState {
  /** Requests whose answer is not written yet. With pipelining there can be several. */
  open: number
  /** The last request whose header was read. */
  request: IncomingMessage | undefined
  /** What is to be done once nothing is open any more. */
  atRest: (() => void) | undefined
}

/** Counts the requests of each connection, so that a connection is closed after its last answer and not before. */
export interface Connections {
  readonly begin: (request: IncomingMessage) => void
  /** Call when an answer has been written or its caller has gone. */
  readonly finish: (request: IncomingMessage) => void
  /** Whether no later request was read on its connection: only the last answer may end a connection, since they go out in order. */
  readonly isLast: (request: IncomingMessage) => boolean
  /** Runs `then` once all whole requests of a connection are answered. For what cannot be answered by a response object. */
  readonly whenAnswered: (socket: Duplex, then: () => void) => void
  /** Requests under way on all connections. */
  readonly count: () => number
}

/** Makes the books of a server's connections. */
export const createConnections = (): Connections => {
  const states = new WeakMap<Duplex, ConnectionState>()
  let total = 0
  const stateOf = (socket: Duplex): ConnectionState => {
    const known = states.get(socket)
    if (known !== undefined) return known
    const state: ConnectionState = { open: 0, request: undefined, atRest: undefined }
    states.set(socket, state)
    return state
  }
  return {
    begin: (request) => {
      const state = stateOf(request.socket)
      state.open += 1
      state.request = request
      total += 1
    },
    finish: (request) => {
      const state = stateOf(request.socket)
      state.open -= 1
      total -= 1
      if (state.open === 0) state.atRest?.()
    },
    isLast: (request) => stateOf(request.socket).request === request,
    whenAnswered: (socket, then) => {
      const state = stateOf(socket)
      // A request whose body broke off is still open, and never will be answered in its own right.
      const broken = state.request !== undefined && !state.request.complete ? 1 : 0
      if (state.open - broken <= 0) then()
      else state.atRest = then
    },
    count: () => total,
  }
}
