import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as a collector receives it. */
export interface ReceivedSpan {
  readonly name: string
  /** 1: INTERNAL, 2: SERVER, 3: CLIENT. */
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
  readonly isError: boolean
  readonly durationMs: number
  readonly resource: Readonly<Record<string, unknown>>
}

/** An OTLP receiver over HTTP. */
export interface Collector {
  readonly url: string
  readonly spans: ReceivedSpan[]
  /** The path and headers of each request. */
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[]
  /** All bodies, as they were sent. */
  readonly text: () => string
  /** The status of responses. */
  status: number
  readonly stop: () => Promise<void>
}

interface KeyValue {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}
interface OtlpSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly KeyValue[]
  readonly status: { readonly code?: number }
}
interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

const toRecord = (list: readonly KeyValue[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]))

const readSpans = ({ resourceSpans }: OtlpRequest): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        name: span.name,
        kind: span.kind,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        attributes: toRecord(span.attributes),
        isError: span.status.code === 2,
        durationMs: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
        resource: toRecord(resource.attributes),
      })),
    ),
  )

/** Starts an OTLP receiver that decodes JSON. */
export const startCollector = async (): Promise<Collector> => {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      bodies.push(body)
      collector.requests.push({ path: request.url ?? '', headers: request.headers })
      if (collector.status === 200) collector.spans.push(...readSpans(JSON.parse(body) as OtlpRequest))
      response.writeHead(collector.status, { 'Content-Type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const collector: Collector = {
    url: `http://127.0.0.1:${port}`,
    spans: [],
    requests: [],
    text: () => bodies.join('\n'),
    status: 200,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return collector
}
