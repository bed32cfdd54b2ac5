import { now } from '../clock/now.ts'
import type { FailureFacts } from '../failure/createFailure.ts'
import { createFailure } from '../failure/createFailure.ts'
import { KeyrailError } from '../failure/keyrailError.ts'
import type { Send } from '../transport/call/call.ts'
import { createConnection } from './createConnection.ts'
import type { Connection, ConnectionOptions, ToFailure } from './createConnection.ts'

/** The WebSocket connections to one endpoint, one at a time. */
export interface Socket {
  readonly send: Send
  readonly close: () => void
}

/**
 * - `idle`: there is no connection. The next call opens one.
 * - `connected`: a connection is being opened or is open. It holds calls until it is open.
 * - `waiting`: the connection failed. The next call after `until` opens another one; calls before fail at once, so that they can go to another endpoint.
 * - `closed`: for good.
 */
type State =
  | { readonly name: 'idle' }
  | { readonly name: 'connected'; readonly connection: Connection }
  | { readonly name: 'waiting'; readonly until: number; readonly toFailure: ToFailure }
  | { readonly name: 'closed' }

/** The wait after a first failure is a random time up to the first number, and doubles with each further one up to the second, in milliseconds. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 10_000

/** A connection that was open for this long ends the series of failures, in milliseconds. */
const STABLE_MS = 60_000

/**
 * Creates the connections to one endpoint. It opens a connection only for a call, and never on its own: not after a failure, and not for
 * subscriptions that ended, because the subscriber knows where to resume.
 *
 * @param options - How each connection is opened and watched.
 */
export function createSocket(options: Omit<ConnectionOptions, 'onEnd'>): Socket {
  const { redactedUrl } = options
  let state: State = { name: 'idle' }
  /** The failures since a connection was stable. */
  let failures = 0

  const onEnd: ConnectionOptions['onEnd'] = (toFailure, openMs) => {
    if (state.name === 'closed') return
    if (openMs >= STABLE_MS) failures = 0
    const waitMs = Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures)
    if (toFailure) failures++
    state = toFailure ? { name: 'waiting', until: now() + waitMs, toFailure } : { name: 'idle' }
  }

  const connect = (): Connection => {
    const connection = createConnection({ ...options, onEnd })
    state = { name: 'connected', connection }
    return connection
  }

  const send: Send = (call, complete) => {
    if (state.name === 'connected') return state.connection.send(call, complete)
    if (state.name === 'closed')
      return complete(false, createFailure(closedFacts, { method: call.method, redactedUrl }))
    const retryAfterMs = state.name === 'waiting' ? Math.ceil(state.until - now()) : 0
    if (state.name === 'waiting' && retryAfterMs > 0) {
      const failure = state.toFailure(call.method)
      const { message, retryable } = failure
      return complete(false, retryable ? new KeyrailError(message, { ...failure, retryAfterMs }) : failure)
    }
    connect().send(call, complete)
  }

  return {
    send,
    close: () => {
      const before = state
      state = { name: 'closed' }
      if (before.name === 'connected') before.connection.end(closedFacts)
    },
  }
}

const closedFacts: FailureFacts = { kind: 'aborted', text: 'the transport is closed' }
