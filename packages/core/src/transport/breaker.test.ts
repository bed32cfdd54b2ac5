import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { newCall, scriptedEndpoint, sendDown } from '../../test/scriptedEndpoint.ts'
import type { Outcome, ScriptedEndpoint, Sent } from '../../test/scriptedEndpoint.ts'
import { createFailure } from '../failure/createFailure.ts'
import { breaker } from './breaker.ts'
import type { BreakerOptions, Guarded } from './breaker.ts'
import type { RouteCall } from './call/call.ts'

const up: Outcome = { result: '0x1' }
const down: Outcome = { facts: { text: 'Bad Gateway', status: 502 } }

const make = (options?: BreakerOptions, script?: ScriptedEndpoint['script']) => {
  const below = scriptedEndpoint(script)
  return { below, guarded: breaker(options)(below) }
}
/** Sends calls one after the other. */
const run = async (
  guarded: ScriptedEndpoint & Guarded,
  count: number,
  method?: string,
  fields?: Partial<RouteCall>,
) => {
  const sent: Sent[] = []
  for (let i = 0; i < count; i++) {
    sent.push(sendDown(guarded.send, method, fields))
    await vi.advanceTimersByTimeAsync(1)
  }
  return sent
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('a breaker opens', () => {
  test('after five failures in a row, and then rejects all calls', async () => {
    const { below, guarded } = make({}, () => down)
    await run(guarded, 4)
    expect(guarded.state()).toBe('closed')
    await run(guarded, 1)
    expect(guarded.state()).toBe('open')
    expect(guarded.admits(newCall())).toBe(false)
    const [rejected] = (await run(guarded, 1)) as [Sent]
    expect(rejected.ok).toBe(false)
    expect(rejected.value).toMatchObject({
      kind: 'unavailable',
      source: 'client',
      retryable: true,
      redactedUrl: below.redactedUrl,
    })
    expect(below.arrivals).toHaveLength(5)
  })

  test('by requests: a failed batch is one failure, with any number of calls', async () => {
    const { guarded } = make({}, () => down)
    await run(guarded, 5 * 20 - 1, 'eth_call', { share: 1 / 20 })
    expect(guarded.state()).toBe('closed')
    expect(guarded.health()).toMatchObject({ calls: 4.95, successRate: 0 })
    await run(guarded, 1, 'eth_call', { share: 1 / 20 })
    expect(guarded.state()).toBe('open')
  })

  test('by the rate of requests, not of calls', async () => {
    const { guarded } = make({}, (_, n) => (n % 10 < 9 ? up : down))
    await run(guarded, 400, 'eth_call', { share: 1 / 20 })
    expect(guarded.health()).toMatchObject({ calls: 20, successRate: 0.9 })
    expect(guarded.state()).toBe('closed')
  })

  test('not if a response arrived in between', async () => {
    const { guarded } = make({ minCalls: 1_000 }, (_, n) => (n % 5 === 4 ? up : down))
    await run(guarded, 50)
    expect(guarded.state()).toBe('closed')
  })

  test('if half of the calls of the window fail, once there are enough', async () => {
    const { guarded } = make({}, (_, n) => (n % 2 ? down : up))
    await run(guarded, 19)
    expect(guarded.state()).toBe('closed')
    await run(guarded, 1)
    expect(guarded.state()).toBe('open')
  })

  test('not for failures before the window', async () => {
    const { guarded } = make({ windowMs: 10_000 }, (_, n) => (n % 2 ? down : up))
    await run(guarded, 19)
    expect(guarded.health()).toMatchObject({ calls: 19, successRate: 1 - 9 / 19 })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(guarded.health()).toMatchObject({ calls: 0, successRate: undefined })
    await run(guarded, 1)
    expect(guarded.state()).toBe('closed')
  })

  test.each([
    ['no connection', { kind: 'network', text: 'connection failed', unsent: true }],
    ['503', { text: 'Service Unavailable', status: 503 }],
    ['504', { text: 'Gateway Timeout', status: 504 }],
    ['503 with an error object', { text: 'down', status: 503, rpcError: { code: -32603, message: 'down' } }],
    ['a timeout', { kind: 'timeout', text: 'no response' }],
    ['an invalid response', { kind: 'badResponse', text: '<html>' }],
  ] as const)('on %s', async (_, facts) => {
    const { guarded } = make({}, () => ({ facts }))
    await run(guarded, 5)
    expect(guarded.state()).toBe('open')
  })

  test.each([
    ['a revert', { text: 'x', status: 200, rpcError: { code: 3, message: 'execution reverted', data: '0x' } }],
    ['an error of the node', { text: 'x', status: 200, rpcError: { code: -32603, message: 'internal error' } }],
    ['a wrong call', { text: 'x', status: 400, rpcError: { code: -32602, message: 'invalid params' } }],
    ['throttling', { text: 'slow down', status: 429 }],
    ['a used-up quota', { text: 'Payment Required', status: 402 }],
    [
      'a node that lags',
      { text: 'header not found', status: 200, rpcError: { code: -32000, message: 'header not found' } },
    ],
    ['a full queue', { kind: 'throttled', text: 'too many are in flight' }],
    ['a key function that throws', { kind: 'invalidRequest', text: 'no key' }],
  ] as const)('never on %s', async (_, facts) => {
    const { guarded } = make({}, () => ({ facts }))
    await run(guarded, 50)
    expect(guarded.state()).toBe('closed')
  })

  test('never on canceled calls, unless they timed out', async () => {
    const { guarded } = make({}, () => ({ never: true }))
    for (let i = 0; i < 50; i++) sendDown(guarded.send).end(new Error('enough'))
    expect(guarded.state()).toBe('closed')
    for (let i = 0; i < 5; i++)
      sendDown(guarded.send).end(
        createFailure({ kind: 'timeout', text: 'late' }, { method: 'eth_chainId', redactedUrl: 'x' }),
      )
    expect(guarded.state()).toBe('open')
  })

  test('at once and for long if the key is rejected', async () => {
    const { guarded } = make({}, () => ({ facts: { text: 'Unauthorized', status: 401 } }))
    await run(guarded, 1)
    await vi.advanceTimersByTimeAsync(299_000)
    expect(guarded.state()).toBe('open')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(guarded.state()).toBe('halfOpen')
    await run(guarded, 1)
    expect(guarded.state()).toBe('open')
  })

  test.each([
    ['forbidden', { text: 'denied', status: 403 }],
    [
      'sent to the wrong network by the service',
      { text: 'unsupported network', rpcError: { code: -32600, message: 'unsupported network' } },
    ],
  ])('for long if each call is %s, but not if only one method is', async (_, facts) => {
    const { below, guarded } = make({}, (call) => (call.method === 'eth_chainId' ? up : { facts }))
    for (let i = 0; i < 10; i++) await run(guarded, 4, 'debug_traceTransaction').then(() => run(guarded, 1))
    expect(guarded.state()).toBe('closed')
    below.script = () => ({ facts })
    await run(guarded, 5)
    await vi.advanceTimersByTimeAsync(299_000)
    expect(guarded.state()).toBe('open')
    await vi.advanceTimersByTimeAsync(1_000)
    await run(guarded, 1)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(guarded.state()).toBe('open')
  })
})

describe('a breaker that is half open', () => {
  const halfOpen = async (script: ScriptedEndpoint['script']) => {
    const made = make({}, (call, n) => (n < 5 ? down : script(call, n - 5)))
    await run(made.guarded, 5)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(made.guarded.state()).toBe('halfOpen')
    return made
  }

  test('sends one read, and closes when it succeeds', async () => {
    const { below, guarded } = await halfOpen(() => ({ ...up, afterMs: 100 }))
    expect(guarded.admits(newCall())).toBe(true)
    const probe = sendDown(guarded.send)
    expect(guarded.admits(newCall())).toBe(false)
    const other = sendDown(guarded.send)
    expect(other.value).toMatchObject({ kind: 'unavailable', source: 'client' })
    await vi.advanceTimersByTimeAsync(100)
    expect(probe.ok).toBe(true)
    expect(guarded.state()).toBe('closed')
    expect(below.arrivals).toHaveLength(6)
  })

  test('once closed, opens with the shortest wait again', async () => {
    const { guarded } = await halfOpen((_, n) => (n === 1 ? up : down))
    await run(guarded, 1)
    await vi.advanceTimersByTimeAsync(10_000)
    await run(guarded, 1)
    expect(guarded.state()).toBe('closed')
    await run(guarded, 5)
    await vi.advanceTimersByTimeAsync(4_990)
    expect(guarded.state()).toBe('open')
    await vi.advanceTimersByTimeAsync(10)
    expect(guarded.state()).toBe('halfOpen')
  })

  test('sends no transaction', async () => {
    const { guarded } = await halfOpen(() => up)
    expect(guarded.admits(newCall('eth_sendRawTransaction'))).toBe(false)
    const [write] = (await run(guarded, 1, 'eth_sendRawTransaction')) as [Sent]
    expect(write.value).toMatchObject({ kind: 'unavailable', retryable: true })
  })

  test('opens again for twice as long if the probe fails, up to a minute', async () => {
    const { guarded } = await halfOpen(() => down)
    const openForMs: number[] = []
    for (let i = 0; i < 6; i++) {
      await run(guarded, 1)
      let ms = 0
      while (guarded.state() === 'open') {
        await vi.advanceTimersByTimeAsync(1_000)
        ms += 1_000
      }
      openForMs.push(ms)
    }
    expect(openForMs).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000])
  })

  test('closes after a probe that was throttled or reverted: the endpoint responds', async () => {
    const { guarded } = await halfOpen(() => ({ facts: { text: 'slow down', status: 429 } }))
    await run(guarded, 1)
    expect(guarded.state()).toBe('closed')
  })

  test('sends the next call if the probe was canceled', async () => {
    const { guarded } = await halfOpen((_, n) => (n === 0 ? { never: true } : up))
    sendDown(guarded.send).end('enough')
    expect(guarded.state()).toBe('halfOpen')
    await run(guarded, 1)
    expect(guarded.state()).toBe('closed')
  })
})

