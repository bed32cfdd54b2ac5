import { batch, budget, createTransport, failover, isKeyrailError, layer, stats, webSocket } from '@keyrail/core'
import type { KeyrailError } from '@keyrail/core'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { raw, startFaultServer } from './faultServer.ts'
import type { FaultServer, Script } from './faultServer.ts'
import { reachableStrings } from './leakWalk.ts'
import { until, useFakeClock } from './useFakeClock.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions, FullTransport } from './fullTransport.ts'

interface RpcCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** Responds to each call, alone or in a batch, with the fields that a function returns. */
const respondWith =
  (createFields: (call: RpcCall) => object): Script =>
  ({ json }, response) => {
    const reply = (call: RpcCall): object => ({ jsonrpc: '2.0', id: call.id, ...createFields(call) })
    const body = Array.isArray(json) ? (json as RpcCall[]).map(reply) : reply(json as RpcCall)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  }

/** Responds with the name of the server, the method and its params. */
const echo = (name: string): Script =>
  respondWith(({ method, params }) => ({ result: method === 'eth_chainId' ? '0x7' : [name, method, ...params] }))

const key = `kr_a${'k3Y'.repeat(13)}`
/** Keccak-256 of no bytes. */
const emptyHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
let one: FaultServer
let two: FaultServer
const open: FullTransport[] = []

beforeEach(async () => {
  ;[one, two] = await Promise.all([startFaultServer(echo('one')), startFaultServer(echo('two'))])
})
afterEach(async () => {
  vi.useRealTimers()
  for (const transport of open.splice(0)) transport.close()
  await Promise.all([one.close(), two.close()])
})

const create = (options: Partial<FullOptions> = {}): FullTransport => {
  const address = options.endpoints ? {} : { url: one.url }
  const transport = createFullTransport({ ...address, ...options } as FullOptions)
  open.push(transport)
  return transport
}
const both = (fields: readonly object[] = [{}, {}]): Pick<FullOptions, 'endpoints'> =>
  ({ endpoints: [one, two].map(({ url }, at) => ({ url, ...fields[at] })) }) as Pick<FullOptions, 'endpoints'>
const methodsAt = (server: FaultServer): string[] =>
  server.seen.flatMap(({ json }) => [json].flat().map(({ method }) => method))

describe('by default', () => {
  test('a minBlock is rejected, because only failover can apply it', async () => {
    const read = { method: 'eth_getBalance', params: ['0xaa', 'latest'] }
    const message = 'minBlock works only with endpoints: failover([…])'
    const transport = createTransport({ url: one.url })
    for (const minBlock of [true, 7, 7n]) await expect(transport.request(read, { minBlock })).rejects.toThrow(message)
    expect(one.seen).toEqual([])
    for (const minBlock of [false, 0, undefined])
      expect(await transport.request(read, { minBlock })).toEqual(['one', read.method, ...read.params])
    transport.close()
  })

  test('a call is exactly one request, and identical reads at the same time share it', async () => {
    const transport = create()
    const args = { method: 'eth_getBalance', params: ['0xa', 'latest'] }
    const [first, second] = await Promise.all([transport.request(args), transport.request(args)])
    expect(first).toEqual(['one', 'eth_getBalance', '0xa', 'latest'])
    expect(second).toEqual(first)
    expect(second).not.toBe(first)
    expect(methodsAt(one)).toEqual(['eth_getBalance'])
  })

  test('calls of one tick are sent separately', async () => {
    const transport = create()
    await Promise.all(['0xa', '0xb'].map((of) => transport.request({ method: 'eth_getCode', params: [of] })))
    expect(one.seen).toHaveLength(2)
    expect(transport.stats()).toMatchObject({ calls: 2, requests: 2, batches: 0, answered: 2 })
  })

  test('a failed read is retried, and a failure has a hint', async () => {
    const transport = create({ retry: { retries: 1, baseMs: 1 } })
    one.script = raw(503, 'down')
    const failure = await transport.request({ method: 'eth_gasPrice' }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ kind: 'unavailable', hint: 'Try again later.' })
    expect(one.seen).toHaveLength(2)
    expect(transport.stats()).toMatchObject({ retries: 1, failed: 1, failedByKind: { unavailable: 1 } })
  })

  test('one endpoint has no breaker: each call is sent', async () => {
    const transport = create({ retry: false })
    one.script = raw(503, 'down')
    for (let i = 0; i < 8; i++) await transport.request({ method: 'eth_gasPrice' }).catch(() => {})
    expect(one.seen).toHaveLength(8)
    expect(transport.stats().endpointStates[0]?.health).toBeUndefined()
  })

  test('the transport slows down after "too many requests", without a configured limit', async () => {
    const transport = create({ retry: false })
    one.script = raw(429, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32005,"message":"slow"}}', {
      'retry-after': '30',
    })
    await transport.request({ method: 'eth_gasPrice' }).catch(() => {})
    await expect(transport.request({ method: 'eth_chainId' })).rejects.toMatchObject({
      kind: 'throttled',
      source: 'client',
    })
    expect(one.seen).toHaveLength(1)
  })
})

