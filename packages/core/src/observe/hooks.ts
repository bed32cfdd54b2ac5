import { check, checkNames } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import { createObserver } from './observe.ts'
import type { ObserverFeature } from './observe.ts'
import type {
  AttemptEvent,
  FailureEvent,
  RequestEvent,
  RerouteEvent,
  ResponseEvent,
  RetryEvent,
  TransportEvent,
  TransportListener,
} from './transportEvent.ts'

/**
 * Functions that are called with the events of calls. Each call causes one `onRequest`, and then one `onResponse` or one `onFailure`.
 *
 * A hook runs in a microtask right after its event. The call does not wait for it. If a hook throws, or returns a promise that rejects, the
 * error is dropped and counted as `hookErrors` in the stats.
 *
 * @see {@link hooks}
 */
export interface Hooks {
  /** A call starts. */
  readonly onRequest?: ((event: RequestEvent) => void | Promise<void>) | undefined
  /** An HTTP request for a call has succeeded or failed. */
  readonly onAttempt?: ((event: AttemptEvent) => void | Promise<void>) | undefined
  /** An attempt failed, and the transport will retry. */
  readonly onRetry?: ((event: RetryEvent) => void | Promise<void>) | undefined
  /** An endpoint failed, and the call is sent to another one. */
  readonly onReroute?: ((event: RerouteEvent) => void | Promise<void>) | undefined
  /** A call got its result. */
  readonly onResponse?: ((event: ResponseEvent) => void | Promise<void>) | undefined
  /** A call failed, after all its retries. Aborted calls fail too. */
  readonly onFailure?: ((event: FailureEvent) => void | Promise<void>) | undefined
}

const hookNames: Readonly<Record<TransportEvent['type'], keyof Hooks>> = {
  request: 'onRequest',
  attempt: 'onAttempt',
  retry: 'onRetry',
  reroute: 'onReroute',
  response: 'onResponse',
  failure: 'onFailure',
}

/** The value of the `hooks` option of `createTransport`. Created by {@link hooks}. */
export interface HooksFeature extends ObserverFeature {
  /** A copy of the functions passed to {@link hooks}. */
  readonly hooks: Hooks
}

/**
 * Calls your functions when calls start, succeed, fail and are retried. They run in a microtask, so a hook that aborts a call or closes the
 * transport cannot interrupt a layer in the middle of its work.
 *
 * @param given - The functions, all optional; see {@link Hooks}. They are copied, so later changes to the object have no effect.
 * @returns The value of the `hooks` option.
 * @throws {KeyrailError} kind `invalidRequest` if a name is unknown or a value is not a function.
 * @example
 * const onFailure = ({ method, kind, durationMs }: FailureEvent) => console.warn(method, kind, durationMs)
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', hooks: hooks({ onFailure }) })
 */
export function hooks(given: Hooks): HooksFeature {
  checkNames('hooks', given, Object.values(hookNames))
  for (const [name, hook] of Object.entries(given))
    check(
      hook === undefined || typeof hook === 'function',
      `hooks.${name} must be a function, not ${describeType(hook)}`,
    )
  const copy = { ...given }
  return Object.freeze({
    hooks: copy,
    watch: (onError: () => void) => createHooksListener(copy, onError),
    createObserver,
  })
}

function createHooksListener(given: Hooks, onError: () => void): TransportListener {
  const functions = given as Partial<Record<keyof Hooks, (event: TransportEvent) => unknown>>
  const notify = (event: TransportEvent): void => {
    const hook = functions[hookNames[event.type]]
    if (hook) Promise.resolve(event).then(hook).catch(onError)
  }
  const wants: TransportListener['wants'] = (type) => functions[hookNames[type]] !== undefined
  const callListener = { notify }
  return {
    isListening: () => true,
    wants,
    startCall: (call) => {
      if (wants('request')) notify({ type: 'request', ...call })
      return callListener
    },
  }
}
