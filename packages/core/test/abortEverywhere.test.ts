import { layer } from '@keyrail/core'
import type { CallOptions, RequestArguments } from '@keyrail/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { memoryFetch } from './memoryFetch.ts'
import type { Fetched, FetchReply, MemoryFetch } from './memoryFetch.ts'
import { echoAll } from './scriptedPost.ts'
import type { RpcCall } from './scriptedPost.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions, FullTransport, TransportGroup } from './fullTransport.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** The default timeout of the call under test, in milliseconds. */
const TIMEOUT_MS = 1_000
/** How long responses to other calls take, in milliseconds. */
const OTHERS_MS = 1_500

/** A transport with calls in flight. The params name the call: `mine` is the call under test. */
interface Setup {
  readonly transport: FullTransport
  readonly memory: MemoryFetch
  /** Starts the call under test. */
  readonly mine: (args?: RequestArguments, options?: CallOptions) => void
  /** Starts another call, which must get its own result. */
  readonly other: (args?: RequestArguments, options?: CallOptions) => void
  /** Creates a promise of user code. It resolves after the call under test has ended. */
  readonly later: <T>(value: T) => Promise<T>
  /** The number of these promises. */
  promises: number
}

interface Place {
  readonly options?: (setup: () => Setup) => Partial<FullOptions>
  /** Starts the calls, so that the call under test reaches the place. */
  readonly arrive: (setup: Setup) => void | Promise<void>
  /** Observes from outside that the call is at the place. Compared with {@link expectedStates}. */
  readonly getState?: (setup: Setup) => readonly unknown[]
  readonly timeoutMs?: number
  /** Time in a queue of the transport, in milliseconds. It does not count towards the timeout. */
  readonly queuedMs?: number
  /** The kind of failure at the deadline; `never` if the call cannot be at this place then. @default 'timeout' */
  readonly late?: 'timeout' | 'unconfirmed' | 'never'
  /** The call under test is an explicit batch. Its calls all fail in the same way. */
  readonly batched?: boolean
}

const mine = { method: 'eth_getCode', params: ['mine', 'latest'] }
const others = { method: 'eth_getCode', params: ['other', 'latest'] }
/** The same for both: they share one request. */
const both = { method: 'eth_getCode', params: ['both', 'latest'] }
const raw = { method: 'eth_sendRawTransaction', params: ['0x02c0'] }
const getBlock = { method: 'eth_getBlockByHash', params: [`0x${'ab'.repeat(32)}`, false] }

const emptyHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
const keccak256 = (hex: string): `0x${string}` => (hex === '0x' ? emptyHash : `0x${'cd'.repeat(32)}`)

const two = { endpoints: [{ url: 'https://one.example' }, { url: 'https://two.example' }], attemptTimeoutMs: 5_000 }
const unavailable: FetchReply = { status: 503, text: 'down', headers: { 'retry-after': '0.9' } }
const replyTo = ({ rpcCalls }: Fetched, fields: object): FetchReply => ({
  text: JSON.stringify({ jsonrpc: '2.0', id: (rpcCalls[0] as RpcCall).id, ...fields }),
})
const isMine = ({ rpcCalls }: Fetched): boolean => rpcCalls.every(({ params }) => !/other|both/.test(String(params[0])))
const countSent = (name: string, { memory }: Setup): number =>
  memory.sent.filter(({ rpcCalls }) => rpcCalls.some(({ params }) => params[0] === name)).length
const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

/** Responds to other calls after a delay, and never to the call under test, unless `first` returns a reply. */
const script =
  (first: (sent: Fetched) => FetchReply | undefined = () => undefined): MemoryFetch['script'] =>
  (sent) =>
    first(sent) ?? (isMine(sent) ? { never: true } : { ...echoAll(sent), afterMs: OTHERS_MS })

