import { batches as cases } from '@keyrail/vectors'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isKeyrailError } from '../failure/keyrailError.ts'
import { sendDown } from '../../test/scriptedEndpoint.ts'
import type { Sent } from '../../test/scriptedEndpoint.ts'
import { echoAll, echo, scriptedPost } from '../../test/scriptedPost.ts'
import type { Posted, Reply, ScriptedPost } from '../../test/scriptedPost.ts'
import type { BatchOptions } from './batch.ts'
import type { Send, RouteCall } from './call/call.ts'
import { limitConcurrency } from './endpoint/limitConcurrency.ts'
import { joinBatches } from '../../test/layers.ts'

beforeEach(() => {
  vi.useFakeTimers()
  // The clock of a program that has run for a while.
  vi.advanceTimersByTime(7_000)
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

const over = (endpoint: ScriptedPost, options?: boolean | BatchOptions, maxInFlight = 64): Send =>
  joinBatches(options)(limitConcurrency({ maxInFlight })(endpoint)).send

const sendAll = (send: Send, methods: readonly string[], fields: Partial<RouteCall> = {}): Sent[] =>
  methods.map((method, at) => sendDown(send, method, { params: `["0x${at}"]`, ...fields }))

/** Observes the events of a call. */
const listen = (sent: Sent | undefined, emit: (event: { readonly type: string }) => void): void => {
  Object.assign(sent?.call ?? {}, { emit })
}

const reads = (count: number): string[] => Array.from({ length: count }, () => 'eth_getBalance')
const outcomes = (sent: readonly Sent[]): unknown[] =>
  sent.map(({ ok, value }) => (ok ? value : isKeyrailError(value) ? value.kind : value))
const sizes = ({ posted }: ScriptedPost): number[] => posted.map(({ rpcCalls }) => rpcCalls.length)
const own = (sent: readonly Sent[]): unknown[] =>
  sent.map(({ call: { method, params } }) => ({ method, params: JSON.parse(params) as unknown }))

/** Rejects larger requests with the message of one provider. */
const capped =
  (most: number, reject: (posted: Posted) => Reply) =>
  (posted: Posted): Reply =>
    posted.rpcCalls.length > most ? reject(posted) : echoAll(posted)
const tooLarge = (message: string): Reply => ({
  text: JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }),
})

