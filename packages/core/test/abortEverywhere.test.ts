import { layer } from '@keyrail/core'
import type { CallOptions, RequestArguments } from '@keyrail/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { memoryFetch } from './memoryFetch.ts'
import type { Fetched, FetchReply, MemoryFetch } from './memoryFetch.ts'
import { answerAll } from './scriptedPost.ts'
import type { Asked } from './scriptedPost.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions, FullTransport, TransportGroup } from './fullTransport.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** How long the call that is ended may take, in milliseconds, where its place does not say. */
const TIMEOUT_MS = 1_000
/** How long answers to others take. */
const OTHERS_MS = 1_500

/** A transport with calls under way. Params say whose a call is: `mine` is the one that is ended. */
interface World {
  readonly transport: FullTransport
  readonly memory: MemoryFetch
  /** Starts the call that is ended. */
  readonly mine: (args?: RequestArguments, options?: CallOptions) => void
  /** Starts one that must get its own answer. */
  readonly other: (args?: RequestArguments, options?: CallOptions) => void
  /** Makes a promise of a user, which is kept when all is over. */
  readonly later: <T>(value: T) => Promise<T>
  /** How many of those were made. */
  promises: number
}

interface Place {
  readonly options?: (world: () => World) => Partial<FullOptions>
  /** Brings the call to the place. */
  readonly arrive: (world: World) => void | Promise<void>
  /** Proves that it stands there, by what is seen from outside. */
  readonly seen?: (world: World) => readonly unknown[]
  readonly timeoutMs?: number
  /** How long it stands in a queue of ours, where its own time does not run. */
  readonly queuedMs?: number
  /** What the deadline ends it with; `never` where it cannot strike there. */
  readonly late?: 'timeout' | 'unconfirmed' | 'never'
  /** It is a batch, whose calls all end alike. */
  readonly batched?: boolean
}

const mine = { method: 'eth_getCode', params: ['mine', 'latest'] }
const others = { method: 'eth_getCode', params: ['other', 'latest'] }
/** Asked by both: one request. */
const both = { method: 'eth_getCode', params: ['both', 'latest'] }
const raw = { method: 'eth_sendRawTransaction', params: ['0x02c0'] }
const ofBlock = { method: 'eth_getBlockByHash', params: [`0x${'ab'.repeat(32)}`, false] }

const hashOfNothing = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
const keccak256 = (hex: string): `0x${string}` => (hex === '0x' ? hashOfNothing : `0x${'cd'.repeat(32)}`)

const two = { endpoints: [{ url: 'https://one.example' }, { url: 'https://two.example' }], attemptTimeoutMs: 5_000 }
const unavailable: FetchReply = { status: 503, text: 'down', headers: { 'retry-after': '0.9' } }
const replyTo = ({ asked }: Fetched, fields: object): FetchReply => ({
  text: JSON.stringify({ jsonrpc: '2.0', id: (asked[0] as Asked).id, ...fields }),
})
const isMine = ({ asked }: Fetched): boolean => asked.every(({ params }) => !/other|both/.test(String(params[0])))
const sentOf = (name: string, { memory }: World): number =>
  memory.sent.filter(({ asked }) => asked.some(({ params }) => params[0] === name)).length
const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

/** Answers others after a time, and the call itself never, except where `first` says how. */
const script =
  (first: (sent: Fetched) => FetchReply | undefined = () => undefined): MemoryFetch['script'] =>
  (sent) =>
    first(sent) ?? (isMine(sent) ? { never: true } : { ...answerAll(sent), afterMs: OTHERS_MS })

