import { check, checkNames } from '../failure/check.ts'
import { createObserver } from './observe.ts'
import type { ObserverFeature } from './observe.ts'
import type { TransportEvent, TransportListener } from './transportEvent.ts'

/** Attributes of a span. */
export type TracingAttributes = Record<string, string | number | boolean>

/** The member that Keyrail uses of a `Context` of `@opentelemetry/api`. */
export interface TracingContext {
  setValue(key: symbol, value: unknown): TracingContext
}

/** The members that Keyrail uses of a `Span` of `@opentelemetry/api`. */
export interface TracingSpan {
  setAttributes(attributes: TracingAttributes): unknown
  addEvent(name: string, attributes: TracingAttributes): unknown
  setStatus(status: { code: number }): unknown
  end(): void
}

/** The member that Keyrail uses of a `Tracer` of `@opentelemetry/api`. */
export interface Tracer {
  startSpan(
    name: string,
    options?: { kind?: number; attributes?: TracingAttributes },
    context?: TracingContext,
  ): TracingSpan
}

/** The members that Keyrail uses of `@opentelemetry/api` 1.x. Pass the module: `import * as api from '@opentelemetry/api'`. */
export interface TracingApi {
  readonly trace: {
    getTracer(name: string): Tracer
    setSpan(context: TracingContext, span: TracingSpan): TracingContext
  }
  readonly context: {
    active(): TracingContext
    with(context: TracingContext, run: () => void): void
  }
}

/** Options of {@link tracing}. */
export interface TracingOptions {
  /** The module `@opentelemetry/api`. */
  readonly api: TracingApi
  /** Creates the spans. @default `api.trace.getTracer('@keyrail/core')` */
  readonly tracer?: Tracer | undefined
}

const CLIENT_KIND = 2
const ERROR_STATUS = 2

/** Host and port of a redacted URL. Spans hold nothing else of a URL. */
function toServerAttributes(redactedUrl: string): TracingAttributes {
  if (!URL.canParse(redactedUrl)) return {}
  const { hostname, port, protocol } = new URL(redactedUrl)
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) }
}

/** The attributes of an event, for its span or its span event. Values of 0, false and undefined are left out. */
function toAttributes(event: TransportEvent): TracingAttributes {
  const attributes: TracingAttributes = toServerAttributes(event.redactedUrl)
  const put = (name: string, value: string | number | boolean | undefined): void => {
    if (value) attributes[name] = value
  }
  if ('kind' in event) put('error.type', event.kind)
  if ('attempt' in event) put('keyrail.attempt', event.attempt)
  if ('batchSize' in event) put('keyrail.batch_size', event.batchSize)
  if ('waitMs' in event) put('keyrail.wait_ms', event.waitMs)
  if ('attempts' in event) {
    put('keyrail.attempts', event.attempts)
    put('keyrail.queued_ms', event.queuedMs)
    put('keyrail.joined', event.joined)
    put('keyrail.hedged', event.hedged)
  }
  if ('cached' in event) put('keyrail.cached', event.cached)
  if ('status' in event) put('http.response.status_code', event.status)
  if ('code' in event && event.code !== undefined) put('rpc.response.status_code', String(event.code))
  return attributes
}

/** The value of the `tracing` option of `createTransport`. Created by {@link tracing}. */
export type TracingFeature = ObserverFeature

/**
 * Creates one OpenTelemetry span of kind CLIENT per call. The span is active while the call is sent, and has an event for each attempt, retry
 * and reroute. Spans hold the host and port of the endpoint, but no params, no results and no error messages of the node. If the tracer or a
 * span throws, the call continues without a span, and `hookErrors` in the stats counts it.
 *
 * @param options - `{ api, tracer }`: the module `@opentelemetry/api`, and the tracer that creates the spans, by default
 *   `api.trace.getTracer('@keyrail/core')`.
 * @returns The value of the `tracing` option.
 * @throws {KeyrailError} kind `invalidRequest` if `api` is not the module or `tracer` is not a tracer.
 * @example
 * declare const api: TracingApi // import * as api from '@opentelemetry/api'
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', tracing: tracing({ api }) })
 * @see https://opentelemetry.io/docs/specs/semconv/rpc/json-rpc/
 */
export function tracing(options: TracingOptions): TracingFeature {
  checkNames('tracing', options, ['api', 'tracer'])
  const { api } = options
  check(api?.trace && api.context, `tracing takes { api }: import * as api from '@opentelemetry/api'`)
  const tracer = options.tracer ?? api.trace.getTracer('@keyrail/core')
  check(
    typeof tracer.startSpan === 'function',
    'tracing.tracer must be an OpenTelemetry Tracer: create it with api.trace.getTracer(name)',
  )
  return Object.freeze({
    watch: (onError: () => void) => createTracingListener(api, tracer, onError),
    createObserver,
  })
}

/** `onError` is called when the tracer or a span has thrown. The call continues without a span. */
function createTracingListener(api: TracingApi, tracer: Tracer, onError: () => void): TransportListener {
  // Span processors are the user's code, and can throw.
  const tryToRun = <T>(run: () => T): T | undefined => {
    try {
      return run()
    } catch {
      onError()
      return undefined
    }
  }

  return {
    isListening: () => true,
    wants: () => true,
    startCall: ({ method, redactedUrl }) => {
      const attributes = {
        'rpc.system.name': 'jsonrpc',
        'rpc.method': method,
        'jsonrpc.protocol.version': '2.0',
        ...toServerAttributes(redactedUrl),
      }
      const span = tryToRun(() => tracer.startSpan(method, { kind: CLIENT_KIND, attributes }, api.context.active()))
      if (!span) return { notify: () => {} }
      return {
        within: (run) => {
          const context = tryToRun(() => api.trace.setSpan(api.context.active(), span))
          if (context) api.context.with(context, run)
          else run()
        },
        // In a microtask, like hooks: a span processor that aborts a call must not interrupt a layer in the middle of its work.
        notify: (event) =>
          queueMicrotask(() =>
            tryToRun(() => {
              const { type } = event
              if (type !== 'response' && type !== 'failure')
                return span.addEvent(`keyrail.${type}`, toAttributes(event))
              span.setAttributes(toAttributes(event))
              if (type === 'failure') span.setStatus({ code: ERROR_STATUS })
              return span.end()
            }),
          ),
      }
    },
  }
}
