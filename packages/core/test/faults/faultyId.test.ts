import { createTransport } from '@keyrail/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startFaultServer } from '../faultServer.ts'
import type { FaultServer } from '../faultServer.ts'
import { httpClients } from './httpClients.ts'
import { idFaults, faultyId } from './faultyId.ts'
import { compose, deadline, joinBatches } from '../layers.ts'
import { http } from '../../src/transport/endpoint/http.ts'
import { limitConcurrency } from '../../src/transport/endpoint/limitConcurrency.ts'
import { getOutcome } from './getOutcome.ts'

let server: FaultServer
beforeEach(async () => {
  server = await startFaultServer()
})
afterEach(() => server.close())

describe.each(httpClients)('by %s', (_, options) => {
  // Without an id it is the response to the only request of its connection.
  test.each(idFaults.filter((fault) => fault !== 'none'))(
    'a response with a faulty id (%s) is rejected',
    async (fault) => {
      server.script = faultyId(fault)
      const transport = createTransport({ url: server.url, retry: false, timeoutMs: 5_000, ...options })
      expect(await getOutcome(transport.request({ method: 'eth_call', params: ['0x1'] }))).toBe('badResponse')
      transport.close()
    },
  )

  test.each(idFaults)('in a batch it (%s) fails only the call that it affects', async (fault) => {
    server.script = faultyId(fault)
    const transport = compose(
      joinBatches()(limitConcurrency()(http({ url: server.url }, options))),
      deadline({ timeoutMs: 5_000 }),
    )
    const own = (param: number): object => ({ method: 'eth_call', params: [param] })
    const calls = [0, 1, 2, 3].map((param) => getOutcome(transport.request({ method: 'eth_call', params: [param] })))
    expect(await Promise.all(calls)).toEqual(['badResponse', own(1), own(2), own(3)])
    transport.close()
  })
})
