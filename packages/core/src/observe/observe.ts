import { now } from '../clock/now.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { Call } from '../transport/call/call.ts'
import type { Within } from '../transport/call/createDispatch.ts'
import type { Stats } from './stats.ts'
import type { TransportListener } from './transportEvent.ts'
import { recordEvent, observeCall } from './observeCall.ts'

/** A feature that observes calls: `stats()`, `hooks()`, `tracing()` or `diagnostics()`. */
export interface ObserverFeature {
  /** Creates the listener of one transport; undefined if the feature needs no events. `onError` is called when the user's code has thrown. */
  readonly watch: (onError: () => void) => TransportListener | undefined
  /** Each feature holds this function, so that only transports with one bundle it. */
  readonly createObserver: typeof createObserver
}

/** Observes the calls of one transport. */
export interface Observer {
  /** Observes the start of a call. If it returns a function, the call must be sent inside that function. */
  readonly start: (call: Call) => Within | undefined
  /** Observes the result (`ok`) or the failure (not `ok`) of a call. */
  readonly end: (call: Call, ok: boolean, value: unknown) => void
}

/**
 * Creates the observer of a transport. Observers never see params, results, a key or a URL with its key.
 *
 * @param features - The features that observe.
 * @param stats - Counts calls; undefined if nothing does.
 * @param redactedUrl - The URL without its key.
 */
export function createObserver(
  features: readonly ObserverFeature[],
  stats: Stats | undefined,
  redactedUrl: string,
): Observer {
  const onError = (): void => stats?.hookFailed()
  const listeners = features.map((feature) => feature.watch(onError)).filter((listener) => listener !== undefined)
  let lastId = 0

  const observe = (call: Call): Within | undefined => {
    const observed = observeCall({ id: ++lastId, method: call.method, redactedUrl }, listeners.filter(isListening))
    // Created apart from the assignment, for the reason given at onCancel.
    const emit: Call['emit'] = (event) => {
      stats?.record(event)
      recordEvent(observed, event)
    }
    call.emit = emit
    return observed.callListeners.find((listener) => listener.within)?.within
  }

  return {
    start: (call) => {
      stats?.started()
      if (listeners.some(isListening)) return observe(call)
      call.emit = stats?.record
      return undefined
    },
    end: (call, ok, value) => {
      const durationMs = now() - call.startedAt
      const kind = ok ? undefined : findKind(call, value)
      stats?.completed(kind, durationMs)
      // Most calls are only counted and need no event.
      if (call.emit !== stats?.record) call.emit?.({ type: 'ended', durationMs, kind, failure: ok ? undefined : value })
      // A record that outlives its call must not keep the listeners alive.
      call.emit = undefined
    },
  }
}

const isListening = (listener: TransportListener): boolean => listener.isListening()

/** Finds the kind of a failure. A value that is not a Keyrail error is usually the reason of the caller's abort. */
function findKind({ options }: Call, failure: unknown): FailureKind {
  if (isKeyrailError(failure)) return failure.kind
  return options.signal?.aborted ? 'aborted' : 'unknown'
}
