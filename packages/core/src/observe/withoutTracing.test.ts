import { createRequire } from 'node:module'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import * as api from '@opentelemetry/api'
import { context, SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { reply, raw, startFaultServer } from '../../test/faultServer.ts'
import type { FaultServer } from '../../test/faultServer.ts'
import type { HttpClient } from '../http/httpClient.ts'
import { createHttpClient as createFetchClient } from '../http/http.fetch.ts'
import { createHttpClient as createNodeClient } from '../http/http.node.ts'
import type { Send } from '../transport/call/call.ts'
import { http } from '../transport/endpoint/http.ts'
import { retry } from '../transport/retry.ts'
import { withoutTracing } from './withoutTracing.ts'
import { compose, observe } from '../../test/layers.ts'

const key = 'notARealKeyButOneOfThirtyNineCharacters'
const exporter = new InMemorySpanExporter()
// The test's server runs in this process too, and its spans are not of interest.
const instrumentations = [
  new HttpInstrumentation({ disableIncomingRequestInstrumentation: true }),
  new UndiciInstrumentation(),
]
let server: FaultServer

beforeAll(async () => {
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  for (const instrumentation of instrumentations) {
    instrumentation.setTracerProvider(provider)
    instrumentation.enable()
  }
  // The instrumentation patches the module on its first require().
  createRequire(import.meta.url)('http')
  server = await startFaultServer()
})

afterAll(async () => {
  for (const instrumentation of instrumentations) instrumentation.disable()
  await server.close()
})

afterEach(() => {
  context.disable()
  exporter.reset()
})

const post = async (httpClient: HttpClient, wrap: typeof withoutTracing): Promise<void> => {
  const target = { url: `${server.url}/v2/${key}`, headers: { 'content-type': 'application/json' } }
  await new Promise((resolve) => wrap(() => httpClient.send(target, '{"jsonrpc":"2.0","id":1}', resolve)))
  httpClient.close()
}

const seen = (): string =>
  JSON.stringify(exporter.getFinishedSpans().map(({ name, kind, attributes }) => [name, kind, attributes]))

describe.each([
  ['node:http', createNodeClient],
  ['fetch', createFetchClient],
])('a request by %s', (_, createClient) => {
  const options = { maxResponseBytes: 1_000 }

  test('is traced with its key if tracing is on', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager())
    await post(createClient(options), (run) => run())
    // A span of fetch ends a little later than the request.
    await expect.poll(() => exporter.getFinishedSpans()).toMatchObject([{ kind: SpanKind.CLIENT }])
    expect(seen()).toContain(key)
  })

  test('is not traced inside withoutTracing', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager())
    await post(createClient(options), withoutTracing)
    const untracedPath = server.seen.at(-1)?.path
    // Once the span of a traced request has ended, one of the untraced request would have ended too.
    await post(createClient(options), (run) => run())
    await expect.poll(() => exporter.getFinishedSpans()).toHaveLength(1)
    expect(untracedPath).toContain(key)
    expect(server.seen.at(-2)?.headers).not.toHaveProperty('traceparent')
  })

  test('leaves tracing on afterwards', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager())
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
    await post(createClient(options), withoutTracing)
    provider.getTracer('test').startSpan('afterwards').end()
    expect(exporter.getFinishedSpans()).toMatchObject([{ name: 'afterwards' }])
  })
})

describe('a call of a traced transport', () => {
  test.each([
    ['node:http', {}],
    ['fetch', { fetch: globalThis.fetch }],
  ])('through %s has exactly one span, without the key, even with retries', async (_, options) => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager())
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
    const endpoint = http({ baseUrl: server.url, apiKey: key }, options)
    const send: Send = (call, complete) => withoutTracing(() => endpoint.send(call, complete))
    const tracing = { api, tracer: provider.getTracer('@keyrail/core') }
    const transport = compose({ ...endpoint, send }, retry({ baseMs: 0 }), observe({ tracing }))
    let requests = 0
    server.script = (...given) => (requests++ < 2 ? raw(503, 'busy') : reply('0x1'))(...given)
    await provider.getTracer('test').startActiveSpan('caller', async (caller) => {
      expect(await transport.request({ method: 'eth_blockNumber' })).toBe('0x1')
      // Tracing works as before after the call.
      expect(trace.getActiveSpan()).toBe(caller)
      provider.getTracer('test').startSpan('next').end()
    })
    transport.close()
    expect(requests).toBe(3)
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['eth_blockNumber', 'next'])
    expect(seen()).not.toContain(key)
    server.script = reply('0x1')
  })
})

describe('withoutTracing', () => {
  test('runs the function if no OpenTelemetry SDK or no context manager is registered', () => {
    expect(withoutTracing(() => 7)).toBe(7)
    trace.setGlobalTracerProvider(new TracerProvider())
    expect(withoutTracing(() => 8)).toBe(8)
    trace.disable()
  })

  test('throws what the function throws', () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager())
    expect(() =>
      withoutTracing(() => {
        throw new Error('mine')
      }),
    ).toThrow('mine')
  })
})
