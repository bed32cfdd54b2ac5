import { batch, createTransport, isKeyrailError } from '@keyrail/core'
import batches from '@keyrail/vectors/batches.json' with { type: 'json' }
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFaultServer } from '../faultServer.ts'
import type { FaultServer } from '../faultServer.ts'
import { respondWith } from './respondWith.ts'
import { getCalls } from './getCalls.ts'
import { httpClients } from './httpClients.ts'
import { vectorBatch } from './vectorBatch.ts'

let server: FaultServer
beforeAll(async () => {
  server = await startFaultServer()
})
afterAll(() => server.close())

/** The expected outcome of one call: a result, a failure, or a retry that succeeds. */
interface ExpectedCall {
  readonly result?: unknown
  readonly kind?: string
  readonly source?: string
  readonly retryable?: boolean
  readonly resent?: true
}

const ours = batches.filter(({ appliesTo }) => appliesTo.includes('ts'))

describe.each(httpClients)('by %s, a batch over a real connection', (_, options) => {
  test.each(ours)('$name', async ({ methods, response, expect: expected }) => {
    let requests = 0
    server.seen.length = 0
    server.script = (...met) => (requests++ ? respondWith() : vectorBatch(response))(...met)
    const transport = createTransport({
      url: server.url,
      retry: false,
      timeoutMs: 5_000,
      batch: batch({ join: false }),
      ...options,
    })
    const outcomes = await transport.batch(methods.map((method, at) => ({ method, params: [at] }) as never))
    transport.close()
    const wanted = expected.calls as readonly ExpectedCall[]
    const resent = wanted.flatMap((one, at) => (one.resent ? [at] : []))
    expect(outcomes).toHaveLength(wanted.length)
    for (const [at, outcome] of outcomes.entries()) {
      const { resent: isResent, result, ...failure } = wanted[at] as ExpectedCall
      if (isResent) expect(outcome).toMatchObject({ value: { method: methods[at], params: [at] } })
      else if (failure.kind === undefined) expect(outcome).toEqual({ status: 'fulfilled', value: result })
      else {
        expect(outcome).toMatchObject({ status: 'rejected', reason: failure })
        expect(isKeyrailError((outcome as PromiseRejectedResult).reason)).toBe(true)
      }
    }
    // Calls with a result or a final failure are not sent again.
    const retriedParams = server.seen
      .slice(1)
      .flatMap((seen) => getCalls(seen).map(({ params }) => params[0] as number))
    expect(retriedParams.toSorted((one, other) => one - other)).toEqual(resent)
  })
})
