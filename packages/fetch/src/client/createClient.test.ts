import { format, inspect, isDeepStrictEqual } from 'node:util'
import { createTransport } from '@keyrail/core'
import type { EthereumRpc, Transport } from '@keyrail/core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startCountingServer } from '../../test/countingServer.ts'
import type { CountingServer } from '../../test/countingServer.ts'
import type { Client } from './client.ts'
import { createClient } from './createClient.ts'

let server: CountingServer
let transport: Transport
let client: Client

beforeAll(async () => {
  server = await startCountingServer()
})
beforeEach(() => {
  server.received.length = 0
  server.respond = (method, params) => ({ method, params })
  transport = createTransport({ url: server.url })
  client = createClient(transport)
})
afterAll(() => server.close())

/** Checks that the client has sent nothing so far. */
const expectNothingSent = async (): Promise<void> => {
  // A request that reading a property sent would have arrived before this one.
  await client.request({ method: 'net_version' })
  expect(server.received).toEqual([{ method: 'net_version', params: [] }])
}

describe('methods', () => {
  test('send their name and params and return the result as the node sent it', async () => {
    const block: unknown = await client.eth_getBlockByNumber('latest', false)
    expect(block).toEqual({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  })

  test('are created once per client', () => {
    const method = (owner: object): unknown => Reflect.get(owner, 'eth_call')
    expect(method(client)).toBe(method(client))
    expect(method(client.with({}))).not.toBe(method(client))
  })

  test('work detached', async () => {
    const { eth_chainId, request } = client
    expect(await eth_chainId()).toEqual({ method: 'eth_chainId', params: [] })
    expect(await request({ method: 'eth_chainId' })).toEqual({ method: 'eth_chainId', params: [] })
  })

  test('omit trailing undefined params', async () => {
    await client.request({ method: 'eth_simulateV1', params: [{ blockStateCalls: [] }, 'latest', undefined] as never })
    expect(server.received[0]?.params).toEqual([{ blockStateCalls: [] }, 'latest'])
  })

  test('include user-defined ones: names with an underscore always, others once declared', async () => {
    interface MyMethods {
      my_method(a: string): Promise<unknown>
      getSlot(): Promise<unknown>
    }
    const mine = createClient<EthereumRpc & MyMethods>(transport, ['getSlot'])
    expect(await mine.my_method('a')).toEqual({ method: 'my_method', params: ['a'] })
    expect(await mine.getSlot()).toEqual({ method: 'getSlot', params: [] })
    expect(await mine.with({ timeoutMs: 1_000 }).getSlot()).toEqual({ method: 'getSlot', params: [] })
    const undeclared = createClient<EthereumRpc & MyMethods>(transport)
    expect(Reflect.get(undeclared, 'getSlot')).toBeUndefined()
  })
})

describe('inspecting a client', () => {
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
    await expectNothingSent()
  })

  test('can be awaited and returned from an async function', async () => {
    const returned = await (async () => client)()
    // oxlint-disable-next-line typescript/await-thenable -- checks that a client is not a thenable
    expect((await client) === client && returned === client && (await Promise.resolve(client)) === client).toBe(true)
    await expectNothingSent()
  })

  test('shows its redacted URL and does not expose the transport', async () => {
    expect(JSON.stringify(client)).toBe(JSON.stringify({ redactedUrl: server.url }))
    expect(inspect(client)).toContain(server.url)
    expect(inspect(client, { showProxy: true, showHidden: true, depth: 9 })).toContain(server.url)
    expect(format('%s %o %O %j', client, client, client, client)).toContain(server.url)
    expect(Object.keys(client)).toEqual(['redactedUrl', 'request', 'with', 'close'])
    expect(Object.getPrototypeOf(client)).toBeNull()
    await expectNothingSent()
  })

  test('can be compared and printed by a test runner', async () => {
    expect(client).toEqual(client)
    expect({ client }).toEqual({ client: expect.anything() })
    expect(client).not.toEqual({ redactedUrl: 'another' })
    expect(client).not.toStrictEqual(createClient({ url: 'http://127.0.0.1:1' }))
    expect(() => expect(client).toEqual({ redactedUrl: 'another' })).toThrow('another')
    expect(isDeepStrictEqual(client, createClient(transport))).toBe(false)
    await expectNothingSent()
  })

  test('supports spread, in, Object.entries and for…in', async () => {
    const spread = { ...client }
    expect(spread.request).toBe(client.request)
    expect('request' in client && !('then' in client) && !('eth_call' in client)).toBe(true)
    expect(Reflect.ownKeys(client)).toEqual(['redactedUrl', 'request', 'with', 'close', Symbol.asyncDispose])
    expect(Object.entries(client).map(([name]) => name)).toEqual(['redactedUrl', 'request', 'with', 'close'])
    for (const name in client) expect(typeof name).toBe('string')
    expect(Object.isFrozen(client)).toBe(true)
    await expectNothingSent()
  })
})

describe('a client is read-only', () => {
  test.each(['request', 'redactedUrl', 'eth_call', 'then', 'new_method', '__proto__'])('%s cannot be set', (name) => {
    const before: unknown = Reflect.get(client, name)
    expect(Reflect.set(client, name, () => 'mine')).toBe(false)
    expect(Reflect.defineProperty(client, name, { value: () => 'mine' })).toBe(false)
    expect(Reflect.deleteProperty(client, name)).toBe(false)
    expect(() => Object.assign(client, { [name]: 'mine' })).toThrow(TypeError)
    expect(Reflect.get(client, name)).toBe(before)
  })

  test('its prototype cannot be set', () => {
    expect(Reflect.setPrototypeOf(client, {})).toBe(false)
  })
})

