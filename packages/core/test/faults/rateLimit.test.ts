import { budget, createTransport } from '@keyrail/core'
import type { Transport } from '@keyrail/core'
import { failures } from '@keyrail/vectors'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startFaultServer } from '../faultServer.ts'
import type { FaultServer } from '../faultServer.ts'
import { useFakeClock } from '../useFakeClock.ts'
import { getCalls } from './getCalls.ts'
import { httpClients } from './httpClients.ts'
import { rateLimit } from './rateLimit.ts'
import { vectorFailure } from './vectorFailure.ts'
import { compose, deadline, joinBatches } from '../layers.ts'
import { limitConcurrency } from '../../src/transport/endpoint/limitConcurrency.ts'
import { http } from '../../src/transport/endpoint/http.ts'
import { retry } from '../../src/transport/retry.ts'
import { breaker } from '../../src/transport/breaker.ts'
import { getOutcome } from './getOutcome.ts'

let server: FaultServer
beforeEach(async () => {
  server = await startFaultServer()
  useFakeClock()
})
afterEach(() => {
  vi.useRealTimers()
  return server.close()
})

/** Advances fake time in steps of 10 ms, and lets sockets make progress in between, until a promise completes. */
const passTimeUntil = async <T>(promise: Promise<T>): Promise<T> => {
  let isDone = false
  const watched = promise.finally(() => (isDone = true))
  watched.catch(() => {})
  while (!isDone) {
    await vi.advanceTimersByTimeAsync(10)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return watched
}

/** The wordings that reject a read, named by their cases. */
const rejections = (kind: string): [string, ReturnType<typeof vectorFailure>][] =>
  failures
    .filter(({ expect: expected, request, response }) => {
      const soon = (expected.retryAfterMs ?? 0) <= 1_000
      const ofRead = /^eth_(blockNumber|call)$/.test(request.method) && !request.batch
      return expected.kind === kind && ofRead && soon && response.status !== 408
    })
    .map((one) => [one.name, vectorFailure(one)])
const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
const own = (param: number): object => ({ method: 'eth_call', params: [param] })

describe.each(httpClients)('by %s', (_, options) => {
  test.each(rejections('throttled'))('a limit per second is waited out: %s', async (_name, rejection) => {
    server.script = rateLimit({ calls: 3, windowMs: 200, rejection })
    const transport = compose(
      budget()(http({ url: server.url }, options)),
      retry({ retries: 20, baseMs: 100, capMs: 200 }),
      deadline({ timeoutMs: 600_000 }),
    )
    const calls = upTo(5).map((param) => transport.request({ method: 'eth_call', params: [param] }))
    expect(await passTimeUntil(Promise.all(calls))).toEqual(upTo(5).map(own))
    // The first window accepts three of the five.
    expect(server.seen.length).toBeGreaterThan(5)
    expect(server.seen.length).toBeLessThan(15)
    transport.close()
  })

  test('each call of a batch counts, and all succeed in the end', async () => {
    const rejection = vectorFailure({ response: { status: 429, body: 'slow down' } })
    server.script = rateLimit({ calls: 10, windowMs: 300, rejection })
    const transport = compose(
      joinBatches({ maxCalls: 5 })(limitConcurrency()(http({ url: server.url }, options))),
      retry({ retries: 20, baseMs: 50, capMs: 200 }),
      deadline({ timeoutMs: 600_000 }),
    )
    const calls = upTo(25).map((param) => transport.request({ method: 'eth_call', params: [param] }))
    expect(await passTimeUntil(Promise.all(calls))).toEqual(upTo(25).map(own))
    // The first window accepts two of the five batches.
    expect(server.seen.length).toBeGreaterThan(5)
    expect(server.seen.every((seen) => getCalls(seen).length <= 5)).toBe(true)
    transport.close()
  })

  test.each(rejections('quota'))('a daily limit fails at once, without retries: %s', async (_name, rejection) => {
    server.script = rateLimit({ calls: 2, windowMs: 86_400_000, rejection })
    const plain = createTransport({ url: server.url, timeoutMs: 5_000, ...options })
    const send = (transport: Transport = plain): Promise<unknown> =>
      getOutcome(transport.request({ method: 'eth_call', params: [1] }))
    expect([await send(), await send(), await send()]).toEqual([own(1), own(1), 'quota'])
    expect(server.seen).toHaveLength(3)
    plain.close()

    const careful = compose(budget()(breaker()(http({ url: server.url }, options))), retry(), deadline())
    expect([await send(careful), await send(careful), await send(careful)]).toEqual(['quota', 'quota', 'quota'])
    expect(server.seen).toHaveLength(4)
    careful.close()
  })
})