describe('several calls at once', () => {
  test('with batch, calls of one tick are one request, and a write is sent alone', async () => {
    const transport = create({ batch: true })
    const responses = await Promise.all([
      transport.request({ method: 'eth_getCode', params: ['0xa'] }),
      transport.request({ method: 'eth_sendRawTransaction', params: ['0x02c0'] }),
      transport.request({ method: 'eth_getCode', params: ['0xb'] }),
    ])
    expect(responses).toEqual([
      ['one', 'eth_getCode', '0xa'],
      ['one', 'eth_sendRawTransaction', '0x02c0'],
      ['one', 'eth_getCode', '0xb'],
    ])
    expect(one.seen.map(({ json }) => [json].flat().length).toSorted((a, b) => a - b)).toEqual([1, 2])
    expect(transport.stats()).toMatchObject({ batches: 1, batchedCalls: 2, requests: 2 })
  })

  test('an explicit batch is one request even if joining is off, and a failed call does not affect the others', async () => {
    one.script = respondWith(({ method }) =>
      method === 'eth_call' ? { error: { code: 3, message: 'execution reverted', data: '0x' } } : { result: method },
    )
    const transport = create()
    const [block, call, gas] = await transport.batch([
      { method: 'eth_blockNumber' },
      { method: 'eth_call', params: [{ to: '0xa' }, 'latest'] },
      { method: 'eth_gasPrice' },
    ])
    expect(block).toEqual({ status: 'fulfilled', value: 'eth_blockNumber' })
    expect(call.status === 'rejected' && call.reason).toMatchObject({ kind: 'revert' })
    expect(gas).toEqual({ status: 'fulfilled', value: 'eth_gasPrice' })
    expect(one.seen).toHaveLength(1)
  })

  test('two libraries on one transport share its requests and its budget', async () => {
    const transport = create({ batch: true, budget: { requestsPerDay: 3 }, retry: false })
    const library = (): Promise<unknown>[] =>
      ['eth_chainId', 'eth_gasPrice'].map((method) => transport.request({ method }))
    const [, gas, , again] = await Promise.all([...library(), ...library()])
    expect(again).toEqual(gas)
    expect(one.seen).toHaveLength(1)
    expect(transport.stats()).toMatchObject({
      calls: 4,
      joined: 2,
      endpointStates: [{ budget: { usedToday: 2, leftToday: 1 } }],
    })
    await transport.request({ method: 'net_version' })
    await expect(transport.request({ method: 'web3_clientVersion' })).rejects.toMatchObject({ kind: 'quota' })
  })
})

