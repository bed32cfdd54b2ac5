import { now } from '../clock/now.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { Call } from '../transport/call.ts'
import type { Within } from '../transport/createDispatch.ts'
import type { Stats } from './stats.ts'
import type { Watch } from './transportEvent.ts'
import { noteCall, watchCall } from './watchCall.ts'

/** A feature that observes calls: `stats()`, `hooks()`, `tracing()` or `diagnostics()`. */
export interface ObserverFeature {
  /** Starts to watch; undefined if there is nothing to watch with. `onError` is called when the user's code has thrown. */
  readonly watch: (onError: () => void) => Watch | undefined
  /** Each feature holds this function, so that only transports with one bundle it. */
  readonly createObserver: typeof createObserver
}

/** Observes the start and the end of calls. */
export interface Observer {
  /** Returns a function that must run what sends the call, or undefined. */
  readonly begin: (call: Call) => Within | undefined
  readonly end: (call: Call, ok: boolean, value: unknown) => void
}

/**
 * Creates the observer of a transport. Observers never see params, results, a key or a URL with its key.
 *
 * @param features - What observes.
 * @param stats - Counts calls.
 * @param redactedUrl - The URL without its key.
 */
export function createObserver(
  features: readonly ObserverFeature[],
  stats: Stats | undefined,
  redactedUrl: string,
): Observer {
  const onError = (): void => stats?.hookFailed()
  const watches = features.map((feature) => feature.watch(onError)).filter((watch) => watch !== undefined)
  let lastId = 0

  const watch = (call: Call): Within | undefined => {
    const watched = watchCall({ id: ++lastId, method: call.method, redactedUrl }, watches.filter(listens))
    // Created apart from the assignment, for the reason that onCancel gives.
    const note: Call['note'] = (event) => {
      stats?.note(event)
      noteCall(watched, event)
    }
    call.note = note
    return watched.watchers.find((watcher) => watcher.within)?.within
  }

  return {
    begin: (call) => {
      stats?.started()
      if (watches.some(listens)) return watch(call)
      call.note = stats?.note
      return undefined
    },
    end: (call, ok, value) => {
      const durationMs = now() - call.startedAt
      const kind = ok ? undefined : kindOf(call, value)
      stats?.settled(kind, durationMs)
      // Most calls are only counted, and need no event.
      if (call.note !== stats?.note) call.note?.({ type: 'ended', durationMs, kind, failure: ok ? undefined : value })
      // A record that outlives its call must not keep the listeners alive.
      call.note = undefined
    },
  }
}

const listens = (watch: Watch): boolean => watch.listens()

/** The kind of a failure. If it is not a Keyrail failure, it is usually the reason of the caller's own abort. */
function kindOf({ options }: Call, failure: unknown): FailureKind {
  if (isKeyrailError(failure)) return failure.kind
  return options.signal?.aborted ? 'aborted' : 'unknown'
}