describe('a breaker that is open', () => {
  test('sends calls that bypass it, and closes when one succeeds', async () => {
    const { guarded } = make({}, (_, n) => (n < 5 ? down : up))
    await run(guarded, 5)
    const [sent] = (await run(guarded, 1, 'eth_sendRawTransaction', { bypassesBreaker: true })) as [Sent]
    expect(sent.ok).toBe(true)
    expect(guarded.state()).toBe('closed')
  })

  test('ignores the outcome of calls that were sent before', async () => {
    const { guarded } = make({}, (_, n) =>
      n === 0 ? { ...up, afterMs: 100 } : n === 1 ? { ...down, afterMs: 100 } : down,
    )
    sendDown(guarded.send)
    sendDown(guarded.send)
    await run(guarded, 5)
    expect(guarded.state()).toBe('open')
    await vi.advanceTimersByTimeAsync(200)
    expect(guarded.state()).toBe('open')
    await vi.advanceTimersByTimeAsync(4_800)
    expect(guarded.state()).toBe('halfOpen')
  })
})

// 15.31
describe('a call that is no evidence about the endpoint', () => {
  test('does not make the wait longer: it was sent while the breaker was open, and is no probe', async () => {
    const { guarded } = make({}, () => down)
    await run(guarded, 5)
    await run(guarded, 10, 'eth_chainId', { bypassesBreaker: true })
    await vi.advanceTimersByTimeAsync(4_989)
    expect(guarded.state()).toBe('open')
    await vi.advanceTimersByTimeAsync(1)
    expect(guarded.state()).toBe('halfOpen')
    await run(guarded, 10, 'eth_sendRawTransaction', { bypassesBreaker: true })
    expect(guarded.state()).toBe('halfOpen')
    await run(guarded, 1)
    await vi.advanceTimersByTimeAsync(9_999)
    expect(guarded.state()).toBe('open')
    await vi.advanceTimersByTimeAsync(1)
    expect(guarded.state()).toBe('halfOpen')
  })

  test('does not make the wait longer: it was sent in the millisecond in which the breaker opened', async () => {
    const { guarded } = make({}, (_, n) => ({ ...down, afterMs: n < 5 ? 0 : 4_000 }))
    const late = Array.from({ length: 15 }, () => sendDown(guarded.send))
    await vi.advanceTimersByTimeAsync(0)
    expect(guarded.state()).toBe('open')
    await vi.advanceTimersByTimeAsync(5_000)
    expect(late.map(({ ok }) => ok)).not.toContain(undefined)
    expect(guarded.state()).toBe('halfOpen')
  })

  test('does not open it again: it was sent before the endpoint recovered', async () => {
    const { guarded } = make({ minCalls: 5 }, (_, n) => (n < 5 ? down : n < 15 ? { ...down, afterMs: 8_000 } : up))
    await run(guarded, 5)
    for (let i = 0; i < 10; i++) sendDown(guarded.send, 'eth_chainId', { bypassesBreaker: true })
    await vi.advanceTimersByTimeAsync(5_000)
    await run(guarded, 1)
    expect(guarded.state()).toBe('closed')
    await vi.advanceTimersByTimeAsync(5_000)
    expect(guarded.state()).toBe('closed')
  })
})

