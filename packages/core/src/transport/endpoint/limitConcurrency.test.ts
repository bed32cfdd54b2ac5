import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../../clock/now.ts'
import { newCall, sendDown } from '../../../test/scriptedEndpoint.ts'
import { echoAll, scriptedPost } from '../../../test/scriptedPost.ts'
import { limitConcurrency } from './limitConcurrency.ts'
import type { Call, Send } from '../call/call.ts'
import type { OfCall, PostForItems } from './limitConcurrency.ts'

type Done = Parameters<PostForItems>[2]

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** An endpoint whose requests end only when the test ends them. */
const held = () => {
  const ends: ((ok: boolean) => void)[] = []
  const started: Call[] = []
  const send: Send = (call, complete) => {
    started.push(call)
    ends.push((ok) => complete(ok, call.method))
    call.cancel = (reason) => complete(false, reason)
  }
  return { ends, started, endpoint: { ...scriptedPost(), send } }
}

describe('limitConcurrency', () => {
  test('sends requests up to the limit, and the next one when one has ended', () => {
    const { ends, started, endpoint } = held()
    const { send } = limitConcurrency({ maxInFlight: 2 })(endpoint)
    const sent = ['eth_a', 'eth_b', 'eth_c', 'eth_d'].map((method) => sendDown(send, method))
    expect(started.map(({ method }) => method)).toEqual(['eth_a', 'eth_b'])
    ends[1]?.(false)
    expect(started.map(({ method }) => method)).toEqual(['eth_a', 'eth_b', 'eth_c'])
    ends[0]?.(true)
    ends[2]?.(true)
    ends[3]?.(true)
    expect(sent.map(({ ok, value, completions }) => [ok, value, completions])).toEqual([
      [true, 'eth_a', 1],
      [false, 'eth_b', 1],
      [true, 'eth_c', 1],
      [true, 'eth_d', 1],
    ])
  })

  test('allows 64 requests in flight by default', async () => {
    const { ends, started, endpoint } = held()
    const { send } = limitConcurrency()(endpoint)
    for (let n = 0; n < 70; n++) sendDown(send)
    await Promise.resolve()
    expect(started).toHaveLength(64)
    for (const end of ends) end(true)
    expect(started).toHaveLength(70)
  })

  test('starts 8 of many requests at once and the next ones right after, which does not count as a wait', async () => {
    const { ends, started, endpoint } = held()
    const { send } = limitConcurrency({ maxInFlight: 20 })(endpoint)
    const events: string[] = []
    const emit: Call['emit'] = ({ type }) => void events.push(type)
    for (let n = 0; n < 21; n++) sendDown(send, `eth_${n}`, { emit })
    expect(started).toHaveLength(8)
    await Promise.resolve()
    expect(started.map(({ method }) => method)).toEqual(Array.from({ length: 20 }, (_, n) => `eth_${n}`))
    expect(events).toEqual(Array.from({ length: 20 }, () => 'attempt'))
    for (const end of ends) end(true)
    expect(events.filter((type) => type === 'queued')).toHaveLength(1)
  })

  test('a call can end before the end of the tick in which it was postponed', async () => {
    const { ends, started, endpoint } = held()
    const { send } = limitConcurrency()(endpoint)
    const sent = Array.from({ length: 10 }, (_, n) => sendDown(send, `eth_${n}`))
    sent[8]?.call.cancel?.('left')
    await Promise.resolve()
    expect(sent[8]).toMatchObject({ ok: false, value: 'left', completions: 1 })
    expect(started.map(({ method }) => method)).not.toContain('eth_8')
    expect(started).toHaveLength(9)
    for (const end of ends) end(true)
  })

  test('sends writes before reads before polls, and within a priority first come, first served', () => {
    const { ends, started, endpoint } = held()
    const { send } = limitConcurrency({ maxInFlight: 1 })(endpoint)
    sendDown(send, 'eth_first')
    sendDown(send, 'eth_getLogs', { options: { priority: 'poll' } })
    sendDown(send, 'eth_call')
    sendDown(send, 'eth_gasPrice')
    sendDown(send, 'eth_sendRawTransaction')
    sendDown(send, 'eth_getBalance', { options: { priority: 'write' } })
    for (const end of ends) end(true)
    expect(started.map(({ method }) => method)).toEqual([
      'eth_first',
      'eth_sendRawTransaction',
      'eth_getBalance',
      'eth_call',
      'eth_gasPrice',
      'eth_getLogs',
    ])
  })

  test('removes a waiting call from the queue at once when it ends, at any position', () => {
    const { ends, started, endpoint } = held()
    const { send } = limitConcurrency({ maxInFlight: 1 })(endpoint)
    const [, second, third, fourth] = ['eth_a', 'eth_b', 'eth_c', 'eth_d'].map((method) => sendDown(send, method))
    third?.end('enough')
    expect(third).toMatchObject({ ok: false, value: 'enough', completions: 1 })
    second?.end('enough')
    fourth?.end('enough')
    expect(vi.getTimerCount()).toBe(0)
    for (const end of ends) end(true)
    expect(started.map(({ method }) => method)).toEqual(['eth_a'])
  })

  test('gives the slot of an ended request to the next one', () => {
    const { ends, started, endpoint } = held()
    const { send } = limitConcurrency({ maxInFlight: 1 })(endpoint)
    const first = sendDown(send, 'eth_a')
    sendDown(send, 'eth_b')
    first.end('enough')
    expect(first).toMatchObject({ ok: false, value: 'enough', completions: 1 })
    expect(started.map(({ method }) => method)).toEqual(['eth_a', 'eth_b'])
    ends[1]?.(true)
  })

  test('fails a call that waited too long: throttled by the client, not sent, not retryable', () => {
    const { ends, started, endpoint } = held()
    const { send } = limitConcurrency({ maxInFlight: 1, maxWaitMs: 1_000 })(endpoint)
    sendDown(send, 'eth_a')
    const early = sendDown(send, 'eth_b')
    const polled = sendDown(send, 'eth_c', { options: { priority: 'poll' } })
    vi.advanceTimersByTime(400)
    const late = sendDown(send, 'eth_d')
    vi.advanceTimersByTime(599)
    expect(early.completions).toBe(0)
    vi.advanceTimersByTime(1)
    for (const { ok, value, completions } of [early, polled]) {
      expect([ok, completions]).toEqual([false, 1])
      expect(value).toMatchObject({ kind: 'throttled', source: 'client', retryable: false, method: expect.any(String) })
      expect(String(value)).toMatch(/waited 1000 ms because maxInFlight \(1\)/)
    }
    expect(early.call.deadlineAt).toBe(Infinity)
    expect(late.completions).toBe(0)
    vi.advanceTimersByTime(399)
    expect(late.completions).toBe(0)
    vi.advanceTimersByTime(1)
    expect(late).toMatchObject({ ok: false, completions: 1 })
    expect(late.at).toBe(now())
    ends[0]?.(true)
    expect(started).toHaveLength(1)
  })

  test('still rejects in time after rejected calls were retried at once', () => {
    const { ends, endpoint } = held()
    const { send } = limitConcurrency({ maxInFlight: 1, maxWaitMs: 1_000 })(endpoint)
    sendDown(send)
    const again: unknown[] = []
    send(newCall('eth_poll', { options: { priority: 'poll' } }), (_, value) => {
      again.push(value)
      send(newCall('eth_sendRawTransaction'), (__, other) => again.push(other))
    })
    vi.advanceTimersByTime(1_000)
    expect(again).toHaveLength(1)
    vi.advanceTimersByTime(999)
    expect(again).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(again).toHaveLength(2)
    ends[0]?.(true)
  })

  test('does not count the wait against the deadline, and reports how long it was', () => {
    const { ends, endpoint } = held()
    const { send } = limitConcurrency({ maxInFlight: 1 })(endpoint)
    sendDown(send)
    const waiting = sendDown(send, 'eth_b', { deadlineAt: 5_000 })
    const since = now()
    expect(waiting.call.progress.queued?.since).toBe(since)
    vi.advanceTimersByTime(700)
    expect(waiting.events).toEqual([])
    ends[0]?.(true)
    expect(waiting.call.progress).toMatchObject({ queuedMs: 700, queued: undefined })
    expect(waiting.events[0]).toEqual({ type: 'queued', redactedUrl: 'https://node.example/…', waitMs: 700 })
    ends[1]?.(true)
  })

  test('restarts the deadline of a call that waited too long: it may use another endpoint', () => {
    const { ends, endpoint } = held()
    const { send } = limitConcurrency({ maxInFlight: 1, maxWaitMs: 50 })(endpoint)
    sendDown(send)
    const waiting = sendDown(send, 'eth_b', { deadlineAt: 5_000 })
    vi.advanceTimersByTime(50)
    expect(waiting.call.progress).toMatchObject({ queuedMs: 50, queued: undefined })
    ends[0]?.(true)
  })

  test('reports no wait to a call that did not wait', () => {
    const { ends, endpoint } = held()
    const sent = sendDown(limitConcurrency()(endpoint).send, 'eth_a', { deadlineAt: 10 })
    ends[0]?.(true)
    expect(sent.events).toMatchObject([
      { type: 'attempt', batchSize: 1 },
      { type: 'attempted', kind: undefined },
    ])
    expect(sent.call.progress.queuedMs).toBe(0)
  })

  test('handles any number of calls that end at once, without growing the stack', () => {
    let ended = 0
    const endpoint = { ...scriptedPost(), send: ((_, complete) => complete(true, 1)) as Send }
    const hold = held()
    let first = true
    const { send } = limitConcurrency({ maxInFlight: 1 })({
      ...endpoint,
      send: (call, complete) => {
        if (!first) return endpoint.send(call, complete)
        first = false
        hold.endpoint.send(call, complete)
      },
    })
    for (let n = 0; n < 20_000; n++) send(newCall(), () => ended++)
    hold.ends[0]?.(true)
    expect(ended).toBe(20_000)
  })

  test('counts a posted body as one request, and writes it only when it may go', async () => {
    const endpoint = scriptedPost()
    const { post } = limitConcurrency({ maxInFlight: 1 })(endpoint)
    const newItems = (): OfCall[] => [{ call: newCall('eth_a') }, { call: newCall('eth_b') }]
    const items = newItems()
    const body = vi.fn<() => string>(
      () => '[{"id":1,"method":"eth_a","params":[]},{"id":2,"method":"eth_b","params":[]}]',
    )
    const done = vi.fn<Done>()
    endpoint.script = (posted) => ({ ...echoAll(posted), afterMs: 10 })
    post(newItems(), body, done)
    post(items, body, done)
    const stopped = newItems()
    const stop = post(stopped, body, done)
    expect(body).toHaveBeenCalledTimes(1)
    expect(items.map(({ call }) => call.progress.queued?.since)).toEqual([now(), now()])
    stop()
    expect(stopped.map(({ call }) => call.progress.queued?.since)).toEqual([undefined, undefined])
    await vi.advanceTimersByTimeAsync(10)
    expect(body).toHaveBeenCalledTimes(2)
    expect(done).toHaveBeenCalledTimes(1)
    expect(items.map(({ call }) => call.progress.queuedMs)).toEqual([10, 10])
    await vi.advanceTimersByTimeAsync(10)
    expect(done).toHaveBeenCalledTimes(2)
    expect(endpoint.posted).toHaveLength(2)
    expect(endpoint.open).toBe(0)
  })

  test('stops a posted body, and gives its slot to the next one', async () => {
    const endpoint = scriptedPost(() => ({ never: true }))
    const { post, send } = limitConcurrency({ maxInFlight: 1 })(endpoint)
    const done = vi.fn<Done>()
    const stop = post([{ call: newCall() }], () => '[]', done)
    const next = sendDown(send)
    endpoint.script = echoAll
    stop()
    await vi.advanceTimersByTimeAsync(1)
    expect(endpoint.posted.map(({ stopped }) => stopped)).toEqual([true, false])
    expect(next).toMatchObject({ ok: true, completions: 1 })
    expect(done).not.toHaveBeenCalled()
  })

  test('delivers a response before the next body is written', async () => {
    const endpoint = scriptedPost()
    const { post } = limitConcurrency({ maxInFlight: 1 })(endpoint)
    const order: string[] = []
    const items = [{ call: newCall() }]
    const body = (): string => {
      order.push('body')
      return '[]'
    }
    for (let n = 0; n < 2; n++) post(items, body, () => order.push('done'))
    await vi.advanceTimersByTimeAsync(2)
    expect(order).toEqual(['body', 'done', 'body', 'done'])
  })

  test('fails a posted body that waited too long', () => {
    const endpoint = scriptedPost(() => ({ never: true }))
    const { post } = limitConcurrency({ maxInFlight: 1, maxWaitMs: 30 })(endpoint)
    const stop = post([{ call: newCall() }], () => '[]', vi.fn<Done>())
    const done = vi.fn<Done>()
    post([{ call: newCall('eth_sendTransaction') }], () => '[]', done)
    vi.advanceTimersByTime(30)
    expect(done).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ kind: 'throttled', unsent: true, final: true }),
      undefined,
      { redactedUrl: 'https://node.example/…' },
    )
    stop()
  })

  test('passes the members of the endpoint on', () => {
    const endpoint = scriptedPost(echoAll, 7)
    const gated = limitConcurrency()(endpoint)
    expect(gated).toMatchObject({ redactedUrl: endpoint.redactedUrl, chain: { id: 7 }, close: endpoint.close })
  })

  test.each([
    ['maxInFlight', 0, '1 to 100000'],
    ['maxInFlight', NaN, '1 to 100000'],
    ['maxInFlight', 100_001, '1 to 100000'],
    ['maxWaitMs', 0, '1 to 2147483647'],
    ['maxWaitMs', 2 ** 31, '1 to 2147483647'],
  ])('rejects %s of %d', (name, value, range) => {
    expect(() => limitConcurrency({ [name]: value })).toThrow(`${name} must be a number from ${range}`)
  })
})
