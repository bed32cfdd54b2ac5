import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../clock/now.ts'
import { scriptedEndpoint, sendDown } from '../../test/scriptedEndpoint.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { FailureFacts } from '../failure/failureFacts.ts'
import type { Endpoint } from './endpoint/http.ts'
import { layer } from './layer.ts'
import { retry } from './retry.ts'
import type { RetryOptions } from './retry.ts'
import type { Transport } from './transport.ts'
import { compose, deadline } from '../../test/layers.ts'

const redactedUrl = 'https://node.example/v2/…'

/** An endpoint whose first attempts fail in the given ways, and that records when each attempt was sent. */
const failing = (...ways: FailureFacts[]): Endpoint & { readonly at: number[] } => {
  const at: number[] = []
  return {
    redactedUrl,
    at,
    close: () => {},
    send: ({ method }, complete) => {
      const facts = ways[at.length]
      at.push(now())
      queueMicrotask(() =>
        facts ? complete(false, createFailure(facts, { method, redactedUrl })) : complete(true, '0x1'),
      )
    },
  }
}
const down: FailureFacts = { text: 'down', status: 503 }
const over = (retryAfter: string): FailureFacts => ({ text: 'slow down', status: 429, retryAfter })

/** Advances the fake clock until the call has ended. */
const complete = async (transport: Transport, method = 'eth_chainId'): Promise<unknown> => {
  const outcome = transport.request({ method, params: [] }).catch((error: unknown) => error)
  await vi.runAllTimersAsync()
  return outcome
}
const make = (endpoint: Endpoint, options?: RetryOptions): Transport =>
  compose(endpoint, retry(options), deadline({ timeoutMs: 10_000 }))