describe('several endpoints', () => {
  test('a read that fails at one is sent to the next, and stats show both', async () => {
    const transport = create({ ...both([{ name: 'main' }, { name: 'spare' }]), retry: false })
    one.script = raw(503, 'down')
    expect(await transport.request({ method: 'eth_gasPrice' })).toEqual(['two', 'eth_gasPrice'])
    expect(transport.redactedUrl).toBe('main')
    expect(transport.stats()).toMatchObject({
      rerouted: 1,
      endpointStates: [
        { name: 'main', health: { successRate: 0 } },
        { name: 'spare', health: { successRate: 1 } },
      ],
    })
  })

  test('one that keeps failing gets no more calls', async () => {
    const transport = create({ ...both(), retry: false })
    one.script = raw(503, 'down')
    for (let i = 0; i < 8; i++) await transport.request({ method: 'eth_gasPrice' })
    expect(one.seen).toHaveLength(5)
    expect(two.seen).toHaveLength(8)
  })

  test('without a breaker it gets each call first', async () => {
    const transport = create({ ...both(), retry: false, breaker: false })
    one.script = raw(503, 'down')
    for (let i = 0; i < 8; i++) await transport.request({ method: 'eth_gasPrice' })
    expect(one.seen).toHaveLength(8)
  })

  test('each has its own budget, if it has one', async () => {
    const transport = create({
      ...both([{ budget: { requestsPerDay: 1 } }]),
      budget: { requestsPerDay: 2 },
      retry: false,
    })
    const responses = []
    for (let i = 0; i < 3; i++) responses.push(await transport.request({ method: 'eth_gasPrice' }))
    expect(responses.map((reply) => (reply as string[])[0])).toEqual(['one', 'two', 'two'])
  })

  test('a group and its batches stay at one of them, despite equal weights', async () => {
    const transport = create(both([{ weight: 1 }, { weight: 1 }]))
    const group = transport.group()
    for (let i = 0; i < 4; i++) await group.request({ method: 'eth_getCode', params: [`0x${i}`] })
    await group.batch([{ method: 'eth_gasPrice' }, { method: 'eth_blockNumber' }])
    expect([one, two].map(({ seen }) => seen.length)).toEqual(expect.arrayContaining([0, 5]))
    for (let i = 0; i < 4; i++) await transport.request({ method: 'eth_getCode', params: [`0x${i}`] })
    expect(Math.min(one.seen.length, two.seen.length)).toBe(2)
  })

  test('attemptTimeoutMs applies to each of them', async () => {
    const transport = create({ ...both(), retry: false, attemptTimeoutMs: 2_000 })
    one.script = () => {}
    useFakeClock()
    const call = transport.request({ method: 'eth_gasPrice' })
    await until(() => one.seen.length === 1)
    await vi.advanceTimersByTimeAsync(1_999)
    expect(two.seen).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(await call).toEqual(['two', 'eth_gasPrice'])
  })

  test('different chain ids are rejected', () => {
    expect(() => create(both([{ chainId: 1 }, { chainId: 5 }]))).toThrow('all endpoints must have the same chainId')
    expect(() => create({ ...both([{ chainId: 1 }]), chainId: 5 })).toThrow('all endpoints must have the same chainId')
  })
})

describe('{network} in a URL', () => {
  test('is replaced by the network of all endpoints, or by that of one', async () => {
    const endpoints = failover(
      [
        { baseUrl: `${one.url}/{network}`, apiKey: 'kr_a0' },
        { rpcUrl: `${two.url}/{network}`, apiKey: 'kr_t0', network: 'base' },
      ],
      { network: 'base-mainnet', chainId: { 'base-mainnet': 7, base: 7 } },
    )
    const transport = createTransport({ endpoints, retry: false })
    onTestFinished(() => transport.close())
    one.script = raw(503, 'down')
    expect(await transport.request({ method: 'eth_gasPrice' })).toEqual(['two', 'eth_gasPrice'])
    expect([...one.seen, ...two.seen].map(({ path }) => path)).toEqual(['/base-mainnet/v2/kr_a0', '/base/kr_t0'])
  })

  test('needs a network', () => {
    const endpoint = { baseUrl: `${one.url}/{network}`, apiKey: 'kr_a0' }
    const message = 'baseUrl contains {network}. Pass network, such as "sepolia".'
    expect(() => createTransport(endpoint)).toThrow(message)
    expect(() => createTransport({ endpoints: failover([endpoint]) })).toThrow(message)
  })
})