describe('batch', () => {
  test('joins the calls of a tick into one request, in their order, and gives each its own result', async () => {
    const endpoint = scriptedPost()
    const send = over(endpoint)
    const sent = sendAll(send, ['eth_getBalance', 'eth_call', 'eth_gasPrice'])
    expect(endpoint.posted).toEqual([])
    await vi.runAllTimersAsync()
    expect(endpoint.posted.map(({ rpcCalls, batched }) => [batched, rpcCalls])).toEqual([
      [
        true,
        [
          { jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: ['0x0'] },
          { jsonrpc: '2.0', id: 2, method: 'eth_call', params: ['0x1'] },
          { jsonrpc: '2.0', id: 3, method: 'eth_gasPrice', params: ['0x2'] },
        ],
      ],
    ])
    expect(sent.map(({ ok, value, completions }) => [ok, value, completions])).toEqual(
      own(sent).map((value) => [true, value, 1]),
    )
  })

  test('needs no timer, and gives every batch its own ids', async () => {
    const endpoint = scriptedPost()
    const send = over(endpoint)
    sendAll(send, reads(2))
    expect(vi.getTimerCount()).toBe(0)
    await Promise.resolve()
    expect(sizes(endpoint)).toEqual([2])
    sendAll(send, reads(2))
    await vi.runAllTimersAsync()
    expect(endpoint.posted.flatMap(({ rpcCalls }) => rpcCalls.map(({ id }) => id))).toEqual([1, 2, 3, 4])
  })

  test('sends a single call at once, unbatched', async () => {
    const endpoint = scriptedPost()
    const [sent] = sendAll(over(endpoint), ['eth_gasPrice'])
    await Promise.resolve()
    expect(endpoint.posted.map(({ batched }) => batched)).toEqual([false])
    await vi.runAllTimersAsync()
    expect(sent).toMatchObject({ ok: true, completions: 1 })
  })

  test.each([
    'eth_sendRawTransaction',
    'eth_newFilter',
    'eth_getFilterChanges',
    'eth_getLogs',
    'eth_simulateV1',
    'debug_traceTransaction',
    'trace_block',
    'foo_unknown',
  ])('sends %s alone and at once', async (method) => {
    const endpoint = scriptedPost()
    sendAll(over(endpoint), ['eth_call', method, 'eth_call', method])
    expect(endpoint.posted.map(({ rpcCalls }) => rpcCalls[0]?.method)).toEqual([method, method])
    await vi.runAllTimersAsync()
    expect(sizes(endpoint)).toEqual([1, 1, 2])
  })

  test('joins nothing if joining is off, except calls of one explicit batch, including expensive ones', async () => {
    const endpoint = scriptedPost()
    const send = over(endpoint, false)
    sendAll(send, reads(2))
    const one = {}
    sendAll(send, ['eth_getLogs', 'debug_traceCall', 'eth_gasPrice', 'eth_sendRawTransaction'], { batch: one })
    sendAll(send, ['eth_getLogs', 'eth_call'], { batch: {} })
    sendAll(send, reads(1))
    await vi.runAllTimersAsync()
    expect(endpoint.posted.map(({ rpcCalls }) => rpcCalls.map(({ method }) => method))).toEqual([
      ['eth_getBalance'],
      ['eth_getBalance'],
      ['eth_sendRawTransaction'],
      ['eth_getBalance'],
      ['eth_getLogs', 'debug_traceCall', 'eth_gasPrice'],
      ['eth_getLogs', 'eth_call'],
    ])
  })

  test('does not join calls of different explicit batches or priorities', async () => {
    const endpoint = scriptedPost()
    const send = over(endpoint)
    sendAll(send, reads(2), { options: { priority: 'poll' } })
    sendAll(send, reads(3))
    sendAll(send, reads(4), { batch: {} })
    sendAll(send, reads(1), { options: { priority: 'read' } })
    await vi.runAllTimersAsync()
    expect(sizes(endpoint)).toEqual([2, 4, 4])
  })

  test('respects its caps, by count and by bytes', async () => {
    const endpoint = scriptedPost()
    sendAll(over(endpoint, { maxCalls: 4 }), reads(10))
    await vi.runAllTimersAsync()
    expect(sizes(endpoint)).toEqual([4, 4, 2])

    endpoint.posted.length = 0
    const maxBytes = 1_000
    const send = over(endpoint, { maxBytes })
    const sent = [
      'x'.repeat(300),
      'x'.repeat(300),
      'x'.repeat(300),
      'é🔑'.repeat(60),
      'é🔑'.repeat(60),
      'y'.repeat(2_000),
      'x',
    ]
    for (const text of sent) sendAll(send, ['eth_call'], { params: JSON.stringify([text]) })
    await vi.runAllTimersAsync()
    // The size of text that is not ASCII is overestimated, so that the limit is never exceeded.
    expect(sizes(endpoint)).toEqual([2, 2, 1, 1, 1])
    for (const { body, rpcCalls } of endpoint.posted)
      if (rpcCalls.length > 1) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(maxBytes)

    endpoint.posted.length = 0
    // The method name is most of it.
    const long = Array.from({ length: 30 }, () => 'eth_getTransactionByBlockNumberAndIndex')
    sendAll(send, long, { params: '[]' })
    await vi.runAllTimersAsync()
    for (const { body } of endpoint.posted) expect(body.length).toBeLessThanOrEqual(maxBytes)
  })

  test('joins a hundred calls and 512 kB by default', async () => {
    const endpoint = scriptedPost()
    const send = over(endpoint)
    sendAll(send, reads(150))
    await vi.runAllTimersAsync()
    sendAll(send, reads(6), { params: `["${'f'.repeat(100_000)}"]` })
    await vi.runAllTimersAsync()
    expect(sizes(endpoint)).toEqual([100, 50, 5, 1])
  })

  test('fails each call with its own error if the connection breaks', async () => {
    const endpoint = scriptedPost(() => ({ facts: { kind: 'network', text: 'socket hang up' } }), 7)
    const sent = sendAll(over(endpoint), ['eth_call', 'eth_gasPrice'])
    await vi.runAllTimersAsync()
    expect(sent.map(({ value }) => value)).toMatchObject([
      { kind: 'network', method: 'eth_call', retryable: true },
      { kind: 'network', method: 'eth_gasPrice', retryable: true },
    ])
    expect(sent[0]?.value).not.toBe(sent[1]?.value)
  })

  test('fails each call if the key function fails, and sends nothing', async () => {
    const endpoint = scriptedPost(() => ({ facts: { kind: 'invalidRequest', text: 'the apiKey function failed' } }))
    const sent = sendAll(over(endpoint), reads(3))
    await vi.runAllTimersAsync()
    expect(outcomes(sent)).toEqual(['invalidRequest', 'invalidRequest', 'invalidRequest'])
    expect(sizes(endpoint)).toEqual([3])
  })

  test('detects a response from another chain: by its header for all calls, by eth_chainId for that call', async () => {
    const endpoint = scriptedPost(echoAll, 7)
    const send = over(endpoint)
    const methods = ['eth_chainId', 'eth_call']
    endpoint.script = ({ rpcCalls: [first, second] }) => ({
      text: JSON.stringify([
        { id: first?.id, result: '0x8' },
        { id: second?.id, result: '0x9' },
      ]),
    })
    const byItem = sendAll(send, methods)
    await vi.runAllTimersAsync()
    expect(outcomes(byItem)).toEqual(['wrongNetwork', '0x9'])
    endpoint.script = ({ rpcCalls: [first, second] }) => ({
      headers: { 'x-chain-id': '8' },
      text: JSON.stringify([
        { id: first?.id, result: '0x7' },
        { id: second?.id, result: '0x9' },
      ]),
    })
    const byHeader = sendAll(send, methods)
    await vi.runAllTimersAsync()
    expect(outcomes(byHeader)).toEqual(['0x7', 'wrongNetwork'])
  })

  test('reports each attempt and its outcome to the observer', async () => {
    const endpoint = scriptedPost(({ rpcCalls: [first, second] }) => ({
      afterMs: 20,
      text: JSON.stringify([
        { id: first?.id, result: '0x1' },
        { id: second?.id, error: { code: 3, message: 'execution reverted' } },
      ]),
    }))
    const sent = sendAll(over(endpoint), ['eth_gasPrice', 'eth_call'])
    await vi.runAllTimersAsync()
    const { redactedUrl } = endpoint
    expect(sent.map(({ events }) => events)).toEqual([
      [
        { type: 'attempt', redactedUrl, batchSize: 2 },
        { type: 'attempted', redactedUrl, durationMs: 20, kind: undefined },
      ],
      [
        { type: 'attempt', redactedUrl, batchSize: 2 },
        { type: 'attempted', redactedUrl, durationMs: 20, kind: 'revert' },
      ],
    ])
  })

  test('works without an observer', async () => {
    const endpoint = scriptedPost()
    const sent = sendAll(over(endpoint), reads(2), { emit: undefined })
    await vi.runAllTimersAsync()
    expect(sent.map(({ value }) => value)).toEqual(own(sent))
  })

  test.each([
    ['maxCalls', { maxCalls: 0 }],
    ['maxCalls', { maxCalls: NaN }],
    ['maxBytes', { maxBytes: 0 }],
    ['maxBytes', { maxBytes: 2 ** 32 }],
  ])('rejects a %s that is out of range', (name, options) => {
    expect(() => joinBatches(options)).toThrow(`${name} must be a number from`)
  })

  test.each([['yes'], [5], [null]])('rejects %j for options', (options) => {
    expect(() => joinBatches(options as never)).toThrow('batch takes an object of options')
  })

  test('rejects fractions of calls', async () => {
    const endpoint = scriptedPost(capped(3, () => tooLarge('batch over 3')))
    const sent = sendAll(over(endpoint, { maxCalls: 2.9 }), reads(4))
    await vi.runAllTimersAsync()
    expect(sizes(endpoint)).toEqual([2, 2])
    expect(sent.map(({ ok }) => ok)).toEqual([true, true, true, true])
  })

  test('joins nothing with a maxCalls of 1', async () => {
    const endpoint = scriptedPost()
    sendAll(over(endpoint, { maxCalls: 1 }), reads(3), { batch: {} })
    await vi.runAllTimersAsync()
    expect(endpoint.posted.map(({ batched }) => batched)).toEqual([false, false, false])
  })
})

