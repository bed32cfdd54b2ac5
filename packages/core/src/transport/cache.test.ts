import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createFailure } from '../failure/createFailure.ts'
import { cache } from './cache.ts'
import type { CacheOptions, CacheStore } from './cache.ts'
import type { RequestArguments } from './call/call.ts'
import type { Endpoint } from './endpoint/http.ts'
import type { Transport } from './transport.ts'
import { cacheOn, compose, deadline } from '../../test/layers.ts'

const redactedUrl = 'https://node.example/v2/…'
const hash = `0x${'a'.repeat(64)}`
const byHash: RequestArguments = { method: 'eth_getBlockByHash', params: [hash, false] }
const byNumber = (number: string): RequestArguments => ({ method: 'eth_getBlockByNumber', params: [number, false] })

/** A node at block 200 whose block 100 is final. */
const node = (): Endpoint & { readonly sent: string[]; response?: (method: string) => unknown } => {
  const endpoint: ReturnType<typeof node> = {
    redactedUrl,
    sent: [],
    close: () => {},
    send: ({ method, params }, complete) => {
      endpoint.sent.push(method + params)
      const [place] = JSON.parse(params) as string[]
      const numbers: Record<string, string> = { latest: '0xc8', finalized: '0x64' }
      const own = endpoint.response?.(method)
      if (own instanceof Error) return complete(false, own)
      if (own !== undefined) return complete(true, own)
      if (method === 'eth_chainId') return complete(true, '0x7')
      if (method === 'eth_blockNumber') return complete(true, '0xc8')
      complete(true, {
        hash: place === hash ? hash : '0xother',
        number: numbers[place ?? ''] ?? place,
        transactions: [],
      })
    },
  }
  return endpoint
}

let endpoint: ReturnType<typeof node>
const make = ({ chainId, ...options }: CacheOptions & { readonly chainId?: number } = {}): Transport =>
  compose(endpoint, cacheOn(chainId, options), deadline())
/** Makes calls one after the other. @returns How many reach the node. */
const sentBy = async (transport: Transport, ...calls: RequestArguments[]): Promise<number> => {
  const before = endpoint.sent.length
  for (const call of calls) await transport.request(call)
  return endpoint.sent.length - before
}