describe('the chain id', () => {
  test('is requested once, when it is needed', async () => {
    const transport = create()
    expect(one.seen).toHaveLength(0)
    expect(await Promise.all([transport.chainId(), transport.chainId()])).toEqual([7, 7])
    expect(await transport.chainId()).toBe(7)
    expect(one.seen).toHaveLength(1)
  })

  test('is never requested if it is configured, with one endpoint or several', async () => {
    expect(await create({ chainId: 7 }).chainId()).toBe(7)
    const byNetwork = { ...both(), chainId: { testnet: 7, mainnet: 1 }, network: 'testnet' } as Partial<FullOptions>
    expect(await create(byNetwork).chainId()).toBe(7)
    expect(await create(both([{}, { chainId: 7 }])).chainId()).toBe(7)
    expect([...one.seen, ...two.seen]).toHaveLength(0)
  })

  test('is requested again after a failure or an invalid result', async () => {
    const transport = create({ retry: false })
    one.script = respondWith(() => ({ result: 'mainnet' }))
    await expect(transport.chainId()).rejects.toMatchObject({ kind: 'badResponse', method: 'eth_chainId' })
    one.script = echo('one')
    expect(await transport.chainId()).toBe(7)
  })

  test('separates the entries of a cache store by chain', async () => {
    const store = new Map<string, string>()
    const cacheStore = {
      get: (name: string) => store.get(name),
      set: (name: string, text: string) => void store.set(name, text),
    }
    one.script = respondWith(({ params }) => ({ result: { hash: params[0], number: '0x1' } }))
    const transport = create({ chainId: 7, cache: { store: cacheStore } })
    const args = { method: 'eth_getBlockByHash', params: [`0x${'ab'.repeat(32)}`, false] }
    for (let i = 0; i < 2; i++) await transport.request(args)
    expect(one.seen).toHaveLength(1)
    expect([...store.keys()].every((name) => name.startsWith('keyrail:7:'))).toBe(true)
    expect(store.size).toBe(1)
  })
})

