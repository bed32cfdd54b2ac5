import { batch, cache, createProvider, createTransport, failover, layer, safeWrites } from '@keyrail/core'
import type { RequestArguments } from '@keyrail/core'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { startFaultServer } from './faultServer.ts'
import type { FaultServer, Seen } from './faultServer.ts'
import { compose, deadline } from './layers.ts'
import { http } from '../src/transport/endpoint/http.ts'

interface RpcCall {
  readonly id: number
  readonly method: string
  readonly params: unknown
}

const server: FaultServer = await startFaultServer()
beforeEach(() => {
  server.seen.length = 0
  server.script = ({ json }: Seen, response) => {
    const reply = ({ id, method, params }: RpcCall): object => ({ jsonrpc: '2.0', id, result: [method, params] })
    response.end(JSON.stringify(Array.isArray(json) ? (json as RpcCall[]).map(reply) : reply(json)))
  }
})
afterAll(() => server.close())

const sent = (): unknown[] => server.seen.map(({ json }) => json.params)
const named = { method: 'my_search', params: { from: '0x1', limit: 5, nested: { deep: [true, null] } } }

describe('params by name', () => {
  test('are sent unchanged', async () => {
    const transport = createTransport({ url: server.url })
    expect(await transport.request(named)).toEqual(['my_search', named.params])
    const empty = { method: 'my_search', params: {} }
    expect(await transport.request(empty)).toEqual(['my_search', {}])
    const frozen = Object.freeze(Object.assign(Object.create(null), { a: 1 }) as Record<string, unknown>)
    expect(await transport.request({ method: 'my_search', params: frozen })).toEqual(['my_search', { a: 1 }])
    transport.close()
  })

  test('leave out members that are undefined', async () => {
    const transport = createTransport({ url: server.url })
    await transport.request({ method: 'my_search', params: { a: undefined, b: 1 } })
    expect(sent()).toEqual([{ b: 1 }])
    transport.close()
  })

  test('pass through a layer and an EIP-1193 provider', async () => {
    const seen: RequestArguments[] = []
    const spy = layer((request) => (args, options) => {
      seen.push(args)
      return request(args, options)
    })
    const transport = compose(http({ url: server.url }), spy, deadline())
    expect(await createProvider(transport).request(named)).toEqual(['my_search', named.params])
    expect(seen).toEqual([named])
    transport.close()
  })

  test('share a request only with calls with the same params', async () => {
    const transport = createTransport({ url: server.url })
    const calls = [{ address: '0x1' }, { address: '0x1' }, { address: '0x2' }].map((params) =>
      transport.request({ method: 'eth_getCode', params }),
    )
    expect(await Promise.all(calls)).toEqual(['0x1', '0x1', '0x2'].map((address) => ['eth_getCode', { address }]))
    expect(server.seen).toHaveLength(2)
    transport.close()
  })

  test('are sent in batches', async () => {
    const transport = createTransport({ url: server.url, batch: batch(), coalesce: false })
    const params = [{ address: '0x1' }, ['0x2', 'latest'], { address: '0x3', block: 'latest' }]
    const calls = params.map((one) => transport.request({ method: 'eth_getCode', params: one }))
    expect(await Promise.all(calls)).toEqual(params.map((one) => ['eth_getCode', one]))
    expect(server.seen).toHaveLength(1)
    transport.close()
  })

  // As positional params, each of these would name a block that never changes.
  test.each([
    ['eth_getBlockByHash', { 0: `0x${'a'.repeat(64)}`, 1: false }],
    ['eth_getBalance', { 0: '0xabc', 1: `0x${'a'.repeat(64)}`, length: 2 }],
    ['eth_getTransactionByHash', { hash: `0x${'a'.repeat(64)}` }],
    ['eth_getTransactionReceipt', {}],
    ['eth_getLogs', { 0: { blockHash: `0x${'a'.repeat(64)}` } }],
    ['eth_chainId', { of: 'another' }],
    ['net_version', {}],
  ])('of %s are not read from the cache', async (method, params) => {
    const result = [{ blockHash: `0x${'a'.repeat(64)}`, blockNumber: '0x1', number: '0x1' }]
    let served = 0
    server.script = ({ json }, response) => {
      served++
      const value = json.method === 'eth_getBlockByNumber' ? { number: '0x100' } : served > 2 ? 'second' : result
      response.end(JSON.stringify({ jsonrpc: '2.0', id: json.id, result: value }))
    }
    const transport = createTransport({ url: server.url, cache: cache({ finalityDepth: 1 }) })
    await transport.request({ method: 'eth_getBlockByNumber', params: ['finalized', false] })
    expect(await transport.request({ method, params })).toEqual(result)
    expect(await transport.request({ method, params })).toBe('second')
    transport.close()
  })

  test.each([
    ['eth_getBalance', { address: '0xabc', block: 'latest' }],
    ['eth_getBalance', { 0: '0xabc', 1: 'latest' }],
    ['eth_getLogs', { 0: { fromBlock: 'latest' } }],
    ['eth_call', {}],
  ])('of %s are not rewritten to a block number by minBlock', async (method, params) => {
    server.script = ({ json }, response) => {
      const result = json.method === 'eth_blockNumber' ? '0x64' : json.params
      response.end(JSON.stringify({ jsonrpc: '2.0', id: json.id, result }))
    }
    const transport = createTransport({ endpoints: failover([{ url: server.url }]) })
    await transport.request({ method: 'eth_blockNumber' })
    expect(await transport.request({ method, params }, { minBlock: 100 })).toEqual(params)
    transport.close()
  })

  test('of a signed transaction reach the node with safe writes on', async () => {
    const emptyHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
    const transport = createTransport({ url: server.url, safeWrites: safeWrites({ keccak256: () => emptyHash }) })
    const params = { transaction: '0x02c0' }
    expect(await transport.request({ method: 'eth_sendRawTransaction', params })).toEqual([
      'eth_sendRawTransaction',
      params,
    ])
    transport.close()
  })

  test.each([
    ['null', null],
    ['a text', '0x1'],
    ['a number', 5],
    ['true', true],
    ['a function', () => {}],
    ['a Map', new Map([['a', 1]])],
    ['a Set', new Set([1])],
    ['a date', new Date(0)],
    ['a promise', Promise.resolve([])],
    ['bytes', new Uint8Array(2)],
    ['a bigint among them', { value: 1n }],
    [
      'a circle',
      (() => {
        const circle: Record<string, unknown> = {}
        circle['self'] = circle
        return circle
      })(),
    ],
    ['an object that is written as a text', { toJSON: () => 'text' }],
    ['an object that is written as emptyHash', { toJSON: () => undefined }],
  ])('%s is rejected before anything is sent', async (_, params) => {
    const transport = createTransport({ url: server.url })
    const request = transport.request({ method: 'eth_call', params: params as never })
    await expect(request).rejects.toMatchObject({ kind: 'invalidRequest', source: 'client', retryable: false })
    await expect(request).rejects.toThrow('params of eth_call must be an array or an object of JSON values')
    expect(server.seen).toEqual([])
    transport.close()
  })
})