describe('call options', () => {
  test('bound by with() apply to methods and request', async () => {
    server.respond = () => undefined
    const quick = client.with({ timeoutMs: 60 })
    await expect(quick.eth_chainId()).rejects.toMatchObject({ kind: 'timeout' })
    await expect(quick.request({ method: 'eth_chainId' })).rejects.toMatchObject({ kind: 'timeout' })
  })

  test('bound repeatedly are merged, and the original client is unchanged', async () => {
    server.respond = () => undefined
    const controller = new AbortController()
    const bound = client.with({ signal: controller.signal })
    const both = bound.with({ timeoutMs: 60 })
    await expect(both.eth_chainId()).rejects.toMatchObject({ kind: 'timeout' })
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(both.eth_chainId()).rejects.toBe(reason)
    await expect(bound.eth_chainId()).rejects.toBe(reason)
    server.respond = () => '0x1'
    expect(await client.eth_chainId()).toBe('0x1')
  })

  test('of one request override bound ones', async () => {
    server.respond = () => undefined
    const bound = client.with({ timeoutMs: 15_000, signal: AbortSignal.abort() })
    const signal = new AbortController().signal
    await expect(bound.request({ method: 'eth_chainId' }, { timeoutMs: 60, signal })).rejects.toMatchObject({
      kind: 'timeout',
    })
  })

  test('an abort rejects with the reason of the signal', async () => {
    server.respond = () => undefined
    const controller = new AbortController()
    const reason = { mine: true }
    const call = client.request({ method: 'eth_chainId' }, { signal: controller.signal })
    await expect.poll(() => server.received.length).toBe(1)
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
  })
})

describe('an invalid call is rejected with an error that says how to fix it', () => {
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
  ])('%s', async (_, args, fix) => {
    await expect(request(args)).rejects.toMatchObject({ kind: 'invalidRequest', source: 'client', retryable: false })
    await expect(request(args)).rejects.toThrow(fix)
    await expectNothingSent()
  })

  test.each([0, -1, Number.NaN, Infinity, 2 ** 31])('timeoutMs %d', async (timeoutMs) => {
    await expect(request({ method: 'eth_chainId' }, { timeoutMs })).rejects.toMatchObject({ kind: 'invalidRequest' })
    await expectNothingSent()
  })

  test('bigint params of a method', async () => {
    await expect(client.eth_getBlockByNumber(1n as never, false)).rejects.toMatchObject({ kind: 'invalidRequest' })
    await expectNothingSent()
  })
})

describe('options', () => {
  test('give the URL, with the API key in its path', async () => {
    const keyed = createClient({ baseUrl: server.url, apiKey: 'kr_a-not-a-real-key-1234' })
    server.respond = () => '0x1'
    expect(await keyed.eth_chainId()).toBe('0x1')
    expect(keyed.redactedUrl).toBe(`${server.url}/v2/…1234`)
    keyed.close()
  })

  test.each([
    [{}, 'rpcUrl'],
    [{ url: 'http://127.0.0.1', apiKey: 'a' }, 'apiKey'],
    [{ baseUrl: 'http://127.0.0.1', apiKey: ' ' }, 'apiKey'],
    [{ baseUrl: 'http://127.0.0.1', apiKey: 'http://127.0.0.1/v2/key' }, 'url'],
  ])('%j are rejected at once', (options, fix) => {
    expect(() => Reflect.apply(createClient, undefined, [options])).toThrow(fix)
  })
})

describe('closing a client that created its transport', () => {
  const open = (): Client => createClient({ url: server.url })

  test('fails in-flight and later calls of every client on that transport', async () => {
    server.respond = () => undefined
    const owner = open()
    const bound = owner.with({ timeoutMs: 1_000 })
    const pending = bound.eth_chainId()
    owner.close()
    await expect(pending).rejects.toMatchObject({ kind: 'aborted' })
    await expect(owner.eth_chainId()).rejects.toMatchObject({ kind: 'aborted' })
    await expect(bound.eth_chainId()).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('works through a client from with()', async () => {
    const owner = open()
    owner.with({ timeoutMs: 1_000 }).close()
    await expect(owner.eth_chainId()).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('is harmless when repeated', async () => {
    const owner = open()
    owner.close()
    owner.close()
    await owner[Symbol.asyncDispose]()
    await expect(owner.eth_chainId()).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('happens at the end of an await using block', async () => {
    let disposed: Client
    {
      await using owner = open()
      disposed = owner
      await owner.eth_chainId()
    }
    await expect(disposed.eth_chainId()).rejects.toMatchObject({ kind: 'aborted' })
  })
})

describe('a transport that is passed in', () => {
  test.each<[string, () => Transport]>([['createTransport', () => createTransport({ url: server.url })]])(
    'of %s stays open when a client on it is closed',
    async (_, create) => {
      const shared = create()
      const [first, second] = [createClient(shared), createClient(shared)]
      let respond = (): unknown => undefined
      server.respond = () => respond()
      const inFlight = second.eth_chainId()
      await expect.poll(() => server.received.length).toBe(1)
      first.close()
      first.with({ timeoutMs: 1_000 }).close()
      await first[Symbol.asyncDispose]()
      respond = () => '0x1'
      expect(await shared.request({ method: 'eth_blockNumber' })).toBe('0x1')
      expect([await first.eth_gasPrice(), await second.eth_gasPrice()]).toEqual(['0x1', '0x1'])
      shared.close()
      await expect(inFlight).rejects.toMatchObject({ kind: 'aborted' })
      await expect(first.eth_chainId()).rejects.toMatchObject({ kind: 'aborted' })
    },
  )
})