describe('health', () => {
  test('counts responses and their latency', async () => {
    const { guarded } = make({}, (_, n) => (n === 3 ? { ...down, afterMs: 500 } : { ...up, afterMs: 100 }))
    expect(guarded.health()).toEqual({
      state: 'closed',
      calls: 0,
      failures: 0,
      successRate: undefined,
      latencyMs: undefined,
    })
    await vi.advanceTimersByTimeAsync(7_000)
    for (let i = 0; i < 25; i++) sendDown(guarded.send)
    await vi.runAllTimersAsync()
    expect(guarded.health()).toEqual({ state: 'closed', calls: 25, failures: 1, successRate: 0.96, latencyMs: 100 })
    expect(guarded.percentileMs(95)).toBeGreaterThanOrEqual(100)
    expect(guarded.percentileMs(95)).toBeLessThan(120)
  })

  test('counts a canceled call as slow', async () => {
    const { guarded } = make({}, (_, n) => (n < 20 ? { ...up, afterMs: 10 } : { never: true }))
    for (let i = 0; i < 20; i++) sendDown(guarded.send)
    await vi.runAllTimersAsync()
    const slow = Array.from({ length: 20 }, () => sendDown(guarded.send))
    await vi.advanceTimersByTimeAsync(1_000)
    for (const sent of slow) sent.end('lost')
    expect(guarded.percentileMs(95)).toBeGreaterThanOrEqual(1_000)
  })
})

test.each([
  [{ failures: 0 }, 'failures must be a number from 1'],
  [{ minCalls: Number.NaN }, 'minCalls must be a number from 1'],
  [{ failureRate: 2 }, 'failureRate must be a number from 0.01 to 1'],
  [{ windowMs: 0 }, 'windowMs must be a number from 1'],
  [{ openMs: 2 ** 31 }, 'openMs must be a number from 1'],
  [{ deadMs: '5' as unknown as number }, 'deadMs must be a number from 1'],
])('%j is rejected', (options, message) => {
  expect(() => breaker(options)).toThrow(message)
})
