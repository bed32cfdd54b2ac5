import type { FailureKind } from '../failure/failureKind.ts'
import { check, checkNames } from '../failure/invalid.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { Call, Layer, Settle } from '../transport/call.ts'
import { watchByDiagnostics } from './diagnostics.ts'
import { watchByHooks } from './hooks.ts'
import type { Hooks } from './hooks.ts'
import type { Stats } from './stats.ts'
import { watchByTracing } from './tracing.ts'
import type { TracingOptions } from './tracing.ts'
import type { Watch } from './transportEvent.ts'
import { watchCall } from './watchCall.ts'

/** Options of {@link observe}. */
export interface ObserveOptions {
  /** Counts, made by `createStats`. */
  readonly stats?: Stats | undefined
  /** Functions that are told what happens to calls. @default none */
  readonly hooks?: Hooks | undefined
  /** Makes one OpenTelemetry span for each call. @default none */
  readonly tracing?: TracingOptions | undefined
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
  checkNames('observe', options, ['stats', 'hooks', 'tracing'])
  const { stats, hooks, tracing } = options
  check(!stats || typeof stats.snapshot === 'function', 'stats must be what createStats() gives')
  const onError = (): void => stats?.hookFailed()
  const watches = [
    hooks && watchByHooks(hooks, onError),
    tracing && watchByTracing(tracing, onError),
    watchByDiagnostics(),
  ].filter((watch) => watch !== undefined)
  let lastId = 0

  return (next, label) => (call, settle) => {
    const { startedAt } = call
    stats?.started()
    // Most calls are watched by nobody, and are spared what follows.
    const listening = watches.some(listens) ? watches.filter(listens) : undefined
    const watched = listening && watchCall({ id: ++lastId, method: call.method, label }, listening)
    if (!watched) call.note = stats?.note
    else {
      // Made apart from where it is put, for the reason that onCancel has.
      const note: Call['note'] = (event) => {
        stats?.note(event)
        watched.note(event)
      }
      call.note = note
    }
    const end: Settle = (ok, value) => {
      const durationMs = performance.now() - startedAt
      const kind = ok ? undefined : kindOf(call, value)
      stats?.settled(kind, durationMs)
      watched?.settled(kind, value, durationMs)
      // Whoever keeps the record of a call that is over keeps no listeners with it.
      call.note = undefined
      settle(ok, value)
    }
    if (watched) watched.within(() => next(call, end))
    else next(call, stats ? end : settle)
  }
}

const listens = (watch: Watch): boolean => watch.listens()

/** What is no failure of ours is mostly the reason of the caller's own abort. */
function kindOf({ options }: Call, failure: unknown): FailureKind {
  if (isKeyrailError(failure)) return failure.kind
  return options.signal?.aborted ? 'aborted' : 'unknown'
}
