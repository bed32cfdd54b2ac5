import { createTransport, isKeyrailError } from '@keyrail/core'
import type { Layer } from '@keyrail/core'
import { failures } from '@keyrail/vectors'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFaultServer } from '../faultServer.ts'
import type { FaultServer } from '../faultServer.ts'
import { respondWith } from './respondWith.ts'
import { httpClients } from './httpClients.ts'
import { vectorFailure } from './vectorFailure.ts'
import { compose, deadline, joinBatches } from '../layers.ts'
import { limitConcurrency } from '../../src/transport/endpoint/limitConcurrency.ts'
import { http } from '../../src/transport/endpoint/http.ts'
import { getFailure } from '../getFailure.ts'

let server: FaultServer
beforeAll(async () => {
  server = await startFaultServer()
})
afterAll(() => server.close())

const ours = failures.filter(({ appliesTo }) => appliesTo.includes('ts'))
const single = ours.filter(({ request }) => !request.batch)
const batched = ours.filter(({ request }) => request.batch)
/** Sends every call in an explicit batch, so that expensive methods are batched too. */
const explicit =
  (together: object): Layer =>
  (next) =>
  (call, complete) =>
    next(Object.assign(call, { batch: together }), complete)

describe.each(httpClients)('by %s, over a real connection', (_, options) => {
  test.each(single)('$name', async ({ request: { method }, response, expect: expected }) => {
    server.script = vectorFailure({ response })
    const transport = createTransport({ url: server.url, retry: false, timeoutMs: 5_000, ...options })
    const failure = await getFailure(transport.request({ method, params: [] }))
    transport.close()
    const { kind, source, retryable, retryAfterMs, rpcError } = expected
    expect(isKeyrailError(failure), String(failure)).toBe(true)
    expect(failure).toMatchObject({ kind, source, retryable, ...(rpcError && { rpcError }) })
    expect(failure).toHaveProperty('retryAfterMs', retryAfterMs)
    for (const part of expected.messageHolds ?? []) expect(String(failure)).toContain(part)
    for (const part of expected.messageLacks ?? []) expect(String(failure)).not.toContain(part)
  })

  test.each(batched)('$name: of two calls in a batch', async ({ request: { method }, response, expect: expected }) => {
    const rejected = vectorFailure({ response })
    const normal = respondWith()
    server.script = (seen, ...rest) => (Array.isArray(seen.json) ? rejected : normal)(seen, ...rest)
    server.seen.length = 0
    const transport = compose(
      joinBatches()(limitConcurrency()(http({ url: server.url }, options))),
      deadline({ timeoutMs: 5_000 }),
      explicit({}),
    )
    const calls = ['0x1', '0x2'].map((param) => transport.request({ method, params: [param] }))
    const isWhole = (Object(response.body) as { readonly id?: unknown }).id !== 1
    if (expected.kind === 'batchTooLarge' || isWhole) {
      // The batch was rejected for its size or because of one call: retried one by one, each call gets its own response.
      expect(await Promise.all(calls)).toEqual(['0x1', '0x2'].map((param) => ({ method, params: [param] })))
      expect(server.seen.map(({ json }) => (Array.isArray(json) ? 'batch' : 'call'))).toEqual(['batch', 'call', 'call'])
    } else {
      const { kind, source, retryable } = expected
      for (const failure of await Promise.all(calls.map(getFailure)))
        expect(failure).toMatchObject({ kind, source, retryable })
    }
    transport.close()
  })
})
