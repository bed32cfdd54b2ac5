import { check, checkNames } from '../failure/check.ts'
import { createObserver } from './observe.ts'
import type { ObserverFeature } from './observe.ts'
import type { TransportEvent, Watch } from './transportEvent.ts'

/** Values of a span's attributes, as far as they are used here. */
export type TracingAttributes = Record<string, string | number | boolean>

/** What is used of a `Context` of `@opentelemetry/api`. */
export interface TracingContext {
  setValue(key: symbol, value: unknown): TracingContext
}

/** What is used of a `Span`. */
export interface TracingSpan {
  setAttributes(attributes: TracingAttributes): unknown
  addEvent(name: string, attributes: TracingAttributes): unknown
  setStatus(status: { code: number }): unknown
  end(): void
}

/** What is used of a `Tracer`. */
export interface Tracer {
  startSpan(
    name: string,
    options?: { kind?: number; attributes?: TracingAttributes },
    context?: TracingContext,
  ): TracingSpan
}

/** What is used of `@opentelemetry/api` 1.x: pass the module itself. */
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

/** How calls are traced. */
export interface TracingOptions {
  /** The module `@opentelemetry/api`. */
  readonly api: TracingApi
  /** Makes the spans. @default `api.trace.getTracer('@keyrail/core')` */
  readonly tracer?: Tracer | undefined
}

const CLIENT_KIND = 2
const ERROR_STATUS = 2

/** Host and port of a redacted URL: all that spans hold of an address. */
function serverOf(redactedUrl: string): TracingAttributes {
  if (!URL.canParse(redactedUrl)) return {}
  const { hostname, port, protocol } = new URL(redactedUrl)
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) }
}

/** What an event adds to the attributes of its span or its span event. */
function attributesOf(event: TransportEvent): TracingAttributes {
  const attributes: TracingAttributes = serverOf(event.redactedUrl)
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

/** What the `tracing` option of `createTransport` takes. Created by {@link tracing}. */
export type TracingFeature = ObserverFeature

/**
 * Creates one OpenTelemetry span of kind CLIENT per call. It is active while the call is sent, and has an event for each attempt, retry and reroute.
 * Spans hold the host and port of the endpoint: no params, no results, and none of the node's words.
 *
 * @param options - `{ api, tracer }`: the module `@opentelemetry/api`, and the tracer, by default `api.trace.getTracer('@keyrail/core')`.
 * @throws {KeyrailError} kind `invalidRequest` if `api` or `tracer` is something else.
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
  return Object.freeze({ watch: (onError: () => void) => watchByTracing(api, tracer, onError), createObserver })
}

/** `onError` is called when the tracer or a span has thrown. The call goes on without a span. */
function watchByTracing(api: TracingApi, tracer: Tracer, onError: () => void): Watch {
  // Span processors are the user's own code.
  const attempt = <T>(run: () => T): T | undefined => {
    try {
      return run()
    } catch {
      onError()
      return undefined
    }
  }

  return {
    listens: () => true,
    wants: () => true,
    begin: ({ method, redactedUrl }) => {
      const attributes = {
        'rpc.system.name': 'jsonrpc',
        'rpc.method': method,
        'jsonrpc.protocol.version': '2.0',
        ...serverOf(redactedUrl),
      }
      const span = attempt(() => tracer.startSpan(method, { kind: CLIENT_KIND, attributes }, api.context.active()))
      if (!span) return { tell: () => {} }
      return {
        within: (run) => {
          const context = attempt(() => api.trace.setSpan(api.context.active(), span))
          if (context) api.context.with(context, run)
          else run()
        },
        // In a microtask, as hooks are: an abort in a span processor must not get between the layers that are at work just then.
        tell: (event) =>
          queueMicrotask(() =>
            attempt(() => {
              const { type } = event
              if (type !== 'response' && type !== 'failure')
                return span.addEvent(`keyrail.${type}`, attributesOf(event))
              span.setAttributes(attributesOf(event))
              if (type === 'failure') span.setStatus({ code: ERROR_STATUS })
              return span.end()
            }),
          ),
      }
    },
  }
}