const places: Record<string, Place> = {
  'at the promise of the key function': {
    options: (world) => ({
      url: undefined,
      baseUrl: 'https://one.example',
      apiKey: () => world().later('notARealKey'),
    }),
    arrive: ({ mine: call, other }) => {
      other()
      call()
    },
    seen: (world) => [world.promises, world.memory.sent.length],
  },
  'at the promise of the jwt function': {
    options: (world) => ({ jwt: () => world().later('notARealToken') }),
    arrive: ({ mine: call, other }) => {
      other()
      call()
    },
    seen: (world) => [world.promises, world.memory.sent.length],
  },
  'in the queue for the budget': {
    options: () => ({ budget: { requestsPerSecond: 0.25, burst: 1 }, coalesce: false }),
    arrive: ({ mine: call, other }) => {
      other()
      call()
    },
    seen: ({ transport }) => [transport.stats().endpointStates[0]?.budget?.queued.read],
    queuedMs: 4_000,
  },
  'in the queue at the gate': {
    options: () => ({ maxInFlight: 1, coalesce: false }),
    arrive: ({ mine: call, other }) => {
      other()
      call()
    },
    seen: (world) => [world.transport.stats().inFlight, world.memory.sent.length],
    queuedMs: OTHERS_MS,
  },
  'in the queue at the gate, for longer than its own time': {
    options: () => ({ maxInFlight: 1, coalesce: false }),
    arrive: async ({ mine: call, other }) => {
      other()
      call()
      await advance(TIMEOUT_MS + 200)
    },
    seen: (world) => [world.transport.stats().inFlight, world.memory.sent.length],
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
    seen: (world) => [world.transport.stats().inFlight, world.memory.sent.length],
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
    seen: ({ memory }) => [memory.sent.length, memory.sent[0]?.asked.length],
  },
  'in an explicit batch': {
    arrive: async ({ mine: call, other }) => {
      call()
      other()
      await advance(1)
    },
    seen: (world) => [world.memory.sent.find(isMine)?.asked.length, sentOf('other', world)],
    batched: true,
  },
  'waiting for the head of the answer': {
    arrive: async ({ mine: call, other }) => {
      call()
      other()
      await advance(1)
    },
    seen: (world) => [sentOf('mine', world), sentOf('other', world)],
  },
  'in the middle of the body': {
    arrive: async ({ mine: call, memory }) => {
      memory.script = () => ({ headOnly: true })
      call()
      await advance(1)
    },
    seen: ({ memory }) => [memory.open],
  },
  'in the wait before a retry': {
    arrive: async ({ mine: call, other, memory, transport }) => {
      memory.script = script((sent) => (isMine(sent) && transport.stats().retries === 0 ? unavailable : undefined))
      call()
      other()
      await advance(5)
    },
    seen: (world) => [world.transport.stats().retries, sentOf('mine', world)],
  },
  'at the first endpoint of several': {
    options: () => two,
    arrive: async ({ mine: call, other }) => {
      call()
      other()
      await advance(1)
    },
    seen: (world) => [sentOf('mine', world), sentOf('other', world)],
  },
  'at the second endpoint, after the first failed': {
    options: () => two,
    arrive: async ({ mine: call, memory }) => {
      memory.script = script(({ url }) => (url.includes('one') ? unavailable : undefined))
      call()
      await advance(5)
    },
    seen: (world) => [world.transport.stats().rerouted, sentOf('mine', world)],
  },
  'at two endpoints at once, where it is hedged': {
    options: () => ({ ...two, hedge: true }),
    arrive: async ({ mine: call, other, memory }) => {
      memory.script = answerAll
      for (let i = 0; i < 20; i++) other({ ...others, params: ['other', `0x${i}`] })
      await advance(10)
      memory.script = script()
      call()
      await advance(100)
    },
    seen: (world) => [world.transport.stats().hedged, sentOf('mine', world), world.memory.open],
  },
  'at the question for the head that minBlock asks': {
    arrive: async ({ mine: call }) => {
      call(mine, { minBlock: 5 })
      await advance(1)
    },
    seen: ({ memory }) => memory.sent.map(({ asked }) => asked[0]?.method),
  },
  'at the question for the head, which another waits for': {
    arrive: async ({ mine: call, other, memory }) => {
      memory.script = script((sent) =>
        sent.asked[0]?.method === 'eth_blockNumber'
          ? { ...replyTo(sent, { result: '0x10' }), afterMs: OTHERS_MS }
          : undefined,
      )
      call(mine, { minBlock: 5 })
      other(others, { minBlock: 5 })
      await advance(1)
    },
    seen: ({ memory }) => memory.sent.map(({ asked }) => asked[0]?.method),
  },
  'in the send of a safe write': {
    options: () => ({ keccak256 }),
    arrive: async ({ mine: call }) => {
      call(raw)
      await advance(1)
    },
    seen: ({ memory }) => memory.sent.map(({ asked }) => asked[0]?.method),
    late: 'unconfirmed',
  },
  'in the look-up of a safe write': {
    options: () => ({ keccak256 }),
    arrive: async ({ mine: call, memory }) => {
      memory.script = script((sent) =>
        sent.asked[0]?.method === raw.method
          ? replyTo(sent, { error: { code: -32_000, message: 'already known' } })
          : undefined,
      )
      call(raw)
      await advance(5)
    },
    seen: ({ memory }) => memory.sent.map(({ asked }) => asked[0]?.method),
    late: 'unconfirmed',
  },
  'in the pause between two looks of a safe write': {
    options: () => ({ keccak256 }),
    arrive: async ({ mine: call, memory }) => {
      memory.script = (sent) =>
        replyTo(
          sent,
          sent.asked[0]?.method === raw.method
            ? { error: { code: -32_000, message: 'already known' } }
            : { result: null },
        )
      call(raw)
      await advance(10)
    },
    seen: ({ memory }) => [memory.open, ...memory.sent.map(({ asked }) => asked[0]?.method)],
    late: 'unconfirmed',
  },
  'in the look-up of a cache store': {
    options: (world) => ({ chainId: 1, cache: { store: { get: () => world().later('{}'), set: () => {} } } }),
    arrive: ({ mine: call }) => call(ofBlock),
    seen: (world) => [world.promises, world.memory.sent.length],
    timeoutMs: 100,
  },
  'as the first of those that share a request': {
    arrive: async ({ mine: call, other }) => {
      call(both)
      other(both, { timeoutMs: 2 * TIMEOUT_MS })
      await advance(1)
    },
    seen: (world) => [sentOf('both', world)],
  },
  'as the second of those that share a request': {
    arrive: async ({ mine: call, other }) => {
      other(both)
      call(both)
      await advance(1)
    },
    seen: (world) => [sentOf('both', world)],
  },
  'in a layer of a user, before it calls': {
    options: (world) => ({
      layers: [
        layer((request) => async (args, options) => {
          if (String(Object.values(args.params ?? [])[0]) === 'mine') await world().later(undefined)
          return request(args, options)
        }),
      ],
    }),
    arrive: async ({ mine: call, other }) => {
      call()
      other()
      await advance(1)
    },
    seen: (world) => [world.promises, sentOf('mine', world), sentOf('other', world)],
  },
  'in a layer of a user, while it calls': {
    options: () => ({ layers: [layer((request) => (args, options) => request(args, options))] }),
    arrive: async ({ mine: call, other }) => {
      call()
      other()
      await advance(1)
    },
    seen: (world) => [sentOf('mine', world), sentOf('other', world)],
  },
  'in a layer of a user, after it was answered': {
    options: (world) => ({
      layers: [
        layer((request) => async (args, options) => {
          const value = await request(args, options)
          if (String(Object.values(args.params ?? [])[0]) === 'mine') await world().later(undefined)
          return value
        }),
      ],
    }),
    arrive: async ({ mine: call, other, memory }) => {
      memory.script = answerAll
      call()
      other()
      await advance(5)
    },
    seen: (world) => [world.promises, world.memory.open],
  },
}

