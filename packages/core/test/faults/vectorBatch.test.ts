import { batch, createTransport, isKeyrailError } from '@keyrail/core'
import batches from '@keyrail/vectors/batches.json' with { type: 'json' }
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFaultServer } from '../faultServer.ts'
import type { FaultServer } from '../faultServer.ts'
import { answering } from './answering.ts'
import { callsOf } from './callsOf.ts'
import { httpClients } from './carriers.ts'
import { vectorBatch } from './vectorBatch.ts'

let server: FaultServer
beforeAll(async () => {
  server = await startFaultServer()
})
afterAll(() => server.close())

/** What must become of one call: a result, a failure, or that it is made again, and then answered. */
interface Wanted {
  readonly result?: unknown
  readonly kind?: string
  readonly source?: string
  readonly retryable?: boolean
  readonly again?: true
}

const ours = batches.filter(({ appliesTo }) => appliesTo.includes('ts'))

describe.each(httpClients)('by %s, a batch over a real connection', (_, options) => {
  test.each(ours)('$name', async ({ methods, response, expect: expected }) => {
    let requests = 0
    server.seen.length = 0
    server.script = (...met) => (requests++ ? answering() : vectorBatch(response))(...met)
    const transport = createTransport({
      url: server.url,
      retry: false,
      timeoutMs: 5_000,
      batch: batch({ join: false }),
      ...options,
    })
    const outcomes = await transport.batch(methods.map((method, at) => ({ method, params: [at] }) as never))
    transport.close()
    const wanted = expected.calls as readonly Wanted[]
    const again = wanted.flatMap((one, at) => (one.again ? [at] : []))
    expect(outcomes).toHaveLength(wanted.length)
    for (const [at, outcome] of outcomes.entries()) {
      const { again: isAgain, result, ...failure } = wanted[at] as Wanted
      if (isAgain) expect(outcome).toMatchObject({ value: { method: methods[at], params: [at] } })
      else if (failure.kind === undefined) expect(outcome).toEqual({ status: 'fulfilled', value: result })
      else {
        expect(outcome).toMatchObject({ status: 'rejected', reason: failure })
        expect(isKeyrailError((outcome as PromiseRejectedResult).reason)).toBe(true)
      }
    }
    // What was answered, or failed for good, is not asked again.
    const askedAgain = server.seen.slice(1).flatMap((seen) => callsOf(seen).map(({ params }) => params[0] as number))
    expect(askedAgain.toSorted((one, other) => one - other)).toEqual(again)
  })
})