const places: Record<string, Place> = {
  'at the promise of the key function': {
    options: (setup) => ({
      url: undefined,
      baseUrl: 'https://one.example',
      apiKey: () => setup().later('notARealKey'),
    }),
    arrive: ({ mine: call, other }) => {
      other()
      call()
    },
    getState: (setup) => [setup.promises, setup.memory.sent.length],
  },
  'at the promise of the jwt function': {
    options: (setup) => ({ jwt: () => setup().later('notARealToken') }),
    arrive: ({ mine: call, other }) => {
      other()
      call()
    },
    getState: (setup) => [setup.promises, setup.memory.sent.length],
  },
  'in the queue for the budget': {
    options: () => ({ budget: { requestsPerSecond: 0.25, burst: 1 }, coalesce: false }),
    arrive: ({ mine: call, other }) => {
      other()
      call()
    },
    getState: ({ transport }) => [transport.stats().endpointStates[0]?.budget?.queued.read],
    queuedMs: 4_000,
  },
  'in the queue at the gate': {
    options: () => ({ maxInFlight: 1, coalesce: false }),
    arrive: ({ mine: call, other }) => {
      other()
      call()
    },
    getState: (setup) => [setup.transport.stats().inFlight, setup.memory.sent.length],
    queuedMs: OTHERS_MS,
  },
  'in the queue at the gate, for longer than its timeout': {
    options: () => ({ maxInFlight: 1, coalesce: false }),
    arrive: async ({ mine: call, other }) => {
      other()
      call()
      await advance(TIMEOUT_MS + 200)
    },
    getState: (setup) => [setup.transport.stats().inFlight, setup.memory.sent.length],
    queuedMs: OTHERS_MS,
  },
  'in the queue at the gate, in a batch with another': {
    options: () => ({ maxInFlight: 1, batch: true, coalesce: false }),
    arrive: async ({ mine: call, other }) => {
      other()
      await advance(0)
      call()
      other({ ...others, params: ['other', '0x1'] })
    },
    getState: (setup) => [setup.transport.stats().inFlight, setup.memory.sent.length],
    queuedMs: OTHERS_MS,
  },
  'before the microtask of the batch': {
    options: () => ({ batch: true }),
    arrive: ({ mine: call, other }) => {
      other()
      call()
    },
    late: 'never',
  },
  'in a batch with another, on its way': {
    options: () => ({ batch: true }),
    arrive: async ({ mine: call, other }) => {
      other()
      call()
      await advance(1)
    },
    getState: ({ memory }) => [memory.sent.length, memory.sent[0]?.rpcCalls.length],
  },
  'in an explicit batch': {
    arrive: async ({ mine: call, other }) => {
      call()
      other()
      await advance(1)
    },
    getState: (setup) => [setup.memory.sent.find(isMine)?.rpcCalls.length, countSent('other', setup)],
    batched: true,
  },
  'waiting for the head of the response': {
    arrive: async ({ mine: call, other }) => {
      call()
      other()
      await advance(1)
    },
    getState: (setup) => [countSent('mine', setup), countSent('other', setup)],
  },
  'in the middle of the body': {
    arrive: async ({ mine: call, memory }) => {
      memory.script = () => ({ headOnly: true })
      call()
      await advance(1)
    },
    getState: ({ memory }) => [memory.open],
  },
  'in the wait before a retry': {
    arrive: async ({ mine: call, other, memory, transport }) => {
      memory.script = script((sent) => (isMine(sent) && transport.stats().retries === 0 ? unavailable : undefined))
      call()
      other()
      await advance(5)
    },
    getState: (setup) => [setup.transport.stats().retries, countSent('mine', setup)],
  },
  'at the first endpoint of several': {
    options: () => two,
    arrive: async ({ mine: call, other }) => {
      call()
      other()
      await advance(1)
    },
    getState: (setup) => [countSent('mine', setup), countSent('other', setup)],
  },
  'at the second endpoint, after the first failed': {
    options: () => two,
    arrive: async ({ mine: call, memory }) => {
      memory.script = script(({ url }) => (url.includes('one') ? unavailable : undefined))
      call()
      await advance(5)
    },
    getState: (setup) => [setup.transport.stats().rerouted, countSent('mine', setup)],
  },
  'at two endpoints at once, as a hedged call': {
    options: () => ({ ...two, hedge: true }),
    arrive: async ({ mine: call, other, memory }) => {
      memory.script = echoAll
      for (let i = 0; i < 20; i++) other({ ...others, params: ['other', `0x${i}`] })
      await advance(10)
      memory.script = script()
      call()
      await advance(100)
    },
    getState: (setup) => [setup.transport.stats().hedged, countSent('mine', setup), setup.memory.open],
  },
  'in the head query of minBlock': {
    arrive: async ({ mine: call }) => {
      call(mine, { minBlock: 5 })
      await advance(1)
    },
    getState: ({ memory }) => memory.sent.map(({ rpcCalls }) => rpcCalls[0]?.method),
  },
  'in the head query of minBlock, shared with another call': {
    arrive: async ({ mine: call, other, memory }) => {
      memory.script = script((sent) =>
        sent.rpcCalls[0]?.method === 'eth_blockNumber'
          ? { ...replyTo(sent, { result: '0x10' }), afterMs: OTHERS_MS }
          : undefined,
      )
      call(mine, { minBlock: 5 })
      other(others, { minBlock: 5 })
      await advance(1)
    },
    getState: ({ memory }) => memory.sent.map(({ rpcCalls }) => rpcCalls[0]?.method),
  },
  'in the send of a safe write': {
    options: () => ({ keccak256 }),
    arrive: async ({ mine: call }) => {
      call(raw)
      await advance(1)
    },
    getState: ({ memory }) => memory.sent.map(({ rpcCalls }) => rpcCalls[0]?.method),
    late: 'unconfirmed',
  },
  'in the look-up of a safe write': {
    options: () => ({ keccak256 }),
    arrive: async ({ mine: call, memory }) => {
      memory.script = script((sent) =>
        sent.rpcCalls[0]?.method === raw.method
          ? replyTo(sent, { error: { code: -32_000, message: 'already known' } })
          : undefined,
      )
      call(raw)
      await advance(5)
    },
    getState: ({ memory }) => memory.sent.map(({ rpcCalls }) => rpcCalls[0]?.method),
    late: 'unconfirmed',
  },
  'in the pause between two look-ups of a safe write': {
    options: () => ({ keccak256 }),
    arrive: async ({ mine: call, memory }) => {
      memory.script = (sent) =>
        replyTo(
          sent,
          sent.rpcCalls[0]?.method === raw.method
            ? { error: { code: -32_000, message: 'already known' } }
            : { result: null },
        )
      call(raw)
      await advance(10)
    },
    getState: ({ memory }) => [memory.open, ...memory.sent.map(({ rpcCalls }) => rpcCalls[0]?.method)],
    late: 'unconfirmed',
  },
  'in the look-up of a cache store': {
    options: (setup) => ({ chainId: 1, cache: { store: { get: () => setup().later('{}'), set: () => {} } } }),
    arrive: ({ mine: call }) => call(getBlock),
    getState: (setup) => [setup.promises, setup.memory.sent.length],
    timeoutMs: 100,
  },
  'as the first of two calls that share a request': {
    arrive: async ({ mine: call, other }) => {
      call(both)
      other(both, { timeoutMs: 2 * TIMEOUT_MS })
      await advance(1)
    },
    getState: (setup) => [countSent('both', setup)],
  },
  'as the second of two calls that share a request': {
    arrive: async ({ mine: call, other }) => {
      other(both)
      call(both)
      await advance(1)
    },
    getState: (setup) => [countSent('both', setup)],
  },
  'in a custom layer, before it sends the call': {
    options: (setup) => ({
      layers: [
        layer((request) => async (args, options) => {
          if (String(Object.values(args.params ?? [])[0]) === 'mine') await setup().later(undefined)
          return request(args, options)
        }),
      ],
    }),
    arrive: async ({ mine: call, other }) => {
      call()
      other()
      await advance(1)
    },
    getState: (setup) => [setup.promises, countSent('mine', setup), countSent('other', setup)],
  },
  'in a custom layer, while it waits for the result': {
    options: () => ({ layers: [layer((request) => (args, options) => request(args, options))] }),
    arrive: async ({ mine: call, other }) => {
      call()
      other()
      await advance(1)
    },
    getState: (setup) => [countSent('mine', setup), countSent('other', setup)],
  },
  'in a custom layer, after it got the result': {
    options: (setup) => ({
      layers: [
        layer((request) => async (args, options) => {
          const value = await request(args, options)
          if (String(Object.values(args.params ?? [])[0]) === 'mine') await setup().later(undefined)
          return value
        }),
      ],
    }),
    arrive: async ({ mine: call, other, memory }) => {
      memory.script = echoAll
      call()
      other()
      await advance(5)
    },
    getState: (setup) => [setup.promises, setup.memory.open],
  },
}

