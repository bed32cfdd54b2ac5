import { format, inspect, isDeepStrictEqual } from 'node:util'
import { compose, createTransport, deadline, http, retry } from '@keyrail/core'
import type { EthereumRpc, Transport } from '@keyrail/core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startCountingServer } from '../../test/countingServer.ts'
import type { CountingServer } from '../../test/countingServer.ts'
import type { Client } from './client.ts'
import { clientOf } from './clientOf.ts'

let server: CountingServer
let transport: Transport
let client: Client

beforeAll(async () => {
  server = await startCountingServer()
})
beforeEach(() => {
  server.asked.length = 0
  server.answer = (method, params) => ({ method, params })
  transport = compose(http({ url: server.url }), retry(), deadline())
  client = clientOf(transport)
})
afterAll(() => server.close())

const nothingSent = async (): Promise<void> => {
  // A call that was started by a probe would have arrived before this one.
  await client.request({ method: 'net_version' })
  expect(server.asked).toEqual([{ method: 'net_version', params: [] }])
}

describe('methods', () => {
  test('send their name and params, and give the result as it was sent', async () => {
    const block: unknown = await client.eth_getBlockByNumber('latest', false)
    expect(block).toEqual({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  })

  test('are made once for each client', () => {
    const method = (of: object): unknown => Reflect.get(of, 'eth_call')
    expect(method(client)).toBe(method(client))
    expect(method(client.with({}))).not.toBe(method(client))
  })

  test('work detached', async () => {
    const { eth_chainId, request } = client
    expect(await eth_chainId()).toEqual({ method: 'eth_chainId', params: [] })
    expect(await request({ method: 'eth_chainId' })).toEqual({ method: 'eth_chainId', params: [] })
  })

  test('leave out params that are undefined at the end', async () => {
    await client.eth_simulateV1({ blockStateCalls: [] }, undefined)
    expect(server.asked[0]?.params).toEqual([{ blockStateCalls: [] }])
  })

  test('of a user reach the node, with an underscore as they are and without one where declared', async () => {
    interface MyMethods {
      my_method(a: string): Promise<unknown>
      getSlot(): Promise<unknown>
    }
    const mine = clientOf<EthereumRpc & MyMethods>(transport, ['getSlot'])
    expect(await mine.my_method('a')).toEqual({ method: 'my_method', params: ['a'] })
    expect(await mine.getSlot()).toEqual({ method: 'getSlot', params: [] })
    expect(await mine.with({ timeoutMs: 1_000 }).getSlot()).toEqual({ method: 'getSlot', params: [] })
    const undeclared = clientOf<EthereumRpc & MyMethods>(transport)
    expect(Reflect.get(undeclared, 'getSlot')).toBeUndefined()
  })
})

describe('a client that is looked at', () => {
  test.each([
    'then',
    'catch',
    'finally',
    'toJSON',
    'toString',
    'valueOf',
    'constructor',
    'prototype',
    '__proto__',
    '_isMockFunction',
    '__esModule',
    '$$typeof',
    'asymmetricMatch',
    'nodeType',
    'nodeName',
    'tagName',
    'hasAttribute',
    '@@__IMMUTABLE_ITERABLE__@@',
    'inspect',
    'length',
    'name',
    'default',
    '0',
    '',
    'eth',
    'Eth_call',
    '_call',
    'my method_',
    Symbol.iterator,
    Symbol.asyncIterator,
    Symbol.toPrimitive,
    Symbol.toStringTag,
    Symbol.for('nodejs.util.inspect.custom'),
    Symbol('eth_call'),
  ])('has no %s', async (name) => {
    expect(Reflect.get(client, name)).toBeUndefined()
    expect(Reflect.has(client, name)).toBe(false)
    await nothingSent()
  })

  test('can be awaited and given by an async function', async () => {
    const given = await (async () => client)()
    // oxlint-disable-next-line typescript/await-thenable -- that it is no thenable is what is tested
    expect((await client) === client && given === client && (await Promise.resolve(client)) === client).toBe(true)
    await nothingSent()
  })

  test('shows its redacted URL, and no way to the transport', async () => {
    expect(JSON.stringify(client)).toBe(JSON.stringify({ redactedUrl: server.url }))
    expect(inspect(client)).toContain(server.url)
    expect(inspect(client, { showProxy: true, showHidden: true, depth: 9 })).toContain(server.url)
    expect(format('%s %o %O %j', client, client, client, client)).toContain(server.url)
    expect(Object.keys(client)).toEqual(['redactedUrl', 'request', 'with', 'close'])
    expect(Object.getPrototypeOf(client)).toBeNull()
    await nothingSent()
  })

  test('can be compared and printed by a test runner', async () => {
    expect(client).toEqual(client)
    expect({ client }).toEqual({ client: expect.anything() })
    expect(client).not.toEqual({ redactedUrl: 'another' })
    expect(client).not.toStrictEqual(clientOf(createTransport({ url: 'http://127.0.0.1:1' })))
    expect(() => expect(client).toEqual({ redactedUrl: 'another' })).toThrow('another')
    expect(isDeepStrictEqual(client, clientOf(transport))).toBe(false)
    await nothingSent()
  })

  test('can be listed, spread, cloned into a record and asked what it holds', async () => {
    const spread = { ...client }
    expect(spread.request).toBe(client.request)
    expect('request' in client && !('then' in client) && !('eth_call' in client)).toBe(true)
    expect(Reflect.ownKeys(client)).toEqual(['redactedUrl', 'request', 'with', 'close', Symbol.asyncDispose])
    expect(Object.entries(client).map(([name]) => name)).toEqual(['redactedUrl', 'request', 'with', 'close'])
    for (const name in client) expect(typeof name).toBe('string')
    expect(Object.isFrozen(client)).toBe(true)
    await nothingSent()
  })
})

describe('a client cannot be changed', () => {
  test.each(['request', 'redactedUrl', 'eth_call', 'then', 'new_method', '__proto__'])('%s is not set', (name) => {
    const before: unknown = Reflect.get(client, name)
    expect(Reflect.set(client, name, () => 'mine')).toBe(false)
    expect(Reflect.defineProperty(client, name, { value: () => 'mine' })).toBe(false)
    expect(Reflect.deleteProperty(client, name)).toBe(false)
    expect(() => Object.assign(client, { [name]: 'mine' })).toThrow(TypeError)
    expect(Reflect.get(client, name)).toBe(before)
  })

  test('nor its prototype', () => {
    expect(Reflect.setPrototypeOf(client, {})).toBe(false)
  })
})

describe('call options', () => {
  test('bound by with hold for methods and request', async () => {
    server.answer = () => undefined
    const hurried = client.with({ timeoutMs: 60 })
    await expect(hurried.eth_chainId()).rejects.toMatchObject({ kind: 'timeout' })
    await expect(hurried.request({ method: 'eth_chainId' })).rejects.toMatchObject({ kind: 'timeout' })
  })

  test('bound one upon another add up, and the client itself stays as it was', async () => {
    server.answer = () => undefined
    const controller = new AbortController()
    const bound = client.with({ signal: controller.signal })
    const both = bound.with({ timeoutMs: 60 })
    await expect(both.eth_chainId()).rejects.toMatchObject({ kind: 'timeout' })
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(both.eth_chainId()).rejects.toBe(reason)
    await expect(bound.eth_chainId()).rejects.toBe(reason)
    server.answer = () => '0x1'
    expect(await client.eth_chainId()).toBe('0x1')
  })

  test('of one request win over bound ones', async () => {
    server.answer = () => undefined
    const bound = client.with({ timeoutMs: 15_000, signal: AbortSignal.abort() })
    const signal = new AbortController().signal
    await expect(bound.request({ method: 'eth_chainId' }, { timeoutMs: 60, signal })).rejects.toMatchObject({
      kind: 'timeout',
    })
  })

  test('an abort gives the caller its own reason', async () => {
    server.answer = () => undefined
    const controller = new AbortController()
    const reason = { mine: true }
    const call = client.request({ method: 'eth_chainId' }, { signal: controller.signal })
    await expect.poll(() => server.asked.length).toBe(1)
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
  })
})

describe('a wrong call is refused with the mend', () => {
  const request = (args: unknown, options?: unknown): Promise<unknown> =>
    Reflect.apply(client.request, undefined, [args, options]) as Promise<unknown>

  test.each([
    ['nothing', undefined, 'method'],
    ['null', null, 'method'],
    ['a name alone', 'eth_chainId', 'method'],
    ['no method', {}, 'method'],
    ['a number for a method', { method: 7 }, 'method'],
    ['an empty method', { method: '' }, 'method'],
    ['a lone param', { method: 'eth_call', params: 'latest' }, 'array'],
    ['null for params', { method: 'eth_call', params: null }, 'array'],
    ['a bigint among the params', { method: 'eth_call', params: [1n] }, 'hex'],
  ])('%s', async (_, args, mend) => {
    await expect(request(args)).rejects.toMatchObject({ kind: 'invalidRequest', source: 'client', retryable: false })
    await expect(request(args)).rejects.toThrow(mend)
    await nothingSent()
  })

  test.each([0, -1, Number.NaN, Infinity, 2 ** 31])('timeoutMs %d', async (timeoutMs) => {
    await expect(request({ method: 'eth_chainId' }, { timeoutMs })).rejects.toMatchObject({ kind: 'invalidRequest' })
    await nothingSent()
  })

  test('bigint params of a method', async () => {
    await expect(client.eth_getBlockByNumber(1n as never, false)).rejects.toMatchObject({ kind: 'invalidRequest' })
    await nothingSent()
  })
})

describe('closing', () => {
  test('ends the calls under way and refuses new ones, for everything on the transport', async () => {
    server.answer = () => undefined
    const other = clientOf(transport)
    const underWay = other.eth_chainId()
    client.close()
    await expect(underWay).rejects.toMatchObject({ kind: 'aborted' })
    await expect(client.eth_chainId()).rejects.toMatchObject({ kind: 'aborted' })
    await expect(transport.request({ method: 'eth_chainId' })).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('twice does no harm', async () => {
    client.close()
    client.with({ timeoutMs: 1_000 }).close()
    transport.close()
    await client[Symbol.asyncDispose]()
    await expect(client.eth_chainId()).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('comes with await using', async () => {
    let kept: Client
    {
      await using disposed = clientOf(transport)
      kept = disposed
      await disposed.eth_chainId()
    }
    await expect(kept.eth_chainId()).rejects.toMatchObject({ kind: 'aborted' })
  })
})
