import { withTimeout } from '../../lib/withTimeout.ts'
import type { RequestTracer } from '../../proxy/requestTracer.ts'
import type { ServiceConfig } from '../serviceConfig.ts'
import { createRequestTracer } from './createRequestTracer.ts'

/** Traces requests, and sends their spans to a collector. */
export interface Tracing {
  readonly tracer: RequestTracer
  /** Sends the spans that have ended, and waits at most 3 seconds for that. */
  readonly close: () => Promise<void>
}

/** Options of {@link openTracing}. */
export interface TracingOptions {
  readonly config: NonNullable<ServiceConfig['tracing']>
  /** Of the program. */
  readonly version: string
  /** Called when spans cannot be sent, once until it works again. */
  readonly warn: (what: string) => void
}

/** How long ended spans wait for more, in milliseconds. */
const sendEveryMs = 1_000
const sendTimeoutMs = 5_000
const closeWithinMs = 3_000

/** The path that collectors have for traces, by the specification of OTLP. */
const toTracesUrl = (endpoint: string): string => {
  const url = new URL(endpoint)
  if (url.pathname === '/') url.pathname = '/v1/traces'
  return url.href
}

/** The status or the error code of a failed export. Its message is left out, because it names the endpoint. */
const formatReason = (error: (Error & { readonly code?: unknown }) | undefined): string => {
  const code = error?.code
  if (typeof code === 'number') return ` (HTTP ${code})`
  return typeof code === 'string' ? ` (${code})` : ''
}

/** Creates the tracing of a service. It sends spans as JSON by OTLP over HTTP, and drops those that do not fit into a queue of 2,048. */
export const openTracing = async ({ config, version, warn }: TracingOptions): Promise<Tracing> => {
  // Imported lazily: most deployments have no tracing.
  const [
    api,
    { AlwaysOnSampler, BatchSpanProcessor, TracerProvider },
    { OTLPTraceExporter },
    { resourceFromAttributes },
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const { endpoint, sampleRatio, trustCallers, headers = {} } = config
  const exporter = new OTLPTraceExporter({
    url: toTracesUrl(endpoint),
    // `readServiceConfig` has read the headers in files.
    headers: headers as Record<string, string>,
    timeoutMillis: sendTimeoutMs,
  })
  let isFailing = false
  const send: typeof exporter.export = (spans, done) =>
    exporter.export(spans, (result) => {
      const isSent = result.code === 0
      if (!isSent && !isFailing)
        warn(
          `spans could not be sent to tracing.endpoint${formatReason(result.error)}: check that it is a collector of OTLP over HTTP`,
        )
      isFailing = !isSent
      done(result)
    })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'keyrail', 'service.version': version }),
    // The request tracer has decided. The environment must not.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: { export: send, forceFlush: () => exporter.forceFlush(), shutdown: () => exporter.shutdown() },
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: sendTimeoutMs,
      }),
    ],
  })
  return {
    tracer: createRequestTracer({
      api,
      tracer: provider.getTracer('@keyrail/gateway', version),
      sampleRatio,
      trustCallers,
    }),
    close: async () => {
      await withTimeout(
        provider.shutdown().catch(() => {}),
        closeWithinMs,
      )
    },
  }
}