describe('retry', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  test('retries a failed read until it succeeds', async () => {
    const endpoint = failing(down, down, down)
    expect(await complete(make(endpoint))).toBe('0x1')
    expect(endpoint.at).toHaveLength(4)
  })

  const odd: FailureFacts = {
    text: "Can't route your request to suitable provider",
    status: 200,
    rpcError: { code: 12, message: "Can't route your request to suitable provider" },
  }

  test('retries a read with an unknown error of a server once, and never a write', async () => {
    const once = failing(odd)
    expect(await complete(make(once))).toBe('0x1')
    const always = failing(odd, odd, odd, odd)
    expect(await complete(make(always))).toMatchObject({ kind: 'unknown', retryable: false })
    expect(always.at).toHaveLength(2)
    const write = failing(odd)
    expect(await complete(make(write), 'eth_sendRawTransaction')).toMatchObject({ kind: 'unconfirmed' })
    expect(write.at).toHaveLength(1)
    const none = failing(odd)
    expect(await complete(make(none, { retries: 0 }))).toMatchObject({ kind: 'unknown' })
    expect(none.at).toHaveLength(1)
  })

  test('does not retry a programming error of a given fetch', async () => {
    const endpoint = failing({ kind: 'unknown', text: 'fetch threw TypeError: x is not a function' })
    expect(await complete(make(endpoint))).toMatchObject({ kind: 'unknown' })
    expect(endpoint.at).toHaveLength(1)
  })

  test('prefers the retries of the call to those of the layer', async () => {
    const timesMade = async (retries: number): Promise<number> => {
      const endpoint = failing(down, down, down, down, down, down)
      const call = make(endpoint, { retries: 2 }).request({ method: 'eth_chainId' }, { retries })
      const outcome = call.catch((error: unknown) => error)
      await vi.runAllTimersAsync()
      expect(await outcome).toMatchObject({ kind: 'unavailable' })
      return endpoint.at.length
    }
    expect(await timesMade(0)).toBe(1)
    expect(await timesMade(4)).toBe(5)
  })

  test('returns the last failure after the last retry', async () => {
    const endpoint = failing(down, down, down, down, down)
    expect(await complete(make(endpoint, { retries: 2 }))).toMatchObject({ kind: 'unavailable', status: 503 })
    expect(endpoint.at).toHaveLength(3)
  })

  test('waits a random share of a time that doubles, up to the cap', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const endpoint = failing(down, down, down, down, down)
    await complete(make(endpoint, { retries: 5, baseMs: 100, capMs: 500 }))
    expect(endpoint.at.slice(1).map((at, n) => Math.round(at - (endpoint.at[n] as number)))).toEqual([
      50, 100, 200, 250, 250,
    ])
  })

  test('waits exactly as long as the server requests, in seconds and by date', async () => {
    const seconds = failing(over('2'))
    expect(await complete(make(seconds))).toBe('0x1')
    expect(Math.round((seconds.at[1] as number) - (seconds.at[0] as number))).toBe(2_000)

    const date = failing(over(new Date(Date.now() + 3_000).toUTCString()))
    expect(await complete(make(date))).toBe('0x1')
    const waited = (date.at[1] as number) - (date.at[0] as number)
    expect(waited).toBeGreaterThan(1_990)
    expect(waited).toBeLessThanOrEqual(3_000)
  })

  test('fails at once if the server requests more time than the call has, and says so', async () => {
    const endpoint = failing(over('30'))
    const failure = await complete(make(endpoint))
    expect(failure).toMatchObject({ kind: 'throttled', retryAfterMs: 30_000 })
    expect(String(failure)).toContain(
      'Not retried: the next try would be in 30000 ms, but the deadline is in 10000 ms.',
    )
    expect(endpoint.at).toHaveLength(1)
  })

  test('fails at once if the wait would end at the deadline, or after it', async () => {
    const exactly = failing(over('10'))
    expect(await complete(make(exactly))).toMatchObject({ kind: 'throttled' })
    expect(exactly.at).toHaveLength(1)

    const twice = failing(over('6'), over('6'))
    expect(String(await complete(make(twice)))).toContain(
      'the next try would be in 6000 ms, but the deadline is in 4000 ms.',
    )
    expect(twice.at).toHaveLength(2)
  })

  test('reports 0 ms left, not a negative time, if the machine was too busy for the deadline', async () => {
    const send = retry()(failing(down).send, { redactedUrl })
    const sent = sendDown(send, 'eth_chainId', { deadlineAt: now() - 20 })
    await vi.runAllTimersAsync()
    expect(String(sent.value)).toContain('but the deadline is in 0 ms.')
  })

  test('does not mention retries if the deadline passed during an attempt', async () => {
    const hanging: Endpoint = {
      redactedUrl,
      close: () => {},
      send: (call, done) => {
        call.cancel = (reason) => done(false, reason)
      },
    }
    const failure = await complete(make(hanging))
    expect(failure).toMatchObject({ kind: 'timeout', retryable: true })
    expect(String(failure)).not.toContain('retried')
  })

  test('reports to the observer why a call is retried, and after how long', async () => {
    const endpoint = scriptedEndpoint((_, n) =>
      n === 0 ? { facts: over('2') } : n === 1 ? { facts: { ...down, retryAfter: '1' } } : { result: '0x1' },
    )
    const sent = sendDown(retry()(endpoint.send, { redactedUrl }))
    await vi.runAllTimersAsync()
    expect(sent.events).toEqual([
      { type: 'retry', kind: 'throttled', waitMs: 2_000 },
      { type: 'retry', kind: 'unavailable', waitMs: 1_000 },
    ])
  })

  test.each([
    ['auth', { text: 'no', status: 401 }],
    ['quota', { text: 'Payment Required', status: 402 }],
    [
      'revert',
      { text: 'execution reverted', code: 3, rpcError: { code: 3, message: 'execution reverted', data: '0x' } },
    ],
  ] as const)('does not make a call again that failed with %s', async (kind, facts) => {
    const endpoint = failing(facts)
    expect(await complete(make(endpoint))).toMatchObject({ kind, retryable: false })
    expect(endpoint.at).toHaveLength(1)
  })

  test('resends a transaction only if the first one cannot have arrived', async () => {
    const lost = failing({ kind: 'network', text: 'socket hang up' })
    expect(await complete(make(lost), 'eth_sendRawTransaction')).toMatchObject({ kind: 'network', retryable: false })
    expect(lost.at).toHaveLength(1)

    const notConnected = failing({ kind: 'network', text: 'connect ECONNREFUSED', unsent: true })
    expect(await complete(make(notConnected), 'eth_sendRawTransaction')).toBe('0x1')
    expect(notConnected.at).toHaveLength(2)
  })

  test('stops waiting when the caller aborts, with the caller\u2019s own reason', async () => {
    const endpoint = failing(over('5'))
    const controller = new AbortController()
    const call = make(endpoint).request({ method: 'eth_chainId' }, { signal: controller.signal })
    const outcome = call.catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(1_000)
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await outcome).toBe(reason)
    expect(endpoint.at).toHaveLength(1)
  })

  // In seconds. setTimeout treats a longer time as a millisecond.
  test.each(['10000000', '2147483.648'])(
    'does not wait longer than a timer supports, without a deadline: %s',
    async (seconds) => {
      const endpoint = failing(over(seconds))
      expect(await complete(compose(endpoint, retry()))).toMatchObject({ kind: 'throttled' })
      expect(endpoint.at).toHaveLength(1)
    },
  )

  test('knows the remaining time below a layer of the user', async () => {
    const endpoint = failing(over('30'))
    const passing = layer((request) => (args, options) => request(args, options))
    expect(await complete(compose(endpoint, retry(), passing, deadline()))).toMatchObject({ kind: 'throttled' })
    expect(endpoint.at).toHaveLength(1)
  })

  test('rejects invalid options', () => {
    expect(() => retry({ retires: 5 } as never)).toThrow('Unknown option "retires". Did you mean "retries"?')
    // As in compose(http(…), retry), which should be retry().
    expect(() => compose(failing(), retry as never)).toThrow('retry takes an object of options')
    expect(() => retry({ retries: -1 })).toThrow('retries must be a number from 0')
    expect(() => retry({ baseMs: Number.NaN })).toThrow('baseMs must be a number from 0')
    expect(() => retry({ capMs: '5' as unknown as number })).toThrow('capMs must be a number from 0')
  })
})