describe('a batch that is rejected for its size', () => {
  test.each([
    ['by one object that names the cap', 7, () => tooLarge('at most 7 requests in a batch'), [20, 7, 7, 6]],
    ['by one object without a number', 7, () => tooLarge('batch too large'), [20, 10, 10, 5, 5, 5, 5]],
    [
      'by an array of one error',
      7,
      (): Reply => ({ text: '[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch over 7"}}]' }),
      [20, 7, 7, 6],
    ],
    [
      'by each item',
      3,
      ({ rpcCalls }: Posted): Reply => ({
        text: JSON.stringify(
          rpcCalls.map(({ id }) => ({
            id,
            error: { code: 31, message: 'Batch of more than 3 requests are not allowed' },
          })),
        ),
      }),
      [20, 3, 3, 3, 3, 3, 3, 2],
    ],
    [
      'by a status 413',
      10,
      (): Reply => ({ status: 413, text: '<title>413 Request Entity Too Large</title>' }),
      [20, 10, 9, 1],
    ],
    ['by a status 400', 10, (): Reply => ({ status: 400, text: 'Batch size exceeded' }), [20, 10, 10]],
    [
      'because there are no batches',
      1,
      () => tooLarge('batch requests are not supported'),
      [20, ...reads(20).map(() => 1)],
    ],
  ] as const)(
    '%s: is sent again in parts, every call once, and the cap is remembered',
    async (_, most, reject, expected) => {
      const endpoint = scriptedPost(capped(most, reject))
      const send = over(endpoint)
      const first = sendAll(send, reads(20))
      await vi.runAllTimersAsync()
      expect(sizes(endpoint)).toEqual(expected)
      expect(first.map(({ value, completions }) => [value, completions])).toEqual(own(first).map((value) => [value, 1]))
      endpoint.posted.length = 0
      const second = sendAll(send, reads(20))
      await vi.runAllTimersAsync()
      expect(sizes(endpoint)).toEqual(expected.filter((size) => size <= most))
      expect(second.map(({ value }) => value)).toEqual(own(second))
    },
  )

  test('keeps the results, and sends only the other calls again', async () => {
    const endpoint = scriptedPost(({ rpcCalls, batched }) =>
      rpcCalls.length <= 2
        ? echoAll({ rpcCalls, batched } as Posted)
        : {
            text: JSON.stringify(
              rpcCalls.map((one, at) =>
                at % 2 ? { id: one.id, error: { code: 1, message: 'batch over 2' } } : echo(one),
              ),
            ),
          },
    )
    const sent = sendAll(over(endpoint), reads(8))
    await vi.runAllTimersAsync()
    expect(sent.map(({ value, completions }) => [value, completions])).toEqual(own(sent).map((value) => [value, 1]))
    const params = endpoint.posted.map(({ rpcCalls }) => rpcCalls.map((one) => one.params[0]))
    expect(params.slice(1)).toEqual([
      ['0x1', '0x3'],
      ['0x5', '0x7'],
    ])
  })

  test('learns a cap in bytes, not in calls, if a proxy limits bytes', async () => {
    const endpoint = scriptedPost((posted) =>
      posted.body.length > 3_000 ? { status: 413, text: 'Request Entity Too Large' } : echoAll(posted),
    )
    const send = over(endpoint)
    const large = { params: `["${'f'.repeat(1_000)}"]` }
    const sent = sendAll(send, reads(4), large)
    await vi.runAllTimersAsync()
    expect(sizes(endpoint)).toEqual([4, 2, 2])
    expect(outcomes(sent).every((value) => typeof value === 'object')).toBe(true)
    endpoint.posted.length = 0
    sendAll(send, reads(4), large)
    sendAll(send, reads(8), { batch: {} })
    await vi.runAllTimersAsync()
    expect(sizes(endpoint)).toEqual([2, 2, 8])
  })

  test('learns nothing from a response that was too large, because the next one may be small', async () => {
    const endpoint = scriptedPost((posted) =>
      posted.rpcCalls.length > 2
        ? {
            text: JSON.stringify(
              posted.rpcCalls.map((one, at) =>
                at < 2 ? echo(one) : { id: one.id, error: { code: -32003, message: 'response too large' } },
              ),
            ),
          }
        : echoAll(posted),
    )
    const send = over(endpoint)
    const sent = sendAll(send, reads(6))
    await vi.runAllTimersAsync()
    expect(sizes(endpoint)).toEqual([6, 3, 1, 1])
    expect(sent.map(({ value }) => value)).toEqual(own(sent))
    endpoint.script = echoAll
    sendAll(send, reads(6))
    await vi.runAllTimersAsync()
    expect(sizes(endpoint).at(-1)).toBe(6)
  })

  test('keeps a learned cap when larger batches were on their way or waiting in the queue', async () => {
    const endpoint = scriptedPost(capped(5, () => tooLarge('batch over 5')))
    const send = over(endpoint, { maxCalls: 10 }, 2)
    const sent = sendAll(send, reads(40))
    await vi.runAllTimersAsync()
    // Two batches were in flight, and two waited: those were sent in smaller batches.
    expect(sizes(endpoint).filter((size) => size > 5)).toEqual([10, 10])
    expect(sent.map(({ value, completions }) => [value, completions])).toEqual(own(sent).map((value) => [value, 1]))
  })

  test('uses the smallest of several caps, in one response or in several', async () => {
    let rejected = 0
    const endpoint = scriptedPost((posted) => {
      if (posted.rpcCalls.length < 4) return echoAll(posted)
      const [most, more] = rejected++ === 0 ? [2, 3] : [3, 4]
      return {
        afterMs: rejected,
        text: JSON.stringify(
          posted.rpcCalls.map(({ id }, at) => ({ id, error: { code: 31, message: `batch over ${at ? more : most}` } })),
        ),
      }
    })
    const send = over(endpoint)
    sendAll(send, reads(5))
    sendAll(send, reads(5), { batch: {} })
    await vi.runAllTimersAsync()
    expect(sizes(endpoint)).toEqual([5, 5, 2, 2, 1, 2, 2, 1])
    sendAll(send, reads(4))
    await vi.runAllTimersAsync()
    expect(sizes(endpoint).slice(8)).toEqual([2, 2])
  })

  test.each([
    ['as a whole', () => tooLarge('batch too large')],
    [
      'item by item',
      ({ rpcCalls }: Posted): Reply => ({
        text: JSON.stringify(rpcCalls.map(({ id }) => ({ id, error: { code: -32600, message: 'batch too large' } }))),
      }),
    ],
  ] as const)(
    'retries a size that was rejected once, %s, after batches that had to be split, not after others',
    async (_, reject) => {
      let once = true
      const endpoint = scriptedPost((posted) => {
        if (!once) return echoAll(posted)
        once = false
        return reject(posted)
      })
      const send = over(endpoint)
      const wave = async (count: number): Promise<number[]> => {
        endpoint.posted.length = 0
        sendAll(send, reads(count))
        await vi.runAllTimersAsync()
        return sizes(endpoint)
      }
      expect(await wave(20)).toEqual([20, 10, 10])
      for (let time = 0; time < 20; time++) expect(await wave(10)).toEqual([10])
      expect(await wave(20)).toEqual([10, 10])
      const later: number[][] = []
      for (let time = 0; time < 10; time++) later.push(await wave(20))
      expect(later.at(-1)).toEqual([20])
    },
  )

  test('fails a call that is rejected even alone, with the message of the server', async () => {
    const endpoint = scriptedPost(() => tooLarge('batch too large'))
    const sent = sendAll(over(endpoint), reads(3))
    await vi.runAllTimersAsync()
    expect(outcomes(sent)).toEqual(['batchTooLarge', 'batchTooLarge', 'batchTooLarge'])
    expect(sizes(endpoint)).toEqual([3, 1, 1, 1])
  })
})

