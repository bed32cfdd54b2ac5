import { failures } from '@keyrail/vectors'
import batches from '@keyrail/vectors/batches.json' with { type: 'json' }
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startFaultServer } from '../faultServer.ts'
import type { FaultServer } from '../faultServer.ts'
import { batchCap } from './batchCap.ts'
import type { BatchRejection } from './batchCap.ts'
import { getCalls } from './getCalls.ts'
import { httpClients } from './httpClients.ts'
import { compose, deadline, joinBatches } from '../layers.ts'
import { http } from '../../src/transport/endpoint/http.ts'
import { limitConcurrency } from '../../src/transport/endpoint/limitConcurrency.ts'

let server: FaultServer
beforeEach(async () => {
  server = await startFaultServer()
})
afterEach(() => server.close())

/** The wordings of all cases in the vectors. */
const rejections: [string, BatchRejection][] = [
  ...batches.filter(({ name }) => /^too large|^no batches|^a body too/.test(name)),
  ...failures.filter(({ expect: expected, request }) => expected.kind === 'batchTooLarge' && request.batch),
].map(({ name, response }) => [name, response as BatchRejection])

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

describe.each(httpClients)('by %s, a server that accepts only small batches', (_, options) => {
  test.each(rejections)('is understood: %s', async (_name, rejection) => {
    server.script = batchCap(2, rejection)
    const transport = compose(
      joinBatches()(limitConcurrency()(http({ url: server.url }, options))),
      deadline({ timeoutMs: 10_000 }),
    )
    const wave = (): Promise<unknown[]> =>
      Promise.all(upTo(12).map((param) => transport.request({ method: 'eth_call', params: [param] })))
    const own = upTo(12).map((param) => ({ method: 'eth_call', params: [param] }))
    expect(await wave()).toEqual(own)
    server.seen.length = 0
    expect(await wave()).toEqual(own)
    // The client has learned the cap: no batch is rejected. A response that was too large does not reveal a cap on calls.
    const rejected = server.seen.filter((seen) => getCalls(seen).length > 2).length
    if (!/response too large/.test(JSON.stringify(rejection.body))) expect(rejected).toBe(0)
    transport.close()
  })
})
