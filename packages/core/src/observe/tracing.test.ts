import type { Call } from '../transport/call/call.ts'
import * as api from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { raw, startFaultServer } from '../../test/faultServer.ts'
import type { Endpoint } from '../transport/endpoint/http.ts'
import { http } from '../transport/endpoint/http.ts'
import { retry } from '../transport/retry.ts'
import type { CallEvent } from '../transport/call/callEvent.ts'
import type { ObserveOptions } from '../../test/layers.ts'
import { createStats } from './stats.ts'
import type { TracingApi, TracingOptions } from './tracing.ts'
import { compose, observe } from '../../test/layers.ts'

const key = 'notARealKeyButOneOfThirtyNineCharacters'
const redactedUrl = 'https://a.example/v2/…ters'
const other = 'http://[::1]:8545/…'
const args = { method: 'eth_call', params: ['aParam'] }
const exporter = new InMemorySpanExporter()
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })

beforeAll(() => {
  api.trace.setGlobalTracerProvider(provider)
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager())
})
afterAll(() => {
  api.trace.disable()
  api.context.disable()
})
beforeEach(() => exporter.reset())

const createEndpoint = (events: readonly CallEvent[], of = redactedUrl, during = (): void => {}): Endpoint => ({
  redactedUrl: of,
  close: () => {},
  send: (call: Call, complete) => {
    during()
    for (const event of events) call.emit?.(event)
    complete(true, 'aResult')
  },
})

const traced = async (endpoint: Endpoint, options: ObserveOptions = { tracing: { api } }): Promise<ReadableSpan[]> => {
  expect(await compose(endpoint, observe(options)).request(args)).toBe('aResult')
  return exporter.getFinishedSpans()
}

