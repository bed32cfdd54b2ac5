import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { EndpointUrlOptions } from '../src/endpoint/endpointUrlOptions.ts'
import { isKeyrailError } from '../src/failure/keyrailError.ts'
import type { BatchOptions } from '../src/transport/batch.ts'
import { limitConcurrency } from '../src/transport/endpoint/limitConcurrency.ts'
import { http } from '../src/transport/endpoint/http.ts'
import type { HttpOptions } from '../src/transport/endpoint/http.ts'
import { retry } from '../src/transport/retry.ts'
import type { Transport } from '../src/transport/transport.ts'
import { raw, startFaultServer } from './faultServer.ts'
import type { FaultServer, Script, Seen } from './faultServer.ts'
import { until, useFakeClock } from './useFakeClock.ts'
import { compose, deadline, joinBatches } from './layers.ts'

interface RpcCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

const getCalls = ({ body }: Seen): RpcCall[] => [JSON.parse(body) as RpcCall | RpcCall[]].flat()
const own = ({ id, params }: RpcCall): object => ({ jsonrpc: '2.0', id, result: params[0] })

/** Responds to single calls and batches. `change` can replace the response to a batch. */
const echo =
  (change: (items: object[], calls: readonly RpcCall[]) => unknown = (items) => items): Script =>
  (seen, response) => {
    const calls = getCalls(seen)
    const items = calls.map(own)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(seen.body.startsWith('[') ? change(items, calls) : items[0]))
  }

let server: FaultServer
let transport: Transport
beforeEach(async () => {
  server = await startFaultServer(echo())
})
afterEach(async () => {
  vi.useRealTimers()
  transport.close()
  await server.close()
})

const open = (
  options: HttpOptions & { readonly retries?: number; readonly batch?: boolean | BatchOptions; maxInFlight?: number },
  address: EndpointUrlOptions = { url: server.url },
): Transport =>
  (transport = compose(
    joinBatches(options.batch)(
      limitConcurrency({ maxInFlight: options.maxInFlight })(http(address, { fetch: options.fetch })),
    ),
    retry({ retries: options.retries ?? 0, baseMs: 5 }),
    // The default of 10 seconds could fail a test on a slow machine.
    deadline({ timeoutMs: 60_000 }),
  ))

const wave = (count: number, from = 0, options = {}): Promise<unknown>[] =>
  Array.from({ length: count }, (_, at) => transport.request({ method: 'eth_call', params: [from + at] }, options))
const outcomes = async (calls: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(calls)).map((one) =>
    one.status === 'fulfilled' ? one.value : isKeyrailError(one.reason) ? one.reason.kind : one.reason,
  )
const sizes = (): number[] => server.seen.map((seen) => getCalls(seen).length)
const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