/** The state at each place. */
const expectedStates: Record<string, readonly unknown[]> = {
  'at the promise of the key function': [2, 0],
  'at the promise of the jwt function': [2, 0],
  'in the queue for the budget': [1],
  'in the queue at the gate': [2, 1],
  'in the queue at the gate, for longer than its timeout': [2, 1],
  'in the queue at the gate, in a batch with another': [3, 1],
  'in a batch with another, on its way': [1, 2],
  'in an explicit batch': [2, 1],
  'waiting for the head of the response': [1, 1],
  'in the middle of the body': [1],
  'in the wait before a retry': [1, 1],
  'at the first endpoint of several': [1, 1],
  'at the second endpoint, after the first failed': [1, 2],
  'at two endpoints at once, as a hedged call': [1, 2, 2],
  'in the head query of minBlock': ['eth_blockNumber'],
  'in the head query of minBlock, shared with another call': ['eth_blockNumber'],
  'in the send of a safe write': [raw.method],
  'in the look-up of a safe write': [raw.method, 'eth_getTransactionByHash'],
  'in the pause between two look-ups of a safe write': [0, raw.method, 'eth_getTransactionByHash'],
  'in the look-up of a cache store': [1, 0],
  'as the first of two calls that share a request': [1],
  'as the second of two calls that share a request': [1],
  'in a custom layer, before it sends the call': [1, 0, 1],
  'in a custom layer, while it waits for the result': [1, 1],
  'in a custom layer, after it got the result': [1, 0],
}

