import { createTransport, stats } from '@keyrail/core'
import type { KeyrailTransport, StatsMethods } from '@keyrail/core'
import { reply, raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer } from '@keyrail/core/test/faultServer.ts'
import { until, useFakeClock } from '@keyrail/core/test/useFakeClock.ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createClient, waitForTransactionReceipt } from '../src/index.ts'
import { wireReceipt } from '@keyrail/core/test/wire.ts'

const { transactionHash: hash } = wireReceipt
const errorBody = (code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', error: { code, message } })

let server: FaultServer
let transport: KeyrailTransport & StatsMethods
beforeEach(async () => {
  server = await startFaultServer(reply(null))
  useFakeClock()
  transport = createTransport({ stats: stats(), url: server.url, retry: false })
})
afterEach(async () => {
  transport.close()
  vi.useRealTimers()
  await server.close()
})

/** Starts to wait, and records how it ends. */
const start = (options: object): { ended: unknown } => {
  const wait: { ended: unknown } = { ended: undefined }
  const record = (ended: unknown): void => void (wait.ended = ended)
  waitForTransactionReceipt(createClient(transport), { hash, ...options }).then(record, record)
  return wait
}

/** Lets fake time pass, millisecond by millisecond, and waits for every request to end before the next one. */
const passTime = async (ms: number): Promise<void> => {
  for (let passed = 0; passed < ms; passed++) {
    await until(() => transport.stats().inFlight === 0)
    await vi.advanceTimersByTimeAsync(1)
  }
  await until(() => transport.stats().inFlight === 0)
}

describe('waitForTransactionReceipt, by the clock', () => {
  test('fails at the deadline, naming the hash', async () => {
    const wait = start({ timeoutMs: 150, pollingIntervalMs: 25 })
    // It ends up to one interval earlier, when no further request fits into the time: the fourth interval starts at 95 ms.
    await passTime(90)
    expect(wait.ended).toBeUndefined()
    await passTime(60)
    expect(wait.ended).toMatchObject({
      kind: 'timeout',
      source: 'client',
      retryable: true,
      transactionHash: hash,
      message: expect.stringContaining(`transaction ${hash} is not mined after 150 ms`) as string,
    })
  })

  test('says so if only confirmations are missing', async () => {
    server.script = (seen, ...rest) =>
      reply(seen.json.method === 'eth_blockNumber' ? wireReceipt.blockNumber : wireReceipt)(seen, ...rest)
    const wait = start({ confirmations: 2, timeoutMs: 100, pollingIntervalMs: 25 })
    await passTime(100)
    expect(String(wait.ended)).toContain('too few confirmations')
  })

  test('waits as long as the node requests', async () => {
    server.script = raw(429, errorBody(429, 'slow down'), { 'retry-after': '1' })
    const wait = start({ pollingIntervalMs: 25 })
    await until(() => server.seen.length === 1)
    server.script = reply(wireReceipt)
    await passTime(990)
    expect(server.seen).toHaveLength(1)
    await passTime(30)
    expect(server.seen).toHaveLength(2)
    expect(wait.ended).toMatchObject({ transactionHash: hash })
  })

  test('names the last failure at the deadline', async () => {
    server.script = raw(503, errorBody(-32_000, 'busy'))
    const wait = start({ timeoutMs: 200, pollingIntervalMs: 25 })
    await passTime(200)
    expect(String(wait.ended)).toContain('the last poll failed: unavailable')
  })

  test('polls less and less often', async () => {
    const wait = start({ timeoutMs: 1_000, pollingIntervalMs: 20 })
    await passTime(1_000)
    expect(wait.ended).toMatchObject({ kind: 'timeout' })
    // Waits of 20 ms, each a quarter longer, fill a second within 12 requests. Waits of 20 ms each would make 50.
    expect(server.seen.length).toBeGreaterThanOrEqual(11)
    expect(server.seen.length).toBeLessThanOrEqual(13)
  })
})