/** What is seen at each place. In a group of its own, a call shares nothing with the others. */
const seenAt: Record<string, readonly unknown[]> = {
  'at the promise of the key function': [2, 0],
  'at the promise of the jwt function': [2, 0],
  'in the queue for the budget': [1],
  'in the queue at the gate': [2, 1],
  'in the queue at the gate, for longer than its own time': [2, 1],
  'in the queue at the gate, in a batch with another': [3, 1],
  'in a batch with another, on its way': [1, 2],
  'in an explicit batch': [2, 1],
  'waiting for the head of the answer': [1, 1],
  'in the middle of the body': [1],
  'in the wait before a retry': [1, 1],
  'at the first endpoint of several': [1, 1],
  'at the second endpoint, after the first failed': [1, 2],
  'at two endpoints at once, where it is hedged': [1, 2, 2],
  'at the question for the head that minBlock asks': ['eth_blockNumber'],
  'at the question for the head, which another waits for': ['eth_blockNumber'],
  'in the send of a safe write': [raw.method],
  'in the look-up of a safe write': [raw.method, 'eth_getTransactionByHash'],
  'in the pause between two looks of a safe write': [0, raw.method, 'eth_getTransactionByHash'],
  'in the look-up of a cache store': [1, 0],
  'as the first of those that share a request': [1],
  'as the second of those that share a request': [1],
  'in a layer of a user, before it calls': [1, 0, 1],
  'in a layer of a user, while it calls': [1, 1],
  'in a layer of a user, after it was answered': [1, 0],
}

const ways = ['its signal', 'its deadline', 'the close of the transport', 'the close of its group'] as const

