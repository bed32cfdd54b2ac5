import { createTransport, isKeyrailError } from '@keyrail/core'
import type { Layer } from '@keyrail/core'
import hints from '@keyrail/vectors/rangeHints.json' with { type: 'json' }
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startFaultServer } from '../faultServer.ts'
import type { FaultServer } from '../faultServer.ts'
import { httpClients } from './httpClients.ts'
import { rangeCap } from './rangeCap.ts'
import type { RangeRejection } from './rangeCap.ts'
import { compose, deadline, joinBatches } from '../layers.ts'
import { http } from '../../src/transport/endpoint/http.ts'
import { limitConcurrency } from '../../src/transport/endpoint/limitConcurrency.ts'

let server: FaultServer
beforeEach(async () => {
  server = await startFaultServer()
})
afterEach(() => server.close())

const rejections = hints
  .filter(({ appliesTo }) => appliesTo.includes('ts'))
  .map(({ name, response }): [string, RangeRejection] => [name, response])
const logs = (fromBlock: number, toBlock: number): { method: string; params: [object] } => ({
  method: 'eth_getLogs',
  params: [{ fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` }],
})
const together =
  (batched: object): Layer =>
  (next) =>
  (call, complete) =>
    next(Object.assign(call, { batch: batched }), complete)

describe.each(httpClients)('by %s, a range that is too wide', (_, options) => {
  test.each(rejections)('has kind range, and the message of the node with its hint: %s', async (_name, rejection) => {
    server.script = rangeCap(100, rejection)
    const transport = createTransport({ url: server.url, retry: false, timeoutMs: 5_000, ...options })
    const failure: unknown = await transport.request(logs(1, 101)).catch((error: unknown) => error)
    expect(isKeyrailError(failure), String(failure)).toBe(true)
    expect(failure).toMatchObject({ kind: 'range', retryable: false, rpcError: rejection.error })
    expect(await transport.request(logs(1, 100))).toEqual(logs(1, 100))
    transport.close()
  })

  test.each(rejections)('does not affect the other calls of its batch: %s', async (_name, rejection) => {
    server.script = rangeCap(100, rejection)
    const transport = compose(
      joinBatches()(limitConcurrency()(http({ url: server.url }, options))),
      deadline(),
      together({}),
    )
    const calls = [logs(1, 50), logs(1, 500), { method: 'eth_call', params: [1] }]
    const [narrow, wide, other] = await Promise.allSettled(calls.map((call) => transport.request(call)))
    expect([narrow, other]).toMatchObject([{ value: calls[0] }, { value: calls[2] }])
    expect(wide).toMatchObject({ reason: { kind: 'range', rpcError: rejection.error } })
    transport.close()
  })
})