describe('tracing', () => {
  test('creates one span of kind CLIENT per call, with the name and attributes of the JSON-RPC conventions', async () => {
    const [span, ...more] = await traced(createEndpoint([]))
    expect(more).toEqual([])
    expect(span).toMatchObject({
      name: 'eth_call',
      kind: api.SpanKind.CLIENT,
      status: { code: api.SpanStatusCode.UNSET },
      instrumentationScope: { name: '@keyrail/core' },
    })
    expect(span?.attributes).toEqual({
      'rpc.system.name': 'jsonrpc',
      'rpc.method': 'eth_call',
      'jsonrpc.protocol.version': '2.0',
      'server.address': 'a.example',
      'server.port': 443,
    })
  })

  test('has an event for each attempt, retry and reroute, and names the endpoint that responded', async () => {
    const [span] = await traced(
      createEndpoint([
        { type: 'attempt', redactedUrl, batchSize: 3 },
        { type: 'attempted', redactedUrl, durationMs: 2, kind: 'throttled' },
        { type: 'retry', kind: 'throttled', waitMs: 40 },
        { type: 'rerouted', redactedUrl, kind: 'network' },
        { type: 'queued', redactedUrl: other, waitMs: 7 },
        { type: 'hedged', redactedUrl: other },
        { type: 'attempt', redactedUrl: other, batchSize: 1 },
        { type: 'attempted', redactedUrl: other, durationMs: 2 },
      ]),
    )
    const a = { 'server.address': 'a.example', 'server.port': 443 }
    const b = { 'server.address': '[::1]', 'server.port': 8545 }
    expect(span?.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['keyrail.attempt', { ...a, 'keyrail.attempt': 1, 'keyrail.batch_size': 3, 'error.type': 'throttled' }],
      ['keyrail.retry', { ...a, 'keyrail.attempt': 1, 'keyrail.wait_ms': 40, 'error.type': 'throttled' }],
      ['keyrail.reroute', { ...a, 'keyrail.attempt': 1, 'error.type': 'network' }],
      ['keyrail.attempt', { ...b, 'keyrail.attempt': 2, 'keyrail.batch_size': 1 }],
    ])
    expect(span?.attributes).toMatchObject({
      ...b,
      'keyrail.attempts': 2,
      'keyrail.queued_ms': 7,
      'keyrail.hedged': true,
    })
  })

  test('reports whether the result was shared or cached', async () => {
    await traced(createEndpoint([{ type: 'joined' }]))
    await traced(createEndpoint([{ type: 'cached' }]))
    const [joined, cached] = exporter.getFinishedSpans().map(({ attributes }) => attributes)
    expect([joined?.['keyrail.joined'], joined?.['keyrail.cached']]).toEqual([true, undefined])
    expect([cached?.['keyrail.joined'], cached?.['keyrail.cached']]).toEqual([undefined, true])
  })

  test('leaves out the server if the redacted URL is not a URL', async () => {
    const [span] = await traced(createEndpoint([], '(several endpoints)'))
    expect(Object.keys(span?.attributes ?? {})).toEqual(['rpc.system.name', 'rpc.method', 'jsonrpc.protocol.version'])
  })

  test('is a child of the active span, and is active while the call is sent', async () => {
    let activeSpanId: string | undefined
    const during = (): void => {
      activeSpanId = api.trace.getActiveSpan()?.spanContext().spanId
    }
    const parent = provider.getTracer('test').startSpan('parent')
    await api.context.with(api.trace.setSpan(api.context.active(), parent), async () => {
      await traced(createEndpoint([], redactedUrl, during))
      expect(api.trace.getActiveSpan()).toBe(parent)
    })
    const [span] = exporter.getFinishedSpans()
    expect(span?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId)
    expect(activeSpanId).toBe(span?.spanContext().spanId)
  })

  test('accepts a tracer', async () => {
    const ownExporter = new InMemorySpanExporter()
    const own = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: ownExporter })] })
    expect(await traced(createEndpoint([]), { tracing: { api, tracer: own.getTracer('mine') } })).toEqual([])
    expect(ownExporter.getFinishedSpans()).toMatchObject([{ instrumentationScope: { name: 'mine' } }])
  })

  test('does not affect the call if a span processor throws', async () => {
    const broken = (): never => {
      throw new Error('of the processor')
    }
    const noop = async (): Promise<void> => {}
    for (const [at, errors] of [
      ['onStart', 1],
      ['onEnd', 1],
    ] as const) {
      const processor = { onStart: () => {}, onEnd: () => {}, forceFlush: noop, shutdown: noop, [at]: broken }
      const tracer = new TracerProvider({ spanProcessors: [processor] }).getTracer('broken')
      const stats = createStats()
      await traced(createEndpoint([{ type: 'attempted', redactedUrl, durationMs: 1 }]), {
        stats,
        tracing: { api, tracer },
      })
      expect(stats.snapshot()).toMatchObject({ answered: 1, hookErrors: errors })
    }
  })

  test('is rejected without the API', () => {
    const message = `tracing takes { api }: import * as api from '@opentelemetry/api'`
    expect(() => observe({ tracing: true as unknown as TracingOptions })).toThrow('tracing takes an object')
    for (const tracing of [{}, { api: {} }, { api: { trace: api.trace } }])
      expect(() => observe({ tracing: tracing as unknown as TracingOptions })).toThrow(message)
    const tracer = {} as unknown as TracingOptions['tracer']
    expect(() => observe({ tracing: { api: api as TracingApi, tracer } })).toThrow(
      'tracing.tracer must be an OpenTelemetry Tracer',
    )
  })

  test('records the kind and codes of a failed call over HTTP, but no key, params or error message of the node', async () => {
    const server = await startFaultServer(
      raw(429, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32005,"message":"theMessage ${key}","data":"theData"}}`),
    )
    const endpoint = http({ baseUrl: server.url, apiKey: key })
    const transport = compose(endpoint, retry({ retries: 0 }), observe({ tracing: { api } }))
    await expect(transport.request(args)).rejects.toMatchObject({ kind: 'throttled' })
    const [span] = exporter.getFinishedSpans()
    expect(span?.status).toEqual({ code: api.SpanStatusCode.ERROR })
    expect(span?.attributes).toMatchObject({
      'error.type': 'throttled',
      'http.response.status_code': 429,
      'rpc.response.status_code': '-32005',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(server.url).port),
    })
    const { name, attributes, events, status } = span as ReadableSpan
    for (const secret of [key, key.slice(-4), 'aParam', 'theMessage', 'theData'])
      expect(JSON.stringify({ name, attributes, events, status })).not.toContain(secret)
    transport.close()
    await server.close()
  })
})