for (const [httpClient, options] of Object.entries({ 'node:http': {}, fetch: { fetch: globalThis.fetch } })) {
  describe(`batch through ${httpClient}`, () => {
    test('sends the calls of one tick as one request, and a single call without a batch', async () => {
      open(options)
      expect(await outcomes(wave(30))).toEqual(upTo(30))
      expect(await outcomes(wave(1))).toEqual([0])
      expect(sizes()).toEqual([30, 1])
      expect(server.seen[1]?.body.startsWith('{')).toBe(true)
    })

    test('matches responses by id, also if they are gzipped', async () => {
      open(options)
      server.script = (seen, response) => {
        const items = getCalls(seen).map(own).reverse()
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(items)))
      }
      expect(await outcomes(wave(50))).toEqual(upTo(50))
    })

    test('retries only failed calls, in one batch', async () => {
      open({ ...options, retries: 1 })
      let first = true
      server.script = echo((items, calls) => {
        if (!first) return items
        first = false
        return items.map((item, at) =>
          at % 2 ? { id: calls[at]?.id, error: { code: 429, message: 'slow down' } } : item,
        )
      })
      expect(await outcomes(wave(6))).toEqual(upTo(6))
      const [, ...again] = server.seen.map((seen) => getCalls(seen).map(({ params }) => params[0]))
      expect(again.flat().toSorted((a, b) => Number(a) - Number(b))).toEqual([1, 3, 5])
    })

    test.each([
      ['throttled', raw(429, 'Too Many Requests')],
      ['unavailable', raw(502, '<title>502 Bad Gateway</title>')],
      ['badResponse', raw(200, '[{"jsonrpc":"2.0","id":1,"resu')],
      ['network', (_seen, _response, socket) => socket.resetAndDestroy()],
      [
        'network',
        (_seen, response, socket) =>
          response.writeHead(200, { 'content-length': '500' }).write('[{"id":1,', () => socket.destroy()),
      ],
    ] as [string, Script][])('fails every call with %s', async (kind, script) => {
      open(options)
      server.script = script
      expect(await outcomes(wave(4))).toEqual([kind, kind, kind, kind])
    })

    test('learns the maximum batch size of a server, respects it, and repeats no call', async () => {
      open(options)
      const responded: unknown[] = []
      server.script = (seen, response, socket) => {
        const calls = getCalls(seen)
        if (calls.length > 7) return raw(413, 'batch too large')(seen, response, socket)
        responded.push(...calls.map(({ params }) => params[0]))
        echo()(seen, response, socket)
      }
      expect(await outcomes(wave(40))).toEqual(upTo(40))
      expect(responded.toSorted((a, b) => Number(a) - Number(b))).toEqual(upTo(40))
      server.seen.length = 0
      expect(await outcomes(wave(40))).toEqual(upTo(40))
      expect(Math.max(...sizes())).toBeLessThanOrEqual(7)
    })

    test('aborts one call of a batch alone, and the request once all its calls have ended', async () => {
      useFakeClock()
      open(options)
      let release = (): void => {}
      let gone = 0
      server.script = (seen, response, socket) => {
        response.on('close', () => gone++)
        release = () => echo()(seen, response, socket)
      }
      const one = new AbortController()
      const aborted = wave(1, 0, { signal: one.signal })
      const others = wave(2, 1)
      await until(() => server.seen.length === 1)
      one.abort('enough')
      expect(await outcomes(aborted)).toEqual(['enough'])
      release()
      expect(await outcomes(others)).toEqual([1, 2])
      await until(() => gone === 1)

      const all = new AbortController()
      const late = outcomes([...wave(2, 0, { signal: all.signal }), ...wave(1, 2, { timeoutMs: 60 })])
      await until(() => server.seen.length === 2)
      all.abort('enough')
      await vi.advanceTimersByTimeAsync(60)
      expect(await late).toEqual(['enough', 'enough', 'timeout'])
      await until(() => gone === 2)
    })

    test('gets a new key for each request, and never shows it', async () => {
      let keys = 0
      open(options, { rpcUrl: server.url, apiKey: () => `rotatingKeyNumber${++keys}` })
      await Promise.all(wave(3))
      server.script = raw(401, 'invalid key rotatingKeyNumber2')
      const failures = await Promise.allSettled(wave(2))
      expect(server.seen.map(({ path }) => path)).toEqual(['/rotatingKeyNumber1', '/rotatingKeyNumber2'])
      expect(failures.map((one) => String((one as PromiseRejectedResult).reason)).join()).not.toContain('rotating')
    })

    test('sends each write and each expensive call alone', async () => {
      open(options)
      await Promise.all(
        ['eth_call', 'eth_sendRawTransaction', 'eth_getLogs', 'eth_call', 'eth_sendRawTransaction'].map((method, at) =>
          transport.request({ method, params: [at] }),
        ),
      )
      expect(
        server.seen
          .map((seen) =>
            getCalls(seen)
              .map(({ method }) => method)
              .join(),
          )
          .toSorted(),
      ).toEqual(['eth_call,eth_call', 'eth_getLogs', 'eth_sendRawTransaction', 'eth_sendRawTransaction'])
    })

    test('keeps maxInFlight requests open while calls wait', async () => {
      open({ ...options, maxInFlight: 3, batch: { maxCalls: 10 } })
      const held: (() => void)[] = []
      let most = 0
      server.script = (...args) => {
        held.push(() => echo()(...args))
        most = Math.max(most, held.length)
        if (held.length < 3 && server.seen.length < 50) return
        setImmediate(() => {
          for (const respond of held.splice(0)) respond()
        })
      }
      expect(await outcomes(wave(500))).toEqual(upTo(500))
      expect(most).toBe(3)
      expect(sizes()).toEqual(Array.from({ length: 50 }, () => 10))
    })

    test('with many faults, every call gets its own result or a failure with a kind', async () => {
      open({ ...options, retries: 2, batch: { maxCalls: 25 }, maxInFlight: 8 })
      let seed = 42
      const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
      server.script = (seen, response, socket) => {
        const calls = getCalls(seen)
        const dice = random()
        if (calls.length > 15) return raw(400, 'batch too large')(seen, response, socket)
        if (dice < 0.04) return socket.resetAndDestroy()
        if (dice < 0.08) return raw(503, 'Service Unavailable')(seen, response, socket)
        if (dice < 0.1) return raw(200, '[{"jsonrpc":')(seen, response, socket)
        echo((items) =>
          items
            .filter(() => random() > 0.02)
            .flatMap((item) => (random() < 0.02 ? [item, item] : [item]))
            .toSorted(() => random() - 0.5),
        )(seen, response, socket)
      }
      let failed = 0
      for (let from = 0; from < 3_000; from += 300) {
        const ended = await outcomes(wave(300, from))
        for (const [at, value] of ended.entries())
          if (value !== from + at) {
            expect(value).toMatch(/^(network|unavailable|badResponse)$/)
            failed++
          }
      }
      expect(failed).toBeLessThan(150)
    })
  })
}

test('resends a batch immediately if the server had closed the keep-alive connection', async () => {
  open({})
  const used = new Set<number>()
  server.script = (seen, response, socket) => {
    if (used.has(seen.connection)) socket.resetAndDestroy()
    else echo()(seen, response, socket)
    used.add(seen.connection)
  }
  for (let n = 0; n < 3; n++) expect(await outcomes(wave(3))).toEqual(upTo(3))
  expect(sizes()).toEqual([3, 3, 3, 3, 3])
})

test('leaves no connection open after close, even with waiting calls', async () => {
  let arrived = 0
  const slow = createServer(() => arrived++)
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  const { port } = slow.address() as { port: number }
  open({ maxInFlight: 2, batch: { maxCalls: 5 } }, { url: `http://127.0.0.1:${port}` })
  const calls = wave(100)
  await until(() => arrived === 2)
  transport.close()
  expect(await outcomes(calls)).toEqual(Array.from({ length: 100 }, () => 'aborted'))
  await expect.poll(() => new Promise((resolve) => slow.getConnections((_, count) => resolve(count)))).toBe(0)
  slow.close()
})
