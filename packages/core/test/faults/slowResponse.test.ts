import { createTransport } from '@keyrail/core'
import type { Transport } from '@keyrail/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startFaultServer } from '../faultServer.ts'
import type { FaultServer, Script } from '../faultServer.ts'
import { until, useFakeClock } from '../useFakeClock.ts'
import type { Framing } from './responseBytes.ts'
import { respondWith } from './respondWith.ts'
import { httpClients } from './httpClients.ts'
import { halfOpen } from './halfOpen.ts'
import { slowResponse } from './slowResponse.ts'
import { compose, deadline, joinBatches } from '../layers.ts'
import { http } from '../../src/transport/endpoint/http.ts'
import { limitConcurrency } from '../../src/transport/endpoint/limitConcurrency.ts'
import { getOutcome } from './getOutcome.ts'

let server: FaultServer
let transport: Transport
beforeEach(async () => {
  server = await startFaultServer(respondWith())
  useFakeClock()
})
afterEach(async () => {
  vi.useRealTimers()
  transport.close()
  await server.close()
})

const framings: readonly Framing[] = ['length', 'chunked', 'close']
const parts = (['head', 'body'] as const).flatMap((part) => framings.map((framing) => ({ part, framing })))
const own = (param: string): object => ({ method: 'eth_call', params: [param] })
const send = (param: string, timeoutMs?: number): Promise<unknown> =>
  transport.request({ method: 'eth_call', params: [param] }, { timeoutMs })

/** Waits until the server has received a number of requests, then advances time. */
const passTime = async (requests: number, ms: number): Promise<void> => {
  await until(() => server.seen.length === requests)
  await vi.advanceTimersByTimeAsync(ms)
}

/** Counts the connections that were closed. */
const countClosed = (script: Script): { readonly script: Script; gone: number } => {
  const heard = {
    gone: 0,
    script: ((seen, response, socket) => {
      socket.on('close', () => heard.gone++)
      script(seen, response, socket)
    }) satisfies Script as Script,
  }
  return heard
}

describe.each(httpClients)('by %s', (_, options) => {
  describe.each(parts)('a $part that drips, framed by $framing', ({ part, framing }) => {
    test('is waited for within the time of the call', async () => {
      transport = createTransport({ url: server.url, retry: false, timeoutMs: 10_000, ...options })
      server.script = slowResponse(part, 9_000, { framing })
      const call = send('0x1')
      await passTime(1, 9_000)
      expect(await call).toEqual(own('0x1'))
    })

    test('ends with the time of the call, and so does its connection', async () => {
      transport = createTransport({ url: server.url, retry: false, ...options })
      const slow = countClosed(slowResponse(part, 60_000, { framing }))
      server.script = slow.script
      const outcome = getOutcome(send('0x1', 80))
      await passTime(1, 79)
      expect(slow.gone).toBe(0)
      await vi.advanceTimersByTimeAsync(1)
      expect(await outcome).toBe('timeout')
      await until(() => slow.gone === 1)
    })
  })

  test('calls of a batch wait for a slow one together, and each leaves at its own time', async () => {
    transport = compose(joinBatches()(limitConcurrency()(http({ url: server.url }, options))), deadline())
    server.script = slowResponse('body', 300)
    const outcomes = Promise.all([send('0x1'), send('0x2', 60), send('0x3')].map(getOutcome))
    await passTime(1, 300)
    expect(await outcomes).toEqual([own('0x1'), 'timeout', own('0x3')])
  })

  test.each([
    ['at once', 0],
    ['in the middle of its head', 20],
    ['in the middle of its response', 120],
  ])('a call to a server that goes silent %s fails at its timeout', async (_where, afterBytes) => {
    transport = createTransport({ url: server.url, retry: false, ...options })
    server.script = halfOpen({ afterBytes })
    const outcome = getOutcome(send('0x1', 80))
    await passTime(1, 80)
    expect(await outcome).toBe('timeout')
    server.script = respondWith()
    // Not on the silent connection.
    expect(await send('0x2')).toEqual(own('0x2'))
    expect(server.seen[1]?.connection).not.toBe(server.seen[0]?.connection)
  })

  test('an idle connection that has gone silent fails one call', async () => {
    transport = createTransport({ url: server.url, retry: false, ...options })
    await send('0x1')
    server.script = halfOpen()
    const outcome = getOutcome(send('0x2', 80))
    await passTime(2, 80)
    expect(await outcome).toBe('timeout')
    server.script = respondWith()
    expect(await send('0x3')).toEqual(own('0x3'))
  })

  test('if a server goes silent, the calls of a batch time out one by one, and then the request ends', async () => {
    transport = compose(joinBatches()(limitConcurrency()(http({ url: server.url }, options))), deadline())
    server.script = halfOpen()
    const outcomes = [60, 90, 120].map((ms) => getOutcome(send('0x1', ms)))
    await passTime(1, 60)
    expect(await outcomes[0]).toBe('timeout')
    await vi.advanceTimersByTimeAsync(60)
    expect(await Promise.all(outcomes)).toEqual(['timeout', 'timeout', 'timeout'])
    expect(server.seen).toHaveLength(1)
  })
})
