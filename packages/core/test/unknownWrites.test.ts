import { repeatables } from '@keyrail/vectors'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { toMethodMap } from '../src/schema/methodGroups.ts'
import { callMethods } from '../src/schema/methodSlice.ts'
import { startFaultServer, raw } from './faultServer.ts'
import { memoryFetch } from './memoryFetch.ts'
import type { MemoryFetch } from './memoryFetch.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions } from './fullTransport.ts'

// A subscription ends with its connection, so `eth_subscribe` may be repeated.
const writes = repeatables
  .filter(({ method, expect: read }) => method && !read && method !== 'eth_subscribe')
  .map(({ method }) => method)

describe('a default transport and a server that responds with 502', () => {
  test('sends each method that is not a known read exactly once', async () => {
    const server = await startFaultServer(raw(502, 'Bad Gateway'))
    try {
      const transport = createFullTransport({ url: server.url, retry: { baseMs: 0 } })
      await Promise.all(
        writes.map((method) =>
          expect(transport.request({ method, params: [] })).rejects.toMatchObject({ retryable: false }),
        ),
      )
      const methods = server.seen.map(({ json }) => json.method)
      expect(methods.toSorted()).toEqual(writes.toSorted())
      transport.close()
    } finally {
      await server.close()
    }
  })

  test('sends a known read four times', async () => {
    const server = await startFaultServer(raw(502, 'Bad Gateway'))
    try {
      const transport = createFullTransport({ url: server.url, retry: { baseMs: 0 } })
      await expect(transport.request({ method: 'eth_gasPrice' })).rejects.toMatchObject({ retryable: true })
      expect(server.seen).toHaveLength(4)
      transport.close()
    } finally {
      await server.close()
    }
  })
})

describe('every way to send a call', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  const readMethods = [...toMethodMap(callMethods)].flatMap(([name, flags]) => (flags.includes('r') ? [name] : []))
  const reads = new Set(readMethods)
  const nearRead = fc
    .tuple(
      fc.constantFrom(...readMethods),
      fc.constantFrom('', '_', 'AndClear', '2', ' ', '\n'),
      fc.constantFrom('', ' ', 'x', '_'),
    )
    .map(([name, after, before]) => before + name + after)
  const method = fc
    .oneof(fc.constantFrom(...writes), nearRead, fc.string({ minLength: 1 }))
    .filter((name) => !reads.has(name))

  /** How a request fails after it has reached the server. */
  const faults: Readonly<Record<string, MemoryFetch['script']>> = {
    'status 502': () => ({ status: 502, text: 'Bad Gateway' }),
    'status 503': () => ({ status: 503, text: 'Service Unavailable' }),
    'a proxy that mentions a rate limit': () => ({ status: 503, text: 'throttling: too many requests' }),
    'a proxy that mentions a key': () => ({ status: 500, text: 'unauthorized: invalid API key' }),
    'a proxy that mentions the method': () => ({ status: 502, text: 'method not allowed by upstream plan' }),
    'a broken connection': () => ({ facts: { text: 'fetch failed' } }),
    'no JSON': () => ({ text: '<html>' }),
    'an internal error': ({ rpcCalls }) => ({
      text: JSON.stringify({
        jsonrpc: '2.0',
        id: rpcCalls[0]?.id,
        error: { code: -32_603, message: 'Internal error' },
      }),
    }),
    'after the timeout of the attempt': () => ({ status: 502, text: '', afterMs: 5_000 }),
  }

  test('sends a call that is not a known read exactly once, to one endpoint, not in a batch', async () => {
    vi.useFakeTimers()
    await fc.assert(
      fc.asyncProperty(
        method,
        fc.constantFrom(...Object.keys(faults)),
        fc.record({
          endpoints: fc.boolean(),
          batch: fc.boolean(),
          coalesce: fc.boolean(),
          cache: fc.boolean(),
          hedge: fc.boolean(),
          by: fc.constantFrom('request', 'batch', 'group'),
        }),
        async (name, fate, { endpoints, by, hedge, ...given }) => {
          const memory = memoryFetch(faults[fate])
          const urls = endpoints ? ['one', 'two'] : ['one']
          const transport = createFullTransport({
            endpoints: urls.map((host) => ({ url: `https://${host}.example` })),
            fetch: memory.fetch,
            attemptTimeoutMs: 500,
            hedge: hedge && { minMs: 1, maxRatio: 1 },
            ...given,
          } as FullOptions)
          const call = { method: name, params: [] }
          const via = by === 'group' ? transport.group() : transport
          const ends =
            by === 'batch'
              ? transport.batch([call, call] as never)
              : Promise.allSettled([via.request(call), via.request(call)])
          await vi.advanceTimersByTimeAsync(60_000)
          await ends
          const sent = memory.sent.flatMap(({ rpcCalls }) => rpcCalls.map((one) => one.method))
          expect(sent).toEqual([name, name])
          expect(memory.sent.filter(({ batched }) => batched)).toEqual([])
          transport.close()
        },
      ),
      { numRuns: 150 },
    )
  })
})
