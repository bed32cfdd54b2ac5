import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createFailure } from '../failure/createFailure.ts'
import type { Call, CallOptions, RequestArguments, Complete } from './call/call.ts'
import { coalesce } from './coalesce.ts'
import { createCall } from './call/createCall.ts'
import type { CoalesceOptions } from './coalesce.ts'
import type { Endpoint } from './endpoint/http.ts'
import { retry } from './retry.ts'
import type { Transport } from './transport.ts'
import { compose, deadline } from '../../test/layers.ts'

const redactedUrl = 'https://node.example/v2/…'

interface Sent {
  readonly call: Call
  readonly complete: Complete
  /** Why it was stopped; undefined if it was not. */
  stopped?: unknown
}

/** An endpoint whose calls the test completes. */
const held = (): Endpoint & { readonly sent: Sent[] } => {
  const sent: Sent[] = []
  return {
    redactedUrl,
    sent,
    close: () => {},
    send: (call, complete) => {
      const entry: Sent = { call, complete }
      sent.push(entry)
      call.cancel = (reason) => {
        entry.stopped = reason
        complete(false, reason)
      }
    },
  }
}

const read: RequestArguments = { method: 'eth_getBlockByNumber', params: ['latest', false] }
const write: RequestArguments = { method: 'eth_sendRawTransaction', params: ['0x02'] }
const getOutcome = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)

let endpoint: ReturnType<typeof held>
let transport: Transport
const make = (options?: CoalesceOptions): Transport => compose(endpoint, coalesce(options), deadline())
const response = (place: number, value: unknown): void => endpoint.sent[place]?.complete(true, value)
const fail = (place: number, error: unknown): void => endpoint.sent[place]?.complete(false, error)
/** Fields of a call record that the dispatcher does not set. */
const withFields =
  (fields: object) =>
  (args: RequestArguments, given?: CallOptions): Promise<unknown> => {
    const options = { ...given }
    extraFields.set(options, fields)
    return transport.request(args, options)
  }
const extraFields = new WeakMap<CallOptions, object>()