describe('a batch that is rejected because of one call', () => {
  const reject = (text: string): Reply => ({
    text: JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32602, message: text } }),
  })

  test('is sent again one by one: only the wrong call fails, and nothing is learned', async () => {
    const endpoint = scriptedPost((posted) =>
      posted.rpcCalls.some(({ method }) => method === 'eth_call') ? reject('Invalid params') : echoAll(posted),
    )
    const send = over(endpoint)
    const sent = sendAll(send, ['eth_gasPrice', 'eth_call', 'eth_chainId'])
    await vi.runAllTimersAsync()
    expect(sent.map(({ ok }) => ok)).toEqual([true, false, true])
    expect(sent[1]?.value).toMatchObject({ kind: 'invalidRequest', method: 'eth_call' })
    expect(sizes(endpoint)).toEqual([3, 1, 1, 1])
    sendAll(send, reads(5))
    await vi.runAllTimersAsync()
    expect(sizes(endpoint).at(-1)).toBe(5)
  })

  test('if no call was the cause, batches get smaller until joining stops', async () => {
    const endpoint = scriptedPost((posted) => (posted.batched ? reject('Invalid request') : echoAll(posted)))
    const send = over(endpoint)
    const tried: number[] = []
    for (let wave = 0; wave < 5; wave++) {
      const sent = sendAll(send, reads(8))
      await vi.runAllTimersAsync()
      expect(sent.map(({ value }) => value)).toEqual(own(sent))
      tried.push(...sizes(endpoint).filter((size) => size > 1))
      endpoint.posted.length = 0
    }
    expect(tried).toEqual([8, 4, 4, 2, 2, 2, 2])
  })

  test('does not resend a call that has ended in the meantime', async () => {
    const endpoint = scriptedPost((posted) => (posted.batched ? reject('Invalid request') : echoAll(posted)))
    const sent = sendAll(over(endpoint), ['eth_gasPrice', 'eth_call', 'eth_chainId'])
    listen(sent[0], (event) => {
      if (event.type === 'attempted') for (const one of sent.slice(0, 2)) one.end('enough')
    })
    await vi.runAllTimersAsync()
    expect(outcomes(sent)).toEqual(['enough', 'enough', { method: 'eth_chainId', params: ['0x2'] }])
    expect(sizes(endpoint)).toEqual([3, 1])
  })

  test.each([
    ['throttled', 429, 'Too Many Requests'],
    ['auth', 401, 'Invalid API key'],
    ['quota', 402, 'Payment Required'],
    ['unavailable', 503, 'Service Unavailable'],
    ['timeout', 504, 'Gateway Timeout'],
    ['badResponse', 200, 'what?'],
  ])('%s means all of them: nothing is sent again', async (kind, status, text) => {
    const endpoint = scriptedPost(() => ({ status, text }))
    const sent = sendAll(over(endpoint), reads(3))
    await vi.runAllTimersAsync()
    expect(outcomes(sent)).toEqual([kind, kind, kind])
    expect(sizes(endpoint)).toEqual([3])
  })
})

