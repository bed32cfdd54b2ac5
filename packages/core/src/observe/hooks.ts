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
  Watch,
} from './transportEvent.ts'

/**
 * Functions that are told what happens to calls. Each call has one `onRequest` and then one `onResponse` or one `onFailure`.
 *
 * They are called right after what they tell of, and never waited for. What they throw, or a promise they give back rejects with, is dropped
 * and counted as `hookErrors` in the stats.
 */
export interface Hooks {
  /** A call comes in. */
  readonly onRequest?: ((event: RequestEvent) => void | Promise<void>) | undefined
  /** One HTTP request on behalf of a call has ended. */
  readonly onAttempt?: ((event: AttemptEvent) => void | Promise<void>) | undefined
  /** An attempt failed, and another follows. */
  readonly onRetry?: ((event: RetryEvent) => void | Promise<void>) | undefined
  /** An endpoint failed, and another is asked. */
  readonly onReroute?: ((event: RerouteEvent) => void | Promise<void>) | undefined
  /** A call was answered. */
  readonly onResponse?: ((event: ResponseEvent) => void | Promise<void>) | undefined
  /** A call failed. */
  readonly onFailure?: ((event: FailureEvent) => void | Promise<void>) | undefined
}

const nameOf: Readonly<Record<TransportEvent['type'], keyof Hooks>> = {
  request: 'onRequest',
  attempt: 'onAttempt',
  retry: 'onRetry',
  reroute: 'onReroute',
  response: 'onResponse',
  failure: 'onFailure',
}

/** What the `hooks` option of `createTransport` takes. Created by {@link hooks}. */
export interface HooksFeature extends ObserverFeature {
  readonly hooks: Hooks
}

/**
 * Calls your functions when calls start, fail, are retried and end. They run in a microtask, so what a hook does, such as an abort, cannot
 * interrupt a layer at work.
 *
 * @param given - The functions; see {@link Hooks}.
 * @throws {KeyrailError} kind `invalidRequest` if one is unknown or not a function.
 * @example
 * const onFailure = ({ method, kind, durationMs }: FailureEvent) => console.warn(method, kind, durationMs)
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', hooks: hooks({ onFailure }) })
 */
export function hooks(given: Hooks): HooksFeature {
  checkNames('hooks', given, Object.values(nameOf))
  for (const [name, hook] of Object.entries(given))
    check(
      hook === undefined || typeof hook === 'function',
      `hooks.${name} must be a function, not ${describeType(hook)}`,
    )
  const own = { ...given }
  return Object.freeze({ hooks: own, watch: (onError: () => void) => watchByHooks(own, onError), createObserver })
}

function watchByHooks(given: Hooks, onError: () => void): Watch {
  const functions = given as Partial<Record<keyof Hooks, (event: TransportEvent) => unknown>>
  const tell = (event: TransportEvent): void => {
    const hook = functions[nameOf[event.type]]
    if (hook) Promise.resolve(event).then(hook).catch(onError)
  }
  const wants: Watch['wants'] = (type) => functions[nameOf[type]] !== undefined
  const watcher = { tell }
  return {
    listens: () => true,
    wants,
    begin: (call) => {
      if (wants('request')) tell({ type: 'request', ...call })
      return watcher
    },
  }
}