describe('options of single layers', () => {
  test('coalesce: false sends each call', async () => {
    const transport = create({ coalesce: false })
    await Promise.all([1, 2].map(() => transport.request({ method: 'eth_gasPrice' })))
    expect(one.seen).toHaveLength(2)
  })

  test('maxInFlight makes other calls wait, for up to maxWaitMs', async () => {
    const transport = create({ maxInFlight: 1, maxWaitMs: 30, coalesce: false })
    one.script = () => {}
    useFakeClock()
    const calls = Promise.allSettled([
      transport.request({ method: 'eth_gasPrice' }, { timeoutMs: 200 }),
      transport.request({ method: 'eth_gasPrice' }, { timeoutMs: 200 }),
    ])
    await until(() => one.seen.length === 1)
    await vi.advanceTimersByTimeAsync(29)
    expect(transport.stats().failed).toBe(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(transport.stats().failed).toBe(1)
    await vi.advanceTimersByTimeAsync(170)
    expect(await calls).toMatchObject([
      { reason: { kind: 'timeout' } },
      { reason: { kind: 'throttled', source: 'client' } },
    ])
    expect(one.seen).toHaveLength(1)
  })

  test('with keccak256, a write with a nonsense result is looked up', async () => {
    const hash = `0x${'ab'.repeat(32)}` as const
    const keccak256 = (hex: string): `0x${string}` => (hex === '0x' ? emptyHash : hash)
    one.script = respondWith(({ method }) =>
      method === 'eth_getTransactionByHash' ? { result: { hash } } : { result: '0xnonsense' },
    )
    const transport = create({ keccak256 })
    expect(await transport.request({ method: 'eth_sendRawTransaction', params: ['0x02c0'] })).toBe(hash)
    expect(methodsAt(one)).toEqual(['eth_sendRawTransaction', 'eth_getTransactionByHash'])
  })

  test('custom layers run within the deadline, and hooks still report their calls', async () => {
    useFakeClock()
    const seen: string[] = []
    const transport = create({
      timeoutMs: 400,
      layers: [
        layer((request) => async (args, options) => {
          seen.push('in')
          const value = await request(args, options)
          seen.push('out')
          return value
        }),
      ],
      hooks: { onAttempt: ({ method }) => void seen.push(method), onFailure: ({ kind }) => void seen.push(kind) },
    })
    await transport.request({ method: 'eth_gasPrice' })
    expect(seen).toEqual(['in', 'eth_gasPrice', 'out'])
    one.script = () => {}
    const late = transport.request({ method: 'eth_gasPrice' }).catch((error: unknown) => error)
    await until(() => one.seen.length === 2)
    await vi.advanceTimersByTimeAsync(400)
    expect(await late).toMatchObject({ kind: 'timeout' })
    expect(seen.slice(3)).toContain('timeout')
  })

  test('a hook that throws does not affect the call, and is counted', async () => {
    const broken = (): never => {
      throw new Error('mine')
    }
    const transport = create({ hooks: { onRequest: broken, onAttempt: broken, onResponse: broken } })
    expect(await transport.request({ method: 'eth_gasPrice' })).toEqual(['one', 'eth_gasPrice'])
    // Calls do not wait for hooks.
    await until(() => transport.stats().hookErrors === 3)
  })
})

test('a layer that throws fails only its own call', async () => {
  const bad = new Error('mine')
  const transport = create({
    layers: [
      (next) => (call, complete) => {
        if (call.method === 'eth_gasPrice') throw bad
        next(call, complete)
      },
    ],
  })
  await expect(transport.request({ method: 'eth_gasPrice' })).rejects.toBe(bad)
  expect(transport.stats()).toMatchObject({ calls: 1, inFlight: 0, failed: 1 })
  await transport.request({ method: 'eth_blockNumber' })
  expect(transport.stats()).toMatchObject({ calls: 2, inFlight: 0, answered: 1 })
})

describe('closing', () => {
  test('ends the calls in flight at every endpoint and in every group, and rejects new ones', async () => {
    const transport = create(both([{ weight: 1 }, { weight: 1 }]))
    one.script = two.script = () => {}
    const group = transport.group()
    const calls = [transport, transport, group].map((on) => on.request({ method: 'eth_gasPrice' }))
    await until(() => one.seen.length + two.seen.length > 0)
    transport.close()
    for (const call of calls) await expect(call).rejects.toMatchObject({ kind: 'aborted' })
    for (const on of [transport, group])
      await expect(on.request({ method: 'eth_gasPrice' })).rejects.toMatchObject({ kind: 'aborted' })
    expect(transport.stats().inFlight).toBe(0)
  })

  test('a group ends its own calls and leaves the transport open', async () => {
    const transport = create()
    one.script = () => {}
    const group = transport.group()
    const mine = group.request({ method: 'eth_gasPrice' })
    useFakeClock()
    const others = transport.request({ method: 'eth_chainId' }, { timeoutMs: 300 }).catch((error: unknown) => error)
    group.close()
    await expect(mine).rejects.toMatchObject({ kind: 'aborted' })
    await expect(group.request({ method: 'eth_gasPrice' })).rejects.toMatchObject({ kind: 'aborted' })
    expect(await group.batch([{ method: 'eth_gasPrice' }])).toMatchObject([{ reason: { kind: 'aborted' } }])
    await vi.advanceTimersByTimeAsync(300)
    expect(await others).toMatchObject({ kind: 'timeout' })
  })

  test('an abort ends a call at every stage, with the given reason', async () => {
    const transport = create({ ...both(), maxInFlight: 1, batch: true, cache: true, hedge: true, coalesce: false })
    one.script = two.script = () => {}
    const calls = Array.from({ length: 4 }, (_, at) => {
      const controller = new AbortController()
      const reason = { at }
      const call = transport.request(
        { method: at % 2 ? 'eth_getLogs' : 'eth_gasPrice', params: at % 2 ? [{}] : [] },
        { signal: controller.signal },
      )
      return { controller, reason, call }
    })
    await until(() => one.seen.length + two.seen.length > 0)
    for (const { controller, reason, call } of calls) {
      controller.abort(reason)
      expect(await call.catch((error: unknown) => error)).toBe(reason)
    }
    expect(transport.stats().inFlight).toBe(0)
  })
})

describe('bad input', () => {
  test.each([
    [{ timeout: 5 }, 'Unknown option "timeout". Did you mean "timeoutMs"?'],
    [{ endpoints: [] }, 'failover takes an array of 1 to 30 endpoints'],
    [{ endpoints: [{ url: 'http://a.example', wieght: 1 }] }, 'Unknown option "wieght". Did you mean "weight"?'],
    [{ endpoints: [{ url: 'http://a.example', weight: -1 }] }, 'weight must be a number from 0'],
    [{ batch: { maxCalls: 0 } }, 'maxCalls must be a number from 1'],
    [{ coalesce: 1 }, 'coalesce must be true or false'],
    [{ cache: 5 }, 'cache takes an object of options'],
    [{ cache: { maxBytes: 0 } }, 'maxBytes must be a number from 1'],
    [{ breaker: 5 }, 'breaker must be true, false, or an object'],
    [{ budget: { requestsPerSecond: 0 } }, 'requestsPerSecond must be a number'],
    [{ maxInFlight: 0 }, 'maxInFlight must be a number from 1'],
    [{ maxWaitMs: 0 }, 'maxWaitMs must be a number from 1'],
    [{ attemptTimeoutMs: 0 }, 'attemptTimeoutMs must be a number from 1'],
    [{ order: 'fastest' }, "order must be 'given' or 'latency'"],
    [
      { order: 'latency', endpoints: [{ url: 'http://a.example' }, { url: 'http://b.example', weight: 1 }] },
      'except for weight 0',
    ],
    [
      { order: 'latency', breaker: false, endpoints: [{ url: 'http://a.example' }, { url: 'http://b.example' }] },
      "order: 'latency' needs the circuit breaker",
    ],
    [{ hedge: { percentile: 0 } }, 'hedge.percentile must be a number from 1'],
    [{ minBlock: 5 }, 'minBlock must be true or false'],
    [{ retry: -1 }, 'retries must be a number from 0'],
    [{ timeoutMs: 0 }, 'timeoutMs must be a number from 1'],
    [{ layers: {} }, 'layers must be an array of functions'],
    [{ hooks: { onRequest: 5 } }, 'onRequest'],
    [{ hooks: { onRequests: () => {} } }, 'onRequests'],
    [{ keccak256: () => '0x' }, 'keccak256 must be a function'],
    [{ agent: {} }, 'agent must be an http.Agent'],
    [{ maxResponseBytes: 0 }, 'maxResponseBytes must be a number from 1'],
    [{ fetch: 5 }, 'fetch must be a function'],
  ])('%j is rejected', (wrong, message) => {
    const address = 'endpoints' in wrong ? {} : { url: `https://node.example/v2/${key}` }
    let rejection: unknown
    try {
      createFullTransport({ ...address, ...wrong } as unknown as FullOptions)
    } catch (error) {
      rejection = error
    }
    expect(isKeyrailError(rejection, 'invalidRequest')).toBe(true)
    expect((rejection as KeyrailError).message).toContain(message)
    expect(reachableStrings(rejection).filter((text) => text.includes(key))).toEqual([])
  })
})

describe('an option that takes a feature', () => {
  const url = `https://node.example/v2/${key}`
  test.each([
    [{ url, batch: true }, 'batch must be made by its function, not a boolean: write batch: batch()'],
    [{ url, batch: { maxCalls: 5 } }, 'batch must be made by its function'],
    [{ url, batch }, 'batch must be made by its function'],
    [{ url, budget: { requestsPerSecond: 5 } }, 'write budget: budget({ requestsPerSecond: 25 })'],
    [{ url, cache: true }, 'write cache: cache()'],
    [{ url, cache: null }, 'write cache: cache()'],
    [{ url, safeWrites: true }, 'write safeWrites: safeWrites({ keccak256 })'],
    [{ url, stats: true }, 'write stats: stats()'],
    [{ url, hooks: { onFailure: () => {} } }, 'write hooks: hooks({ onFailure })'],
    [{ url, tracing: { api: {} } }, 'write tracing: tracing({ api })'],
    [{ url, diagnostics: true }, 'write diagnostics: diagnostics()'],
    [{ url, webSocket: true }, 'write webSocket: webSocket()'],
    [{ url, webSocket }, 'write webSocket: webSocket()'],
    [{ endpoints: [{ url }] }, 'write endpoints: failover([{ url }])'],
    [{ endpoints: url }, 'write endpoints: failover([{ url }])'],
    [
      { endpoints: failover([{ url }]), apiKey: key },
      'apiKey cannot be used together with endpoints: pass it to failover',
    ],
    [{ endpoints: failover([{ url }]), url }, 'url cannot be used together with endpoints'],
  ])('accepts nothing else (%#)', (wrong, message) => {
    let rejection: unknown
    try {
      createTransport(wrong as never)
    } catch (error) {
      rejection = error
    }
    expect(isKeyrailError(rejection, 'invalidRequest')).toBe(true)
    expect((rejection as KeyrailError).message).toContain(message)
    expect(reachableStrings(rejection).filter((text) => text.includes(key))).toEqual([])
  })

  test('adds its methods only if it is named', () => {
    const plain = createTransport({ url })
    expect(plain).not.toHaveProperty('batch')
    expect(plain).not.toHaveProperty('stats')
    expect(plain.group()).not.toHaveProperty('batch')
    const full = createTransport({ url, batch: batch(), stats: stats() })
    expect(typeof full.batch).toBe('function')
    expect(typeof full.group().batch).toBe('function')
    expect(full.stats()).toMatchObject({
      calls: 0,
      endpointStates: [{ head: 0, health: undefined, budget: undefined }],
    })
    expect(createTransport({ url, budget: budget(), stats: stats() }).stats().endpointStates[0]?.budget).toMatchObject({
      used: 0,
    })
  })
})

test('nothing reachable from a transport, its stats or its failures contains a key', async () => {
  const transport = create({
    endpoints: [{ baseUrl: one.url, apiKey: key }, { url: `${two.url}/${key}` }],
    cache: true,
    batch: true,
    retry: false,
  } as unknown as FullOptions)
  one.script = two.script = (_, response) => response.writeHead(403).end(`key ${key} is not allowed`)
  const failure = await transport.request({ method: 'eth_gasPrice' }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ kind: 'forbidden' })
  const group = transport.group()
  const seen = reachableStrings([
    transport,
    transport.stats(),
    group,
    failure,
    await group.batch([{ method: 'eth_call' } as never]),
  ])
  expect(seen.length).toBeGreaterThan(50)
  expect(seen.filter((text) => text.includes(key))).toEqual([])
})