describe('ending calls of a batch', () => {
  test('before it is sent, leaves them out', async () => {
    const endpoint = scriptedPost()
    const sent = sendAll(over(endpoint), reads(4))
    sent[1]?.end('enough')
    sent[3]?.end('enough')
    expect(outcomes(sent)).toEqual([undefined, 'enough', undefined, 'enough'])
    await vi.runAllTimersAsync()
    expect(endpoint.posted.map(({ rpcCalls }) => rpcCalls.map(({ params }) => params[0]))).toEqual([['0x0', '0x2']])
    expect(sent.map(({ completions }) => completions)).toEqual([1, 1, 1, 1])
  })

  test('all of them before it is sent, sends nothing', async () => {
    const endpoint = scriptedPost()
    const sent = sendAll(over(endpoint), reads(3))
    for (const one of sent) one.end('enough')
    await vi.runAllTimersAsync()
    expect(endpoint.posted).toEqual([])
  })

  test('all but one before it is sent, sends that one unbatched', async () => {
    const endpoint = scriptedPost()
    const sent = sendAll(over(endpoint), reads(3))
    for (const one of sent.slice(1)) one.end('enough')
    await vi.runAllTimersAsync()
    expect(endpoint.posted.map(({ batched }) => batched)).toEqual([false])
    expect(sent[0]?.ok).toBe(true)
  })

  test('in flight, completes them and leaves the others', async () => {
    const endpoint = scriptedPost((posted) => ({ ...echoAll(posted), afterMs: 100 }))
    const sent = sendAll(over(endpoint), reads(3))
    await vi.advanceTimersByTimeAsync(50)
    sent[1]?.end('enough')
    expect(sent[1]).toMatchObject({ ok: false, value: 'enough', completions: 1 })
    await vi.runAllTimersAsync()
    expect(sent.map(({ ok, completions }) => [ok, completions])).toEqual([
      [true, 1],
      [false, 1],
      [true, 1],
    ])
    expect(endpoint.posted[0]?.stopped).toBe(false)
  })

  test('in flight, all of them, stops the request', async () => {
    const endpoint = scriptedPost(() => ({ never: true }))
    const sent = sendAll(over(endpoint, true, 1), reads(3))
    await vi.advanceTimersByTimeAsync(50)
    for (const one of sent) {
      expect(endpoint.posted[0]?.stopped).toBe(false)
      one.end('enough')
    }
    expect(endpoint.posted[0]?.stopped).toBe(true)
    expect(endpoint.open).toBe(0)
    // Its slot is free.
    endpoint.script = echoAll
    const next = sendAll(over(endpoint, true, 1), reads(2))
    await vi.runAllTimersAsync()
    expect(next.map(({ ok }) => ok)).toEqual([true, true])
  })

  test('while it waits in the queue, leaves them out of the request; all of them, sends nothing', async () => {
    const endpoint = scriptedPost((posted) => ({ ...echoAll(posted), afterMs: 10 }))
    const send = over(endpoint, { maxCalls: 3 }, 1)
    const sent = sendAll(send, reads(9))
    await Promise.resolve()
    sent[4]?.end('enough')
    for (const one of sent.slice(6)) one.end('enough')
    await vi.runAllTimersAsync()
    expect(endpoint.posted.map(({ rpcCalls }) => rpcCalls.map(({ params }) => params[0]))).toEqual([
      ['0x0', '0x1', '0x2'],
      ['0x3', '0x5'],
    ])
    expect(sent.map(({ completions }) => completions)).toEqual(sent.map(() => 1))
  })

  test('of a batch that was split while it waited, stops each part once all its calls have ended', async () => {
    const endpoint = scriptedPost((posted) => ({ ...capped(2, () => tooLarge('batch over 2'))(posted), afterMs: 10 }))
    const send = over(endpoint, { maxCalls: 4 }, 1)
    const sent = sendAll(send, reads(8))
    await vi.advanceTimersByTimeAsync(15)
    expect(endpoint.posted.map(({ rpcCalls }) => rpcCalls.map(({ params }) => params[0])).at(-1)).toEqual([
      '0x4',
      '0x5',
    ])
    sent[4]?.end('enough')
    expect(endpoint.posted.at(-1)?.stopped).toBe(false)
    sent[5]?.end('enough')
    expect(endpoint.posted.find(({ rpcCalls }) => rpcCalls[0]?.params[0] === '0x4')?.stopped).toBe(true)
    await vi.runAllTimersAsync()
    expect(sent.map(({ completions }) => completions)).toEqual(sent.map(() => 1))
  })

  test('by a listener, all of them while they are sent, stops the request', async () => {
    const endpoint = scriptedPost(() => ({ never: true }))
    const sent = sendAll(over(endpoint), reads(3))
    for (const one of sent)
      listen(one, ({ type }) => {
        if (type === 'attempt') one.end('enough')
      })
    await vi.runAllTimersAsync()
    expect(sent.map(({ completions }) => completions)).toEqual([1, 1, 1])
    expect(endpoint.open).toBe(0)
  })

  test('by a listener, while they complete, completes none twice and sends none again', async () => {
    const endpoint = scriptedPost(capped(1, () => tooLarge('batch too large')))
    const sent = sendAll(over(endpoint, true, 1), reads(3))
    for (const one of sent)
      listen(one, ({ type }) => {
        if (type === 'attempted') for (const other of sent) if (!other.completions) other.end('enough')
      })
    await vi.runAllTimersAsync()
    expect(sent.map(({ value, completions }) => [value, completions])).toEqual(sent.map(() => ['enough', 1]))
    expect(sizes(endpoint)).toEqual([3])
    expect(endpoint.open).toBe(0)
  })

  test('in a part that is resent, leaves its other calls in place', async () => {
    const endpoint = scriptedPost(capped(2, () => tooLarge('batch over 2')))
    const sent = sendAll(over(endpoint), reads(4))
    await vi.advanceTimersByTimeAsync(1)
    expect(sizes(endpoint)).toEqual([4, 2, 2])
    sent[0]?.end('enough')
    sent[1]?.end('enough')
    expect(endpoint.posted.map(({ stopped }) => stopped)).toEqual([false, true, false])
    await vi.runAllTimersAsync()
    expect(sent.map(({ completions }) => completions)).toEqual([1, 1, 1, 1])
  })
})