/** Ends a call at a place, and says how often it settled. */
const end = async (name: string, way: (typeof ways)[number], inGroup: boolean): Promise<number> => {
  const place = places[name] as Place
  const { timeoutMs = TIMEOUT_MS, queuedMs = 0, late = 'timeout' } = place
  const memory = memoryFetch(script())
  const settled = { mine: 0, ends: 0, requests: 0 }
  let outcome: unknown
  const otherEnds: Promise<unknown>[] = []
  const otherArgs: RequestArguments[] = []
  const keep: (() => void)[] = []
  const controller = new AbortController()
  const reason = { mine: 'reason' }
  const count = (): void => void settled.ends++

  const transport = createFullTransport({
    url: 'https://one.example',
    fetch: memory.fetch,
    // The hooks tell of each end, a second one of a call too.
    hooks: { onRequest: () => void settled.requests++, onResponse: count, onFailure: count },
    ...(name.includes('endpoint') && { url: undefined }),
    ...place.options?.(() => world),
  } as FullOptions)
  const group = transport.group()
  const via: FullTransport | TransportGroup = inGroup ? group : transport
  const world: World = {
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
      const settle = (value: unknown): void => {
        settled.mine++
        outcome = value
      }
      call.then((value) => settle({ answered: value }), settle)
    },
    other: (args = others, options = {}) => {
      otherArgs.push(args)
      otherEnds.push(transport.request(args, { timeoutMs: 60_000, ...options }).catch((error: unknown) => error))
    },
    later: (value) => {
      world.promises++
      return new Promise((resolve) => keep.push(() => resolve(value)))
    },
  }

  const startedAt = performance.now()
  await place.arrive(world)
  if (place.seen) {
    await advance(0)
    const apart = inGroup && /share|another|hedged/.test(name)
    if (!apart) expect(place.seen(world)).toEqual(seenAt[name])
  }
  expect(settled.mine, 'it is still under way').toBe(0)
  let sentBefore = memory.sent.length
  if (way === 'its signal') controller.abort(reason)
  else if (way === 'the close of the transport') transport.close()
  else if (way === 'the close of its group') group.close()
  else {
    const dueMs = queuedMs + timeoutMs - (performance.now() - startedAt)
    await advance(dueMs - 15)
    expect(settled.mine, 'not before its time is up').toBe(0)
    sentBefore = memory.sent.length
    await advance(30)
  }
  await advance(0)

  expect(settled.mine, 'it ends at once').toBe(1)
  if (way === 'its signal') expect(outcome).toBe(reason)
  else expect(outcome).toMatchObject({ name: 'KeyrailError', kind: way === 'its deadline' ? late : 'aborted' })

  if (way === 'the close of the transport' || otherArgs.length === 0) {
    expect(memory.open, 'no request is left, at once').toBe(0)
    expect(vi.getTimerCount(), 'no timer is left, at once').toBe(0)
  }

  // What users had promised comes now, and so does all that was on its way.
  for (const run of keep.splice(0)) run()
  await advance(1)
  for (const run of keep.splice(0)) run()
  await advance(120_000)
  for (const sent of memory.sent.slice(sentBefore))
    for (const { method, params } of sent.asked)
      expect([method, params[0]], 'nothing is sent afterwards').toEqual([method, 'other'])
  for (const [at, { method, params }] of otherArgs.entries()) {
    const ended = (await otherEnds[at]) as { readonly kind?: string; readonly params?: readonly unknown[] }
    if (way === 'the close of the transport' && ended.kind) expect(ended.kind).toBe('aborted')
    // That `minBlock` pins the block is no concern of this test.
    else
      expect(ended, 'others have their own answers').toMatchObject({
        method,
        params: [Object.values(params ?? [])[0], expect.anything()],
      })
  }
  expect(transport.stats().inFlight).toBe(0)
  expect(memory.open, 'no request is left').toBe(0)
  expect(vi.getTimerCount(), 'no timer is left').toBe(0)
  expect(settled.ends, 'each call ends once').toBe(settled.requests)
  const { calls, answered, failed } = transport.stats()
  expect(answered + failed).toBe(calls)
  transport.close()
  return settled.mine
}

describe.each(ways)('a call that is ended by %s', (way) => {
  const reached = Object.keys(places).filter((name) => way !== 'its deadline' || places[name]?.late !== 'never')
  test.each(reached)('%s', async (name) => {
    expect(await end(name, way, way === 'the close of its group')).toBe(1)
  })
})

describe.each(ways)('a call of a group that is ended by %s', (way) => {
  const some = ['waiting for the head of the answer', 'in an explicit batch', 'in the look-up of a safe write']
  test.each(some)('%s', async (name) => {
    expect(await end(name, way, true)).toBe(1)
  })
})