beforeEach(() => {
  vi.useFakeTimers()
  endpoint = node()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('cache', () => {
  test('requests an immutable result once', async () => {
    const transport = make()
    expect(await sentBy(transport, byHash, byHash, byHash)).toBe(1)
    expect(await transport.request(byHash)).toEqual({ hash, number: hash, transactions: [] })
  })

  test('returns a separate object to each caller', async () => {
    const transport = make()
    const first = (await transport.request(byHash)) as { transactions: unknown[] }
    first.transactions.push('spoilt')
    const second = await transport.request(byHash)
    const third = await transport.request(byHash)
    expect(second).toEqual({ hash, number: hash, transactions: [] })
    expect(third).toEqual(second)
    expect(third).not.toBe(second)
  })

  test('requests the chain id once', async () => {
    const call = { method: 'eth_chainId' }
    expect(await sentBy(make(), call, call)).toBe(1)
  })

  test('requests results that may change every time', async () => {
    const transport = make()
    for (const call of [byNumber('latest'), byNumber('0x64'), { method: 'eth_blockNumber' }])
      expect(await sentBy(transport, call, call)).toBe(2)
  })

  test('caches no failure', async () => {
    const transport = make()
    endpoint.response = (method) => createFailure({ text: 'busy', status: 503 }, { method, redactedUrl })
    await expect(transport.request(byHash)).rejects.toMatchObject({ kind: 'unavailable' })
    delete endpoint.response
    expect(await sentBy(transport, byHash, byHash)).toBe(1)
  })

  test('caches no null, but the result that follows it', async () => {
    const transport = make()
    endpoint.response = () => null
    expect(await sentBy(transport, byHash, byHash)).toBe(2)
    delete endpoint.response
    expect(await sentBy(transport, byHash, byHash)).toBe(1)
  })

  test('caches nothing that JSON cannot represent', async () => {
    const transport = make()
    endpoint.response = () => ({ hash, number: 1n })
    expect(await sentBy(transport, byHash, byHash)).toBe(2)
  })

  test('shares nothing between two transports made with one layer', async () => {
    const layer = cache()
    const one = compose(endpoint, layer)
    const two = compose(endpoint, layer)
    expect(await sentBy(one, byHash)).toBe(1)
    expect(await sentBy(two, byHash)).toBe(1)
  })

  test('reports when a result comes from the cache', async () => {
    const events: unknown[] = []
    const transport = compose(endpoint, cache(), (next) => (call, complete) => {
      next(Object.assign(call, { emit: (event: unknown) => events.push(event) }), complete)
    })
    await transport.request(byHash)
    expect(events).toEqual([])
    await transport.request(byHash)
    expect(events).toEqual([{ type: 'cached' }])
  })

  test.each([
    [{ maxBytes: 0 }, 'maxBytes must be a number from 1'],
    [{ maxBytes: Number.NaN }, 'maxBytes must be a number from 1'],
    [{ finalityDepth: 0 }, 'finalityDepth must be a number from 1'],
    [
      { store: { get: () => undefined } as never },
      'store must be an object with the functions get(key) and set(key, text)',
    ],
    [{ store: null as never }, 'store must be an object with the functions get(key) and set(key, text)'],
  ])('rejects %j', (options, message) => {
    expect(() => cache(options)).toThrow(message)
  })

  test('rejects a store without a chain id', () => {
    const store = new Map<string, string>() as unknown as CacheStore
    expect(() => make({ store })).toThrow('the store of cache works only with chainId')
  })
})

describe('finality', () => {
  test('is learned from responses about the finalized block, without requests of its own', async () => {
    const transport = make()
    expect(await sentBy(transport, byNumber('0x64'), byNumber('0x64'))).toBe(2)
    await transport.request(byNumber('finalized'))
    expect(await sentBy(transport, byNumber('0x64'), byNumber('0x64'))).toBe(1)
    expect(await sentBy(transport, byNumber('0x65'), byNumber('0x65'))).toBe(2)
    expect(endpoint.sent.filter((sent) => sent.includes('finalized'))).toHaveLength(1)
  })

  test('never goes back, for example if a node lags', async () => {
    const transport = make()
    await transport.request(byNumber('finalized'))
    endpoint.response = () => ({ number: '0x10' })
    await transport.request(byNumber('finalized'))
    delete endpoint.response
    expect(await sentBy(transport, byNumber('0x64'), byNumber('0x64'))).toBe(1)
  })

  test.each([null, { number: null }, { number: 'many' }, '0x', { number: `0x${'f'.repeat(64)}` }])(
    'is not learnt from %j',
    async (value) => {
      const transport = make()
      endpoint.response = () => value
      await transport.request(byNumber('finalized'))
      delete endpoint.response
      expect(await sentBy(transport, byNumber('0x1'), byNumber('0x1'))).toBe(2)
    },
  )

  test('is compared as of the start of the call, not of its response', async () => {
    let completeOld: (() => void) | undefined
    const slow: Endpoint = {
      ...endpoint,
      send: (call, complete) => {
        if (call.params.includes('0x64') && !completeOld) {
          endpoint.sent.push(call.method)
          completeOld = () => complete(true, { number: '0x64', hash: '0xforked' })
        } else endpoint.send(call, complete)
      },
    }
    const transport = compose(slow, cache())
    const old = transport.request(byNumber('0x64'))
    await transport.request(byNumber('finalized'))
    completeOld?.()
    expect(await old).toMatchObject({ hash: '0xforked' })
    expect(await transport.request(byNumber('0x64'))).toMatchObject({ hash: '0xother' })
    expect(await sentBy(transport, byNumber('0x64'))).toBe(0)
  })

  test.each([{ method: 'eth_blockNumber' }, byNumber('latest')])(
    'is counted from the highest block seen by finalityDepth: %j',
    async (head) => {
      const transport = make({ finalityDepth: 50 })
      expect(await sentBy(transport, byNumber('0x96'), byNumber('0x96'))).toBe(2)
      await transport.request(head)
      expect(await sentBy(transport, byNumber('0x96'), byNumber('0x96'))).toBe(1)
      expect(await sentBy(transport, byNumber('0x97'), byNumber('0x97'))).toBe(2)
    },
  )

  test('is not learned from pending blocks', async () => {
    const transport = make({ finalityDepth: 1 })
    endpoint.response = () => ({ number: '0xff' })
    await transport.request(byNumber('pending'))
    delete endpoint.response
    expect(await sentBy(transport, byNumber('0x1'), byNumber('0x1'))).toBe(2)
  })
})

describe('store', () => {
  const key = `keyrail:7:eth_getBlockByHash["${hash}",false]`
  const block = JSON.stringify({ hash, number: '0x5' })
  /** Creates a store that returns values or promises. */
  const createStore = (entries: Map<string, string>, later = false): CacheStore => ({
    get: (at) => (later ? Promise.resolve(entries.get(at) ?? null) : entries.get(at)),
    set: (at, text) => {
      entries.set(at, text)
      return later ? Promise.resolve() : undefined
    },
  })

  test.each([false, true])('makes results available to the next process, by a promise: %s', async (later) => {
    const entries = new Map<string, string>()
    expect(await sentBy(make({ store: createStore(entries, later), chainId: 7 }), byHash)).toBe(1)
    expect([...entries.keys()]).toEqual([key])
    expect(await sentBy(make({ store: createStore(entries, later), chainId: 7 }), byHash, byHash)).toBe(0)
    // The keys of two chains differ.
    expect(await sentBy(make({ store: createStore(entries, later), chainId: 8 }), byHash)).toBe(1)
  })

  test('returns final results before this process knows the finalized block', async () => {
    const store = createStore(new Map())
    const first = make({ store, chainId: 7 })
    await first.request(byNumber('finalized'))
    await first.request(byNumber('0x64'))
    expect(await sentBy(make({ store, chainId: 7 }), byNumber('0x64'))).toBe(0)
  })

  test('is read once: the text is then cached in memory', async () => {
    const entries = new Map([[key, block]])
    const get = vi.fn<CacheStore['get']>((at) => entries.get(at))
    const transport = make({ store: { get, set: () => {} }, chainId: 7 })
    expect(await sentBy(transport, byHash, byHash, byHash)).toBe(0)
    expect(get).toHaveBeenCalledTimes(1)
  })

  test('is not read for results that may change, nor for the chain id', async () => {
    const get = vi.fn<CacheStore['get']>()
    const set = vi.fn<CacheStore['set']>()
    const transport = make({ store: { get, set }, chainId: 7 })
    await sentBy(transport, byNumber('latest'), { method: 'eth_chainId' }, { method: 'eth_blockNumber' })
    expect(get).not.toHaveBeenCalled()
    expect(set).not.toHaveBeenCalled()
  })

  test.each([
    ['cut off', '{"hash":'],
    ['null', 'null'],
    ['another block', JSON.stringify({ hash: '0xother' })],
    ['no text', 5 as unknown as string],
  ])('does no harm if it contains %s', async (_, text) => {
    const transport = make({ store: createStore(new Map([[key, text]])), chainId: 7 })
    expect(await sentBy(transport, byHash)).toBe(1)
  })

  const fail = (): never => {
    throw new Error('disk full')
  }
  test.each<[string, CacheStore]>([
    ['throws', { get: fail, set: fail }],
    ['rejects', { get: async () => fail(), set: async () => fail() }],
  ])('does no harm if it %s', async (_, store) => {
    const transport = make({ store, chainId: 7 })
    expect(await sentBy(transport, byHash, byHash)).toBe(1)
  })

  describe('that hangs', () => {
    const get = vi.fn<CacheStore['get']>(() => new Promise(() => {}))
    const set = vi.fn<CacheStore['set']>(() => new Promise(() => {}))
    beforeEach(() => void vi.clearAllMocks())

    test('is awaited for 250 ms, and then not used for 5 s', async () => {
      const transport = make({ store: { get, set }, chainId: 7 })
      const outcome = transport.request(byHash)
      await vi.advanceTimersByTimeAsync(249)
      expect(endpoint.sent).toHaveLength(0)
      await vi.advanceTimersByTimeAsync(1)
      expect(await outcome).toMatchObject({ hash })
      const other = byNumber('0x1')
      expect(await sentBy(transport, other)).toBe(1)
      expect(get).toHaveBeenCalledTimes(1)
      await vi.advanceTimersByTimeAsync(5_000)
      const later = transport.request(other)
      expect(get).toHaveBeenCalledTimes(2)
      await vi.advanceTimersByTimeAsync(250)
      await later
    })

    test('gets no more writes once 100 writes hang', async () => {
      const transport = make({ store: { get: () => undefined, set }, chainId: 7 })
      endpoint.response = () => '0x1'
      for (let n = 0; n < 150; n++)
        await transport.request({ method: 'eth_getBalance', params: [`0x${n}`, { blockHash: hash }] })
      expect(set).toHaveBeenCalledTimes(100)
    })

    test('does not delay a caller that aborts or times out', async () => {
      const transport = make({ store: { get, set }, chainId: 7 })
      const controller = new AbortController()
      const aborted = transport.request(byHash, { signal: controller.signal }).catch((error: unknown) => error)
      const late = transport.request(byHash, { timeoutMs: 100 }).catch((error: unknown) => error)
      controller.abort('enough')
      expect(await aborted).toBe('enough')
      await vi.advanceTimersByTimeAsync(100)
      expect(await late).toMatchObject({ kind: 'timeout' })
      await vi.advanceTimersByTimeAsync(1_000)
      expect(endpoint.sent).toHaveLength(0)
    })
  })

  test('that responds after the caller has aborted starts nothing', async () => {
    let give: ((text: undefined) => void) | undefined
    const store: CacheStore = { get: () => new Promise((resolve) => (give = resolve)), set: () => {} }
    const controller = new AbortController()
    const transport = make({ store, chainId: 7 })
    const outcome = transport.request(byHash, { signal: controller.signal }).catch((error: unknown) => error)
    controller.abort('enough')
    give?.(undefined)
    expect(await outcome).toBe('enough')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(endpoint.sent).toHaveLength(0)
  })

  test('that responds too late changes nothing', async () => {
    let give: ((text: string) => void) | undefined
    const store: CacheStore = { get: () => new Promise((resolve) => (give = resolve)), set: () => {} }
    const outcome = make({ store, chainId: 7 }).request(byHash)
    await vi.advanceTimersByTimeAsync(250)
    give?.(block)
    expect(await outcome).toMatchObject({ number: hash })
    expect(endpoint.sent).toHaveLength(1)
  })
})
