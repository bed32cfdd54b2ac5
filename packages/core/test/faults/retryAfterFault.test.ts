import { createTransport } from '@keyrail/core'
import { retryAfters } from '@keyrail/vectors'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFaultServer } from '../faultServer.ts'
import type { FaultServer } from '../faultServer.ts'
import { httpClients } from './httpClients.ts'
import { retryAfterFault } from './retryAfterFault.ts'

let server: FaultServer
beforeAll(async () => {
  server = await startFaultServer()
})
afterAll(() => server.close())

// Cases that need a clock at their time run in the test of the parser.
const ours = retryAfters.filter(({ appliesTo, now }) => appliesTo.includes('ts') && now === undefined)

describe.each(httpClients)('by %s, the wait that a server requests', (_, options) => {
  test.each(ours)('$name', async (one) => {
    server.script = retryAfterFault(one)
    const transport = createTransport({ url: server.url, retry: false, timeoutMs: 5_000, ...options })
    const failure: unknown = await transport.request({ method: 'eth_call' }).catch((error: unknown) => error)
    transport.close()
    expect(failure).toHaveProperty('name', 'KeyrailError')
    expect(failure).toHaveProperty('retryAfterMs', one.expect ?? undefined)
  })
})