describe('the vectors', () => {
  test.each(cases.filter(({ appliesTo }) => appliesTo.includes('ts')))('$name', async (vector) => {
    const { methods, response, expect: expected } = vector
    const endpoint = scriptedPost()
    let first = true
    endpoint.script = (posted) => {
      if (!first) return echoAll(posted)
      first = false
      expect(posted.rpcCalls.map(({ id }) => id)).toEqual(methods.map((_, at) => at + 1))
      const { status, headers = {}, body } = response
      return { status, headers, text: typeof body === 'string' ? body : JSON.stringify(body) }
    }
    const send = over(endpoint)
    const calls = methods.map((method, at) => sendDown(send, method, { params: `[${at}]`, batch: methods }))
    await vi.runAllTimersAsync()
    const again = endpoint.posted.slice(1)
    for (const [at, wanted] of expected.calls.entries()) {
      const { ok, value, completions } = calls[at] as Sent
      expect(completions).toBe(1)
      if (wanted.resent) expect([ok, value]).toEqual([true, { method: methods[at], params: [at] }])
      else if ('result' in wanted) expect([ok, value]).toEqual([true, wanted.result])
      else expect([ok, value]).toMatchObject([false, { ...wanted, method: methods[at] }])
    }
    const rpcCalls = again.flatMap((posted) => posted.rpcCalls.map(({ params }) => Number(params[0])))
    expect(rpcCalls.toSorted((a, b) => a - b)).toEqual(
      expected.calls.flatMap((wanted, at) => (wanted.resent ? [at] : [])),
    )
    expect(Math.max(0, ...again.map((posted) => posted.rpcCalls.length))).toBe(
      rpcCalls.length > 0 ? Math.min(expected.limit as number, rpcCalls.length) : 0,
    )
  })
})