const ways = ['its signal', 'its deadline', 'the close of the transport', 'the close of its group'] as const

/** Ends a call at a place. Returns how often it completed. */
const endCall = async (name: string, way: (typeof ways)[number], inGroup: boolean): Promise<number> => {
  const place = places[name] as Place
  const { timeoutMs = TIMEOUT_MS, queuedMs = 0, late = 'timeout' } = place
  const memory = memoryFetch(script())
  const counts = { completed: 0, ends: 0, requests: 0 }
  let outcome: unknown
  const otherEnds: Promise<unknown>[] = []
  const otherArgs: RequestArguments[] = []
  const resolvers: (() => void)[] = []
  const controller = new AbortController()
  const reason = { mine: 'reason' }
  const count = (): void => void counts.ends++

  const transport = createFullTransport({
    url: 'https://one.example',
    fetch: memory.fetch,
    // Hooks would also report a second end of the same call.
    hooks: { onRequest: () => void counts.requests++, onResponse: count, onFailure: count },
    ...(name.includes('endpoint') && { url: undefined }),
    ...place.options?.(() => setup),
  } as FullOptions)
  const group = transport.group()
  const via: FullTransport | TransportGroup = inGroup ? group : transport
  const setup: Setup = {
    transport,
    memory,
    promises: 0,
    mine: (args = mine, options = {}) => {
      const given = { ...options, timeoutMs, signal: controller.signal }
      const call = place.batched
        ? via.batch([args, { ...args, params: ['mine', '0x1'] }] as never, given).then((results) => {
            const reasons = (results as { reason: unknown }[]).map((result) => result.reason)
            if (reasons.length === 2 && way === 'its signal') expect(reasons[1]).toBe(reasons[0])
            else expect(reasons[1]).toMatchObject({ kind: (reasons[0] as { kind: string }).kind })
            throw reasons[0]
          })
        : via.request(args, given)
      const complete = (value: unknown): void => {
        counts.completed++
        outcome = value
      }
      call.then((value) => complete({ result: value }), complete)
    },
    other: (args = others, options = {}) => {
      otherArgs.push(args)
      otherEnds.push(transport.request(args, { timeoutMs: 60_000, ...options }).catch((error: unknown) => error))
    },
    later: (value) => {
      setup.promises++
      return new Promise((resolve) => resolvers.push(() => resolve(value)))
    },
  }

  const startedAt = performance.now()
  await place.arrive(setup)
  if (place.getState) {
    await advance(0)
    // A call of a group shares no request with calls of the transport, so the state is another one.
    const differs = inGroup && /share|another|hedged/.test(name)
    if (!differs) expect(place.getState(setup)).toEqual(expectedStates[name])
  }
  expect(counts.completed, 'it is still in flight').toBe(0)
  let sentBefore = memory.sent.length
  if (way === 'its signal') controller.abort(reason)
  else if (way === 'the close of the transport') transport.close()
  else if (way === 'the close of its group') group.close()
  else {
    const dueMs = queuedMs + timeoutMs - (performance.now() - startedAt)
    await advance(dueMs - 15)
    expect(counts.completed, 'it does not end before its deadline').toBe(0)
    sentBefore = memory.sent.length
    await advance(30)
  }
  await advance(0)

  expect(counts.completed, 'it ends immediately').toBe(1)
  if (way === 'its signal') expect(outcome).toBe(reason)
  else expect(outcome).toMatchObject({ name: 'KeyrailError', kind: way === 'its deadline' ? late : 'aborted' })

  if (way === 'the close of the transport' || otherArgs.length === 0) {
    expect(memory.open, 'no request is left, immediately').toBe(0)
    expect(vi.getTimerCount(), 'no timer is left, immediately').toBe(0)
  }

  // Now the promises of user code resolve, and all responses arrive.
  for (const run of resolvers.splice(0)) run()
  await advance(1)
  for (const run of resolvers.splice(0)) run()
  await advance(120_000)
  for (const sent of memory.sent.slice(sentBefore))
    for (const { method, params } of sent.rpcCalls)
      expect([method, params[0]], 'nothing is sent afterwards').toEqual([method, 'other'])
  for (const [at, { method, params }] of otherArgs.entries()) {
    const ended = (await otherEnds[at]) as { readonly kind?: string; readonly params?: readonly unknown[] }
    if (way === 'the close of the transport' && ended.kind) expect(ended.kind).toBe('aborted')
    // `minBlock` can replace the block in params, which is not the subject of this test.
    else
      expect(ended, 'other calls get their own results').toMatchObject({
        method,
        params: [Object.values(params ?? [])[0], expect.anything()],
      })
  }
  expect(transport.stats().inFlight).toBe(0)
  expect(memory.open, 'no request is left').toBe(0)
  expect(vi.getTimerCount(), 'no timer is left').toBe(0)
  expect(counts.ends, 'each call ends once').toBe(counts.requests)
  const { calls, answered, failed } = transport.stats()
  expect(answered + failed).toBe(calls)
  transport.close()
  return counts.completed
}

describe.each(ways)('a call ended by %s', (way) => {
  const reachable = Object.keys(places).filter((name) => way !== 'its deadline' || places[name]?.late !== 'never')
  test.each(reachable)('%s', async (name) => {
    expect(await endCall(name, way, way === 'the close of its group')).toBe(1)
  })
})

describe.each(ways)('a call of a group ended by %s', (way) => {
  const some = ['waiting for the head of the response', 'in an explicit batch', 'in the look-up of a safe write']
  test.each(some)('%s', async (name) => {
    expect(await endCall(name, way, true)).toBe(1)
  })
})
