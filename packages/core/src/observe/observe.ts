import { now } from '../clock/now.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { check, checkNames } from '../failure/invalid.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { Call, Layer, Settle } from '../transport/call.ts'
import { watchByDiagnostics } from './diagnostics.ts'
import { watchByHooks } from './hooks.ts'
import type { Hooks } from './hooks.ts'
import type { Within } from '../transport/createDispatch.ts'
import type { Stats } from './stats.ts'
import { watchByTracing } from './tracing.ts'
import type { TracingOptions } from './tracing.ts'
import type { Watch } from './transportEvent.ts'
import { noteCall, watchCall } from './watchCall.ts'

/** Options of {@link observe}. */
export interface ObserveOptions {
  /** Counts, made by `createStats`. */
  readonly stats?: Stats | undefined
  /** Functions that are told what happens to calls. @default none */
  readonly hooks?: Hooks | undefined
  /** Makes one OpenTelemetry span for each call. @default none */
  readonly tracing?: TracingOptions | undefined
}

/** Told when calls begin and end. */
export interface Observer {
  /** What it gives back, if anything, must run what carries the call. */
  readonly begin: (call: Call) => Within | undefined
  readonly end: (call: Call, ok: boolean, value: unknown) => void
}

/**
 * Makes what {@link observe} is made of.
 *
 * @param options - As of `observe`.
 * @returns Begins to observe, given what may be printed of the address.
 */
export function createObserver(options: ObserveOptions): (redactedUrl: string) => Observer {
  checkNames('observe', options, ['stats', 'hooks', 'tracing'])
  const { stats, hooks, tracing } = options
  check(!stats || typeof stats.snapshot === 'function', 'stats must be what createStats() gives')
  const onError = (): void => stats?.hookFailed()
  const watches = [
    hooks && watchByHooks(hooks, onError),
    tracing && watchByTracing(tracing, onError),
    watchByDiagnostics(),
  ].filter((watch) => watch !== undefined)
  return (redactedUrl) => {
    let lastId = 0

    const watch = (call: Call): Within | undefined => {
      const watched = watchCall({ id: ++lastId, method: call.method, redactedUrl }, watches.filter(listens))
      // Made apart from where it is put, for the reason that onCancel has.
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
        // Most calls are watched by nobody, and are spared the event.
        if (call.note !== stats?.note) call.note?.({ type: 'ended', durationMs, kind, failure: ok ? undefined : value })
        // Whoever keeps the record of a call that is over keeps no listeners with it.
        call.note = undefined
      },
    }
  }
}

/**
 * Tells what happens to calls: to hooks, to OpenTelemetry, to `node:diagnostics_channel` where somebody has subscribed, and to stats.
 * Never params, results, a key or an address. It is the outermost layer, so that what it measures is what callers wait for.
 *
 * @param options - Who is told.
 * @throws {KeyrailError} kind `invalidRequest` where an option is wrong.
 * @example
 * const onFailure = ({ method, kind, durationMs }: FailureEvent) => console.warn(method, kind, durationMs)
 * const endpoint = gate()(http({ url: 'http://127.0.0.1:8545' }))
 * const transport = compose(endpoint, retry(), deadline(), observe({ hooks: { onFailure } }))
 */
export function observe(options: ObserveOptions = {}): Layer {
  const open = createObserver(options)
  return (next, redactedUrl) => {
    const observer = open(redactedUrl)
    return (call, settle) => {
      // Of an observer further out, to which this one is a layer like any other.
      const above = call.note
      const end: Settle = (ok, value) => {
        observer.end(call, ok, value)
        call.note = above
        settle(ok, value)
      }
      const within = observer.begin(call)
      if (above) call.note = both(call.note, above)
      if (within) within(() => next(call, end))
      else next(call, end)
    }
  }
}

/** Tells both, but of the end only the first: the other has its own. */
const both =
  (note: Call['note'], above: NonNullable<Call['note']>): Call['note'] =>
  (event) => {
    note?.(event)
    if (event.type !== 'ended') above(event)
  }

const listens = (watch: Watch): boolean => watch.listens()

/** What is no failure of ours is mostly the reason of the caller's own abort. */
function kindOf({ options }: Call, failure: unknown): FailureKind {
  if (isKeyrailError(failure)) return failure.kind
  return options.signal?.aborted ? 'aborted' : 'unknown'
}