describe('the size that an endpoint accepts', () => {
  test('a rejection without a number makes batches smaller for a while, but not forever', async () => {
    let hiccups = 3
    const endpoint = scriptedPost((posted) =>
      posted.batched && hiccups-- > 0 ? tooLarge('the node had a bad moment') : echoAll(posted),
    )
    const send = over(endpoint)
    const largest: number[] = []
    for (let wave = 0; wave < 80; wave++) {
      endpoint.posted.length = 0
      const sent = sendAll(send, reads(64))
      await vi.runAllTimersAsync()
      expect(outcomes(sent)).toEqual(own(sent))
      largest.push(Math.max(...sizes(endpoint)))
    }
    // In the second wave, two batches are in flight, and both fail.
    expect(largest.slice(0, 4)).toEqual([64, 32, 16, 16])
    expect(largest.at(-1)).toBe(64)
  })

  test('a cap that the endpoint named is respected, even if larger batches would succeed', async () => {
    const endpoint = scriptedPost(capped(10, () => tooLarge('batch too large: at most 10')))
    const send = over(endpoint)
    for (let wave = 0; wave < 40; wave++) {
      sendAll(send, reads(64))
      await vi.runAllTimersAsync()
    }
    expect(sizes(endpoint).filter((size) => size > 10)).toEqual([64])
  })

  test('each call reports its share of the request', async () => {
    const endpoint = scriptedPost((posted) =>
      posted.rpcCalls.length > 2 ? tooLarge('batch too large: at most 2') : echoAll(posted),
    )
    const send = over(endpoint)
    const sent = sendAll(send, reads(5))
    await vi.runAllTimersAsync()
    expect(sent.map(({ call }) => call.share)).toEqual([0.5, 0.5, 0.5, 0.5, 1])
  })
})