describe('coalesce', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    endpoint = held()
    transport = make()
  })
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  test('sends the same read once for all callers while it is in flight', async () => {
    const calls = [transport.request(read), transport.request(read), transport.request({ ...read })]
    expect(endpoint.sent).toHaveLength(1)
    response(0, '0x1')
    expect(await Promise.all(calls)).toEqual(['0x1', '0x1', '0x1'])
    const later = transport.request(read)
    expect(endpoint.sent).toHaveLength(2)
    response(1, '0x2')
    expect(await later).toBe('0x2')
  })

  test.each([
    ['another method', { ...read, method: 'eth_getBlockReceipts' }],
    ['other params', { ...read, params: ['latest', true] }],
    ['params in another order', { ...read, params: [false, 'latest'] }],
  ])('does not share with %s', async (_, other) => {
    const calls = [transport.request(read), transport.request(other)]
    expect(endpoint.sent).toHaveLength(2)
    response(1, 'b')
    response(0, 'a')
    expect(await Promise.all(calls)).toEqual(['a', 'b'])
  })

  test.each(
    `eth_sendRawTransaction eth_sendTransaction eth_sign eth_newFilter eth_newBlockFilter eth_getFilterChanges eth_uninstallFilter
     eth_subscribe evm_mine foo_doThings`.split(/\s+/),
  )('never shares %s', async (method) => {
    const calls = [transport.request({ method, params: ['0x1'] }), transport.request({ method, params: ['0x1'] })]
    expect(endpoint.sent).toHaveLength(2)
    response(0, 'a')
    response(1, 'b')
    expect(await Promise.all(calls)).toEqual(['a', 'b'])
  })

  test('returns a separate object to each caller', async () => {
    const calls = [transport.request(read), transport.request(read), transport.request(read)]
    const original = { transactions: [{ hash: '0x1' }], extra: null }
    response(0, original)
    const values = (await Promise.all(calls)) as (typeof original)[]
    expect(values[0]).toBe(original)
    for (const value of values) expect(value).toEqual(original)
    expect(new Set(values).size).toBe(3)
    expect(new Set(values.map(({ transactions }) => transactions[0])).size).toBe(3)
  })

  test('gives a copy of the original result, even if the first caller changes its own at once', async () => {
    const first = transport.request(read).then((value) => Object.assign(value as object, { spoilt: true }))
    const second = transport.request(read)
    response(0, { number: '0x1' })
    expect(await first).toEqual({ number: '0x1', spoilt: true })
    expect(await second).toEqual({ number: '0x1' })
  })

  test.each([null, false, true, 0, '', '0x1'])('passes on %j unchanged', async (value) => {
    const calls = [transport.request(read), transport.request(read)]
    response(0, value)
    expect(await Promise.all(calls)).toEqual([value, value])
  })

  test('gives each caller its own failure, with the same fields', async () => {
    const rpcError = { code: 3, message: 'execution reverted', data: { raw: '0x08c379a0' } }
    const calls = [transport.request(read), transport.request(read)].map(getOutcome)
    fail(0, createFailure({ text: 'execution reverted', status: 200, rpcError }, { method: read.method, redactedUrl }))
    const [first, second] = (await Promise.all(calls)) as { rpcError: typeof rpcError; message: string }[]
    expect(first).not.toBe(second)
    expect(second).toMatchObject({ kind: 'revert', method: read.method, redactedUrl, status: 200, rpcError })
    expect(second?.message).toBe(first?.message)
    expect(second?.rpcError.data).not.toBe(first?.rpcError.data)
  })

  test('passes on a failure that is not ours unchanged', async () => {
    const calls = [transport.request(read), transport.request(read)].map(getOutcome)
    const error = new RangeError('of a layer below')
    fail(0, error)
    expect(await Promise.all(calls)).toEqual([error, error])
  })

  test('sends a request for each other caller if the result cannot be copied', async () => {
    const calls = [transport.request(read), transport.request(read)]
    response(0, { number: 1n })
    expect(await calls[0]).toEqual({ number: 1n })
    expect(endpoint.sent).toHaveLength(2)
    response(1, { number: 2n })
    expect(await calls[1]).toEqual({ number: 2n })
  })

  describe('a caller that leaves', () => {
    test('by abort gets its own reason, and the others get the result', async () => {
      const controllers = [new AbortController(), new AbortController()]
      const [first, second] = controllers.map(({ signal }) => getOutcome(transport.request(read, { signal })))
      const third = transport.request(read)
      controllers[0]?.abort('mine')
      expect(await first).toBe('mine')
      expect(endpoint.sent[0]).not.toHaveProperty('stopped')
      controllers[1]?.abort('mine too')
      expect(await second).toBe('mine too')
      const original = { number: '0x1' }
      response(0, original)
      expect(await third).toBe(original)
    })

    test('last ends the request, and a later call starts a new one', async () => {
      const controllers = [new AbortController(), new AbortController()]
      const calls = controllers.map(({ signal }) => getOutcome(transport.request(read, { signal })))
      controllers[1]?.abort('second')
      expect(endpoint.sent[0]).not.toHaveProperty('stopped')
      controllers[0]?.abort('first')
      expect(endpoint.sent[0]?.stopped).toBe('first')
      expect(endpoint.sent[0]?.call.ended).toBe(true)
      expect(await Promise.all(calls)).toEqual(['first', 'second'])
      const later = transport.request(read)
      response(1, 'new')
      expect(await later).toBe('new')
    })

    test('by its own deadline does not change the deadlines of the others', async () => {
      const long = transport.request(read, { timeoutMs: 5_000 })
      const short = getOutcome(transport.request(read, { timeoutMs: 1_000 }))
      await vi.advanceTimersByTimeAsync(1_000)
      expect(await short).toMatchObject({ kind: 'timeout' })
      expect(endpoint.sent).toHaveLength(1)
      response(0, '0x1')
      expect(await long).toBe('0x1')
    })

    test('ends a request that waits for its retry', async () => {
      transport = compose(endpoint, retry(), coalesce(), deadline())
      const controller = new AbortController()
      const calls = [1, 2].map(() => getOutcome(transport.request(read, { signal: controller.signal })))
      fail(0, createFailure({ text: 'busy', status: 503, retryAfter: '2' }, { method: read.method, redactedUrl }))
      controller.abort('enough')
      expect(await Promise.all(calls)).toEqual(['enough', 'enough'])
      await vi.advanceTimersByTimeAsync(3_000)
      expect(endpoint.sent).toHaveLength(1)
    })

    test('while results are delivered gets no second one', async () => {
      const controller = new AbortController()
      const outcomes: unknown[] = []
      const send = coalesce()(endpoint.send, { redactedUrl })
      const record = (complete: Complete): Call => {
        const call = createCall('eth_chainId', '[]', {})
        send(call, complete)
        return call
      }
      record(() => controller.abort())
      const second = record((...outcome) => outcomes.push(outcome))
      controller.signal.addEventListener('abort', () => second.cancel?.('left'))
      response(0, '0x1')
      expect(outcomes).toEqual([[false, 'left']])
    })
  })

  test('retries as long as the latest deadline of the waiting callers allows', async () => {
    transport = compose(endpoint, retry(), coalesce(), deadline())
    const first = getOutcome(transport.request(read, { timeoutMs: 2_000 }))
    await vi.advanceTimersByTimeAsync(500)
    const second = transport.request(read, { timeoutMs: 3_000 })
    expect(endpoint.sent).toHaveLength(1)
    fail(0, createFailure({ text: 'busy', status: 503, retryAfter: '2' }, { method: read.method, redactedUrl }))
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await first).toMatchObject({ kind: 'timeout' })
    response(1, '0x1')
    expect(await second).toBe('0x1')
  })

  test('does not join a request that has less than half of the caller\u2019s time left', async () => {
    const outcomes: Promise<unknown>[] = []
    let completed = 1
    // One call each second. The first request hangs, and all others get a response within the second.
    for (let second = 0; second < 12; second++) {
      outcomes.push(getOutcome(transport.request(read)))
      await vi.advanceTimersByTimeAsync(1_000)
      while (completed < endpoint.sent.length) response(completed++, '0x1')
    }
    await vi.advanceTimersByTimeAsync(10_000)
    const values = await Promise.all(outcomes)
    expect(values.slice(0, 6)).toEqual(Array.from({ length: 6 }, () => expect.objectContaining({ kind: 'timeout' })))
    expect(values.slice(6)).toEqual(Array.from({ length: 6 }, () => '0x1'))
  })

  test('does not let an impatient caller\u2019s request be joined by a patient one', async () => {
    const impatient = transport.request(read, { timeoutMs: 100 })
    const patient = transport.request(read)
    expect(endpoint.sent).toHaveLength(2)
    // The latest request is the one that others join.
    const third = transport.request(read)
    expect(endpoint.sent).toHaveLength(2)
    response(0, 'a')
    response(1, 'b')
    expect(await Promise.all([impatient, patient, third])).toEqual(['a', 'b', 'b'])
  })

  describe('after a write', () => {
    test.each([
      ['has completed', () => response(1, '0xhash')],
      ['failed', () => fail(1, new Error('lost'))],
    ])('that %s, joins no request that started before it', async (_, complete) => {
      const before = transport.request(read)
      const written = getOutcome(transport.request(write))
      complete()
      await written
      const after = transport.request(read)
      expect(endpoint.sent).toHaveLength(3)
      response(2, 'new')
      response(0, 'old')
      expect(await Promise.all([before, after])).toEqual(['old', 'new'])
    })

    test('that is still in flight, joins', async () => {
      const written = transport.request(write)
      const calls = [transport.request(read), transport.request(read)]
      expect(endpoint.sent).toHaveLength(2)
      response(1, 'a')
      response(0, '0xhash')
      expect(await Promise.all([...calls, written])).toEqual(['a', 'a', '0xhash'])
    })

    test('that was aborted, joins no request that started before it', async () => {
      const controller = new AbortController()
      const before = transport.request(read)
      const written = getOutcome(transport.request(write, { signal: controller.signal }))
      controller.abort()
      await written
      const after = transport.request(read)
      expect(endpoint.sent).toHaveLength(3)
      response(0, 'old')
      response(2, 'new')
      expect(await Promise.all([before, after])).toEqual(['old', 'new'])
    })

    test('leaves the newer request in place when the older one ends', async () => {
      const before = transport.request(read)
      const written = transport.request(write)
      response(1, '0xhash')
      const calls = [transport.request(read)]
      response(0, 'old')
      calls.push(transport.request(read))
      expect(endpoint.sent).toHaveLength(3)
      response(2, 'new')
      expect(await Promise.all([before, written, ...calls])).toEqual(['old', '0xhash', 'new', 'new'])
    })
  })

  describe('by the options of a call', () => {
    /** Whether a call with `second` shares the request of one with `first`. */
    const shares = async (first: object, second: object): Promise<boolean> => {
      const calls = [first, second].map((options) => transport.request(read, options as CallOptions))
      const shared = endpoint.sent.length === 1
      for (const { complete } of endpoint.sent.splice(0)) complete(true, '0x1')
      await Promise.all(calls)
      return shared
    }

    test('shares only with calls that have the same number of retries', async () => {
      expect(await shares({ retries: 0 }, {})).toBe(false)
      expect(await shares({}, { retries: 0 })).toBe(false)
      expect(await shares({ retries: 1 }, { retries: 1 })).toBe(true)
    })

    test('shares only with calls of an equal or higher priority', async () => {
      expect(await shares({ priority: 'poll' }, {})).toBe(false)
      expect(await shares({ priority: 'poll' }, { priority: 'write' })).toBe(false)
      expect(await shares({ priority: 'poll' }, { priority: 'poll' })).toBe(true)
      expect(await shares({}, { priority: 'poll' })).toBe(true)
      expect(await shares({}, { priority: 'read' })).toBe(true)
      expect(await shares({ priority: 'write' }, {})).toBe(true)
    })

    test('shares only with calls of the same minBlock', async () => {
      expect(await shares({ minBlock: 5 }, { minBlock: 5 })).toBe(true)
      expect(await shares({ minBlock: 5 }, { minBlock: 6 })).toBe(false)
      expect(await shares({ minBlock: 6 }, { minBlock: 5 })).toBe(false)
      expect(await shares({}, { minBlock: 5 })).toBe(false)
      expect(await shares({ minBlock: 5 }, {})).toBe(false)
      expect(await shares({ minBlock: true }, { minBlock: true })).toBe(true)
      expect(await shares({ minBlock: true }, { minBlock: false })).toBe(false)
    })

    test('uses the minBlock of the transport if a call has none', async () => {
      transport = make({ minBlock: true })
      expect(await shares({}, { minBlock: true })).toBe(true)
      expect(await shares({}, { minBlock: false })).toBe(false)
    })

    test('does not share by the highest block seen once a response may have raised it', async () => {
      const first = transport.request(read, { minBlock: true } as CallOptions)
      const other = transport.request({ method: 'eth_blockNumber' })
      response(1, '0x10')
      const second = transport.request(read, { minBlock: true } as CallOptions)
      expect(endpoint.sent).toHaveLength(3)
      response(0, 'a')
      response(2, 'b')
      expect(await Promise.all([first, other, second])).toEqual(['a', '0x10', 'b'])
    })
  })

  describe('by the group of a call', () => {
    beforeEach(() => {
      // Replaces `group()` and `batch()`, which set their object on the record.
      transport = compose(
        endpoint,
        coalesce(),
        (next) => (call, complete) => next(Object.assign(call, extraFields.get(call.options)), complete),
        deadline(),
      )
    })

    test.each(['group', 'batch'])('shares within the same %s only, and passes it on', async (name) => {
      const [one, two] = [{}, {}]
      const calls = [
        withFields({ [name]: one })(read),
        withFields({ [name]: one })(read),
        withFields({ [name]: two })(read),
        withFields({})(read),
      ]
      expect(endpoint.sent.map(({ call }) => (call as unknown as Record<string, unknown>)[name])).toEqual([
        one,
        two,
        undefined,
      ])
      for (const { complete } of endpoint.sent) complete(true, '0x1')
      expect(await Promise.all(calls)).toEqual(['0x1', '0x1', '0x1', '0x1'])
    })

    test('reports the join to its caller, and events below to one caller that still waits', async () => {
      const events: string[] = []
      const noting = (name: string): object => ({
        emit: ({ type }: { type: string }) => events.push(`${name} ${type}`),
      })
      const controller = new AbortController()
      const first = getOutcome(withFields(noting('a'))(read, { signal: controller.signal }))
      const second = withFields(noting('b'))(read)
      const { emit } = (endpoint.sent[0] as unknown as { call: { emit: (event: object) => void } }).call
      emit({ type: 'attempt' })
      controller.abort()
      emit({ type: 'attempted' })
      response(0, '0x1')
      await Promise.all([first, second])
      expect(events).toEqual(['b joined', 'a attempt', 'b attempted'])
    })
  })

  test('ends when the transport closes, each call with its own failure', async () => {
    const calls = [transport.request(read), transport.request(read)].map(getOutcome)
    transport.close()
    const [first, second] = await Promise.all(calls)
    for (const failure of [first, second]) expect(failure).toMatchObject({ kind: 'aborted' })
    expect(first).not.toBe(second)
    expect(endpoint.sent[0]?.stopped).toBeDefined()
  })
})
