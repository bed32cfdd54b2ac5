import { checkNames } from '../src/failure/check.ts'
import { createObserver } from '../src/observe/observe.ts'
import { diagnostics } from '../src/observe/diagnostics.ts'
import { hooks } from '../src/observe/hooks.ts'
import type { Hooks } from '../src/observe/hooks.ts'
import type { Stats } from '../src/observe/stats.ts'
import { tracing } from '../src/observe/tracing.ts'
import type { TracingOptions } from '../src/observe/tracing.ts'
import { batch } from '../src/transport/batch.ts'
import type { BatchOptions } from '../src/transport/batch.ts'
import { cache } from '../src/transport/cache.ts'
import type { CacheOptions } from '../src/transport/cache.ts'
import type { LimitedEndpoint } from '../src/transport/endpoint/limitConcurrency.ts'
import type { Call, Layer } from '../src/transport/call/call.ts'
import { checkTimeout, createDeadlines } from '../src/transport/deadline.ts'
import type { DeadlineOptions } from '../src/transport/deadline.ts'
import { withHint } from '../src/transport/hints.ts'
import type { Endpoint } from '../src/transport/endpoint/http.ts'
import type { QueueEntry } from '../src/transport/call/queue.ts'
import { createStack } from '../src/transport/stack.ts'
import type { Transport } from '../src/transport/transport.ts'

export { retry } from '../src/transport/retry.ts'

/** Creates a transport of an endpoint and layers, the innermost first, to test layers separately. */
export function compose(
  endpoint: Endpoint & { readonly chainId?: number | undefined },
  ...layers: readonly Layer[]
): Transport {
  const { redactedUrl, dispatch, close } = createStack(endpoint, layers)
  return Object.freeze({ redactedUrl, request: dispatch, close, [Symbol.asyncDispose]: async () => close() })
}

interface Timed extends QueueEntry {
  readonly call: Call
}

/** The deadline of `createTransport` as a layer. */
export function deadline(options: DeadlineOptions = {}): Layer {
  checkNames('deadline', options, ['timeoutMs'])
  checkTimeout(options.timeoutMs)
  return (next, { redactedUrl }) => {
    const deadlines = createDeadlines<Timed>(options, redactedUrl, ({ call }) => call)
    return (call, complete) => {
      const timed: Timed = { call, before: undefined, after: undefined }
      deadlines.enter(timed)
      next(call, (ok, value) => {
        deadlines.leave(timed)
        complete(ok, value)
      })
    }
  }
}

/** The hints of `createTransport` as a layer. */
export function hints(): Layer {
  return (next) => (call, complete) => next(call, (ok, value) => complete(ok, ok ? value : withHint(value)))
}

/** The observers of {@link observe}. */
export interface ObserveOptions {
  readonly stats?: Stats | undefined
  readonly hooks?: Hooks | undefined
  readonly tracing?: TracingOptions | undefined
}

/** The observers of `createTransport` as the outermost layer, diagnostics channels included. */
export function observe({ stats, hooks: functions, tracing: options }: ObserveOptions = {}): Layer {
  const features = [functions && hooks(functions), options && tracing(options), diagnostics()]
  return (next, { redactedUrl }) => {
    const observer = createObserver(
      features.filter((feature) => feature !== undefined),
      stats,
      redactedUrl,
    )
    return (call, complete) => {
      const within = observer.start(call)
      const send = (): void =>
        next(call, (ok, value) => {
          observer.end(call, ok, value)
          complete(ok, value)
        })
      if (within) within(send)
      else send()
    }
  }
}

/** The batches of `createTransport`. `false` joins only the calls of explicit batches. */
export function joinBatches(options: boolean | BatchOptions = true): (endpoint: LimitedEndpoint) => Endpoint {
  return batch(typeof options === 'boolean' ? { join: options } : options).wrap
}

/** The cache of `createTransport` on a chain. */
export function cacheOn(chainId: number | undefined, options?: CacheOptions): Layer {
  const layer = cache(options)
  return (next, context) => layer(next, { ...context, chainId })
}
