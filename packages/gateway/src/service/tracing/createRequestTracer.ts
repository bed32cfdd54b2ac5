import type * as OpenTelemetry from '@opentelemetry/api'
import type {
  AttemptTrace,
  RequestTrace,
  RequestTracer,
  TracedAttempt,
  TracedRequest,
  TracedResult,
} from '../../proxy/requestTracer.ts'
import { formatTraceContext, parseTraceContext } from './traceContext.ts'
import type { TraceContext } from './traceContext.ts'

/** Options of {@link createRequestTracer}. */
export interface RequestTracerOptions {
  /** The module, which is imported lazily. */
  readonly api: typeof OpenTelemetry
  /** Records each span that it starts: sampling has been decided before. */
  readonly tracer: OpenTelemetry.Tracer
  /** The share of requests that are traced, 0 to 1. */
  readonly sampleRatio: number
  /** Whether a caller that sends a trace context decides instead. */
  readonly trustCallers: boolean
}

const noop = (): void => {}
/** The names that `tracing` of `@keyrail/core` uses too. */
const rpcAttributes = { 'rpc.system.name': 'jsonrpc', 'jsonrpc.protocol.version': '2.0' }

/**
 * Creates a tracer with one SERVER span for each sampled request, INTERNAL spans for its steps, and a CLIENT span for each attempt at a node.
 * By default a caller cannot decide that its requests are sampled, because spans cost CPU and money. Proxies pass its headers on.
 * @see https://opentelemetry.io/docs/specs/semconv/rpc/json-rpc/
 */
export const createRequestTracer = ({
  api,
  tracer,
  sampleRatio,
  trustCallers,
}: RequestTracerOptions): RequestTracer => ({
  start: (request, headers) => {
    const parent = headers && parseTraceContext(headers)
    const isSampled = parent !== undefined && trustCallers ? parent.isSampled : Math.random() < sampleRatio
    if (isSampled) return startTrace(api, tracer, { request, parent })
    return parent && passOn(parent)
  },
})

/** A trace that is not recorded here, but continues at the node. */
const passOn = (parent: TraceContext): RequestTrace => {
  const attempt: AttemptTrace = { headers: formatTraceContext({ ...parent, isSampled: false }), end: noop }
  return { step: noop, attempt: () => attempt, end: noop }
}

const startTrace = (
  { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace }: typeof OpenTelemetry,
  tracer: OpenTelemetry.Tracer,
  { request, parent }: { request: TracedRequest; parent: TraceContext | undefined },
): RequestTrace => {
  const outer =
    parent === undefined
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, {
          traceId: parent.traceId,
          spanId: parent.parentId,
          traceFlags: TraceFlags.SAMPLED,
          isRemote: true,
        })
  const span = tracer.startSpan('request', { kind: SpanKind.SERVER, startTime: request.startedAt }, outer)
  const inner = trace.setSpan(ROOT_CONTEXT, span)
  let ended = false

  const attempt = ({ method, network, upstream, attempt: number, calls }: TracedAttempt): AttemptTrace => {
    const attributes: OpenTelemetry.Attributes = {
      ...rpcAttributes,
      'rpc.method': method,
      'keyrail.network': network,
      'keyrail.upstream': upstream,
      'keyrail.attempt': number,
    }
    if (calls > 1) attributes['keyrail.batch_size'] = calls
    const sent = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes, startTime: performance.now() }, inner)
    const { traceId, spanId } = sent.spanContext()
    return {
      headers: formatTraceContext({ traceId, parentId: spanId, isSampled: true, state: parent?.state }),
      end: (kind) => {
        if (kind !== 'result') sent.setAttribute('error.type', kind)
        // An attempt is stopped if another one was faster or its caller left, and contracts decide about reverts: nothing failed.
        if (kind !== 'result' && kind !== 'aborted' && kind !== 'revert') sent.setStatus({ code: SpanStatusCode.ERROR })
        sent.end(performance.now())
      },
    }
  }
  const end = ({ status, network, method, calls, reason }: TracedResult): void => {
    if (ended) return
    ended = true
    if (method !== undefined) span.updateName(method)
    span.setAttributes({
      ...rpcAttributes,
      'rpc.method': method,
      'http.request.method': 'POST',
      'http.response.status_code': status,
      'error.type': reason,
      'keyrail.network': network,
      'keyrail.batch_size': method === 'batch' ? calls : undefined,
      'keyrail.request_id': request.requestId,
    })
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(performance.now())
  }
  return {
    step: (name, startedAt) => tracer.startSpan(name, { startTime: startedAt }, inner).end(performance.now()),
    attempt,
    end,
  }
}
