import { createTransport } from '@keyrail/core'
import type { Transport } from '@keyrail/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startFaultServer } from '../faultServer.ts'
import type { FaultServer, Seen } from '../faultServer.ts'
import { createResponseBytes } from './responseBytes.ts'
import type { Framing } from './responseBytes.ts'
import { respondWith } from './respondWith.ts'
import { getCalls } from './getCalls.ts'
import { httpClients } from './httpClients.ts'
import { resetAt } from './resetAt.ts'
import { compose, deadline, joinBatches } from '../layers.ts'
import { limitConcurrency } from '../../src/transport/endpoint/limitConcurrency.ts'
import { http } from '../../src/transport/endpoint/http.ts'
import { getOutcome } from './getOutcome.ts'

let server: FaultServer
let transport: Transport
beforeEach(async () => {
  server = await startFaultServer()
})
afterEach(async () => {
  transport.close()
  await server.close()
})

const own = (param: string): object => ({ method: 'eth_call', params: [param] })
const send = (param: string, method = 'eth_call'): Promise<unknown> => transport.request({ method, params: [param] })
const countBytes = (framing: Framing, json: unknown): number => {
  const { head, body } = createResponseBytes({ json } as Seen, framing)
  return head.length + body.length
}
const framings: readonly Framing[] = ['length', 'chunked', 'close']
const cuts = framings.flatMap((framing) => [false, true].map((hard) => ({ framing, hard })))

describe.each(httpClients)('with %s, a response that is cut off at any byte', (_, options) => {
  describe.each(cuts)('framed by $framing, hard: $hard', ({ framing, hard }) => {
    test('is never accepted, and the call fails at once', async () => {
      transport = createTransport({ url: server.url, retry: false, timeoutMs: 60_000, ...options })
      // As long as any response below: an id has up to three digits.
      const size = countBytes(framing, { id: 100, ...own('0x2a') })
      for (let offset = 0; offset < size; offset++) {
        server.script = resetAt(offset, { framing, hard })
        const outcome = await getOutcome(send('0x2a'))
        // The last bytes may be only framing, or absent if the id is shorter: then the response is complete and may be accepted.
        if (typeof outcome === 'object') {
          expect(outcome, `after ${offset} bytes`).toEqual(own('0x2a'))
          expect(offset).toBeGreaterThanOrEqual(size - 2 - (framing === 'chunked' ? 8 : 0))
        } else expect(outcome, `after ${offset} bytes`).toMatch(/^(network|badResponse)$/)
      }
    })

    test('fails every call of a batch or none, and never mixes up results', async () => {
      transport = compose(
        joinBatches()(limitConcurrency()(http({ url: server.url }, options))),
        deadline({ timeoutMs: 60_000 }),
      )
      const params = ['0x1', '0x2', '0x3']
      const size = countBytes(
        framing,
        params.map((param) => ({ id: 1, ...own(param) })),
      )
      for (let offset = 0; offset < size; offset += 3) {
        server.script = resetAt(offset, { framing, hard })
        const outcomes = await Promise.all(params.map((param) => getOutcome(send(param))))
        if (typeof outcomes[0] === 'object') expect(outcomes).toEqual(params.map(own))
        else for (const outcome of outcomes) expect(outcome).toMatch(/^(network|badResponse)$/)
      }
    })
  })

  test('is retried, and then succeeds', async () => {
    transport = createTransport({ url: server.url, retry: { retries: 1, baseMs: 0 }, timeoutMs: 60_000, ...options })
    const size = countBytes('length', { id: 1, ...own('0x2a') })
    for (let offset = 0; offset < size; offset += 7) {
      let met = 0
      server.script = (...args) => (met++ ? respondWith() : resetAt(offset))(...args)
      expect(await send('0x2a'), `after ${offset} bytes`).toEqual(own('0x2a'))
      expect(met).toBe(2)
    }
  })

  test('is not retried for a transaction, and a complete response is accepted', async () => {
    transport = createTransport({ url: server.url, retry: { retries: 3, baseMs: 0 }, timeoutMs: 60_000, ...options })
    const raw = '0x02c0'
    const size = countBytes('length', { id: 1, method: 'eth_sendRawTransaction', params: [raw] })
    for (let offset = 0; offset < size; offset++) {
      server.seen.length = 0
      server.script = resetAt(offset)
      const outcome = await getOutcome(send(raw, 'eth_sendRawTransaction'))
      expect(outcome, `after ${offset} bytes`).toSatisfy((it: unknown) => /^(network|badResponse)$/.test(String(it)))
      expect(server.seen.map((seen) => getCalls(seen)[0]?.params)).toEqual([[raw]])
    }
  })
})

describe('with node:http, on a reused connection', () => {
  test('a read that is cut off before any byte is sent again at once, without the retry layer', async () => {
    transport = createTransport({ url: server.url, retry: false, timeoutMs: 60_000 })
    const size = countBytes('length', { id: 1, ...own('0x2a') })
    for (let offset = 0; offset < size; offset += 5) {
      server.script = respondWith()
      await send('0x1')
      const { connection } = server.seen.at(-1) as Seen
      server.script = (seen, ...rest) =>
        (seen.connection === connection ? resetAt(offset) : respondWith())(seen, ...rest)
      const outcome = await getOutcome(send('0x2a'))
      if (offset === 0) expect(outcome).toEqual(own('0x2a'))
      else expect(outcome, `after ${offset} bytes`).toMatch(/^(network|badResponse)$/)
    }
  })
})
