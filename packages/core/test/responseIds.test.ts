import { batch, createTransport, failover } from '@keyrail/core'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { httpClients } from './faults/httpClients.ts'
import { startFaultServer } from './faultServer.ts'
import type { FaultServer } from './faultServer.ts'
import { getFailure } from './getFailure.ts'

const server: FaultServer = await startFaultServer()
const other: FaultServer = await startFaultServer()
beforeEach(() => {
  server.seen.length = 0
  other.seen.length = 0
})
afterAll(() => Promise.all([server.close(), other.close()]))

/** Responds to every request with a body created from the id of the request. */
const respondWith = (body: (id: number) => unknown): void => {
  server.script = ({ json }, response) => response.end(JSON.stringify(body(json.id)))
}

describe.each(httpClients)('through %s', (_, options) => {
  test.each([
    ['another number', (id: number) => id + 1, 'response id 2 does not match request id 1'],
    ['0', () => 0, 'response id 0 does not match request id 1'],
    ['another number as a text', (id: number) => `${id + 1}`, 'response id "2" does not match request id 1'],
    ['almost the same as a text', (id: number) => `0${id}`, 'response id "01" does not match request id 1'],
    ['null', () => null, 'response id null does not match request id 1'],
    ['true', () => true, 'response id true does not match request id 1'],
    ['an object', () => ({ a: 1 }), 'response id {"a":1} does not match request id 1'],
  ])('a result whose id is %s fails after one request, and the message says so', async (_name, changeId, message) => {
    respondWith((id) => ({ jsonrpc: '2.0', id: changeId(id), result: '0x1' }))
    const transport = createTransport({ url: server.url, ...options })
    const failure = await getFailure(transport.request({ method: 'eth_chainId' }))
    expect(failure).toMatchObject({ kind: 'badResponse', retryable: false })
    expect(failure.message).toContain(message)
    expect(server.seen).toHaveLength(1)
    transport.close()
  })

  test('an error with another id fails after one request, and the message says so', async () => {
    respondWith((id) => ({ jsonrpc: '2.0', id: id + 6, error: { code: 3, message: 'execution reverted' } }))
    const transport = createTransport({ url: server.url, ...options })
    const failure = await getFailure(transport.request({ method: 'eth_call', params: [{}, 'latest'] }))
    expect(failure).toMatchObject({ kind: 'badResponse', retryable: false })
    expect(failure.message).toContain('response id 7 does not match request id 1')
    expect(server.seen).toHaveLength(1)
    transport.close()
  })

  test('a result without an id is the response to the only request of its connection', async () => {
    respondWith(() => ({ jsonrpc: '2.0', result: '0x1' }))
    const transport = createTransport({ url: server.url, ...options })
    expect(await transport.request({ method: 'eth_chainId' })).toBe('0x1')
    transport.close()
  })

  test.each([
    ['is not marked as JSON-RPC 2.0', { result: '0x1' }],
    ['is of an API that is not JSON-RPC', { status: '1', message: 'OK', result: '0x1' }],
    ['says that it is of another version', { jsonrpc: '1.0', result: '0x1' }],
    ['is wrapped in an array', [{ jsonrpc: '2.0', result: '0x1' }]],
  ])('a result without an id that %s fails after one request', async (_name, body) => {
    respondWith(() => body)
    const transport = createTransport({ url: server.url, ...options })
    const failure = await getFailure(transport.request({ method: 'eth_chainId' }))
    expect(failure).toMatchObject({ kind: 'badResponse', retryable: false })
    expect(failure.message).toContain('response has no id; request id is 1')
    expect(server.seen).toHaveLength(1)
    transport.close()
  })
})

test('another endpoint is tried once after a wrong id', async () => {
  respondWith((id) => ({ jsonrpc: '2.0', id: id + 1, result: '0xbad' }))
  const transport = createTransport({ endpoints: failover([{ url: server.url }, { url: other.url }]) })
  expect(await transport.request({ method: 'eth_chainId' })).toBe('0x1')
  expect([server.seen.length, other.seen.length]).toEqual([1, 1])
  transport.close()
})

test('a long or secret id is not repeated in full', async () => {
  const key = 'kr_t0123456789abcdefghij'
  respondWith(() => ({ jsonrpc: '2.0', id: `${key}${'x'.repeat(500)}`, result: '0x1' }))
  const transport = createTransport({ baseUrl: server.url, apiKey: key })
  const { message } = await getFailure(transport.request({ method: 'eth_chainId' }))
  expect(message).not.toContain(key)
  expect(message).toContain('does not match request id 1')
  expect(message.length).toBeLessThan(400)
  transport.close()
})

describe('in a batch', () => {
  /** Responds to each batch, and records the number of calls in each request. */
  const sendBatch = async (
    respond: (items: readonly { readonly id: number }[]) => readonly unknown[],
  ): Promise<readonly unknown[]> => {
    server.script = ({ json }, response) => {
      const responses = respond([json].flat())
      response.end(JSON.stringify(Array.isArray(json) ? responses : responses[0]))
    }
    const transport = createTransport({ url: server.url, batch: batch() })
    const results = await Promise.all(
      ['0x1', '0x2', '0x3'].map((address) =>
        transport.request({ method: 'eth_getCode', params: [address, 'latest'] }).catch((error: unknown) => error),
      ),
    )
    transport.close()
    return results
  }
  const normal = ({ id }: { readonly id: number }): object => ({ jsonrpc: '2.0', id, result: `r${id}` })

  test('a call with one wrong id is retried once, alone', async () => {
    const results = await sendBatch((items) =>
      items.map(({ id }) => normal({ id: id === 2 || items.length === 1 ? 99 : id })),
    )
    expect([results[0], results[2]]).toEqual(['r1', 'r3'])
    expect(results[1]).toMatchObject({ kind: 'badResponse', retryable: false })
    // It was retried once, alone.
    expect((results[1] as Error).message).toContain('response id 99 does not match request id 1')
    expect(server.seen).toHaveLength(2)
  })

  test('all ids wrong is one request', async () => {
    const results = await sendBatch((items) => items.map(({ id }) => normal({ id: id + 50 })))
    for (const [at, failure] of results.entries()) {
      expect(failure).toMatchObject({ kind: 'badResponse', retryable: false })
      expect((failure as Error).message).toContain(`request id ${at + 1}`)
    }
    expect(server.seen).toHaveLength(1)
  })

  test('a result without an id belongs to no call', async () => {
    const results = await sendBatch((items) => items.map((item) => ({ ...normal(item), id: undefined })))
    for (const failure of results) expect(failure).toMatchObject({ kind: 'badResponse', retryable: false })
    expect(server.seen).toHaveLength(1)
  })

  test('a call without a response is retried', async () => {
    let requests = 0
    const results = await sendBatch((items) => (requests++ === 0 ? items.slice(1).map(normal) : items.map(normal)))
    expect(results).toEqual(['r1', 'r2', 'r3'])
  })
})
