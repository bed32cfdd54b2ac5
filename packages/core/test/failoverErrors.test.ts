import { isKeyrailError } from '@keyrail/core'
import type { KeyrailError } from '@keyrail/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { memoryFetch } from './memoryFetch.ts'
import type { FetchReply } from './memoryFetch.ts'
import { echoAll } from './scriptedPost.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions, FullTransport } from './fullTransport.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const keys = ['firstkey-0123456789abcdef', 'secondkey-0123456789abcdef', 'thirdkey-0123456789abcdef'] as const
const hosts = ['https://one.example', 'https://two.example', 'https://three.example'] as const
const shown = hosts.map((host, at) => `${host}/…${(keys[at] as string).slice(-4)}`) as [string, string, string]

const down: FetchReply = { facts: { text: 'fetch failed' } }
const busy: FetchReply = { status: 503, text: 'busy' }
const hang: FetchReply = { never: true }

/** Creates a transport with an endpoint for each reply. */
const make = (replies: (FetchReply | 'normal')[], options: object = {}): FullTransport => {
  const memory = memoryFetch((sent) => {
    const reply = replies[hosts.findIndex((host) => sent.url.startsWith(host))] as FetchReply | 'normal'
    return reply === 'normal' ? echoAll(sent) : reply
  })
  const endpoints = replies.map((_, at) => ({ url: `${hosts[at] as string}/${keys[at] as string}` }))
  return createFullTransport({ endpoints, fetch: memory.fetch, ...options } as unknown as FullOptions)
}

/** Makes a call, and returns its failure once it has one. */
const fail = async (transport: FullTransport, options = {}): Promise<KeyrailError> => {
  let failure: unknown
  transport.request({ method: 'eth_getBalance', params: ['0x1', 'latest'] }, options).then(
    (value) => (failure = { value }),
    (error: unknown) => (failure = error),
  )
  for (let i = 0; i < 400 && failure === undefined; i++) await vi.advanceTimersByTimeAsync(100)
  if (!isKeyrailError(failure)) throw new Error(`it did not fail: ${JSON.stringify(failure)}`)
  for (const key of keys) expect(failure.message).not.toContain(key)
  return failure
}

describe('with every endpoint down', () => {
  test.each([
    ['without retries', { retry: false }],
    ['with retries', {}],
  ])('the first failure and all later ones name every endpoint with its kind of failure, %s', async (_, options) => {
    const transport = make([down, down], options)
    const messages: string[] = []
    for (let i = 0; i < 12; i++) messages.push((await fail(transport)).message)
    for (const message of messages)
      for (const host of ['one', 'two'])
        expect(message).toMatch(new RegExp(`${host}\\.example/…cdef \\((circuit breaker open after )?network\\)`))
    expect(messages[0]).toContain(`2 endpoints were tried: ${shown[0]} (network), ${shown[1]} (network).`)
    // Not always the last one: after its cooldown, a breaker sends one call to its endpoint.
    const later = messages.slice(1).join(' ')
    expect(later).toContain('2 endpoints failed: ')
    expect(later).toContain('(circuit breaker open after network)')
    transport.close()
  })

  test('each is named with its own kind of failure', async () => {
    const transport = make([down, busy, { status: 401, text: 'unknown key' }], { retry: false })
    const first = await fail(transport)
    expect(first).toMatchObject({ kind: expect.any(String) })
    for (let i = 0; i < 10; i++) {
      const { message } = await fail(transport)
      expect(message).toMatch(/one\.example\/…cdef \((circuit breaker open after )?network\)/)
      expect(message).toMatch(/two\.example\/…cdef \((circuit breaker open after )?unavailable\)/)
      expect(message).toMatch(/three\.example\/…cdef \((circuit breaker open after )?auth\)/)
    }
    transport.close()
  })

  test('a call that reaches its deadline names every endpoint, and the failures before', async () => {
    const transport = make([down, hang], { retry: false })
    const { kind, message } = await fail(transport, { timeoutMs: 1_000, retries: 3 })
    expect(kind).toBe('timeout')
    expect(message).toContain(`${shown[0]} (network)`)
    expect(message).toContain(`${shown[1]} (timeout)`)
    transport.close()
  })

  test.each([
    ['retries', {}],
    ['long attempts', { attemptTimeoutMs: 60_000 }],
    ['a coalesced request', { coalesce: true }],
    ['no coalescing', { coalesce: false }],
  ])('endpoints that hang are all named when the deadline passes, with %s', async (_, options) => {
    const transport = make([hang, hang], { timeoutMs: 1_000, ...options })
    const { kind, message } = await fail(transport)
    expect(kind).toBe('timeout')
    expect(message).toContain(shown[0])
    if (!('attemptTimeoutMs' in options)) expect(message).toContain(shown[1])
    transport.close()
  })

  test('the deadline names the endpoint that has not responded yet', async () => {
    const transport = make([down, hang], { timeoutMs: 1_000, attemptTimeoutMs: 60_000 })
    const { message } = await fail(transport)
    expect(message).toContain(
      `no response within 1000 ms. 2 endpoints were tried: ${shown[0]} (network), ${shown[1]} (no response yet).`,
    )
    transport.close()
  })

  test('a single endpoint is named once', async () => {
    const transport = make([hang], { timeoutMs: 1_000 })
    const { message } = await fail(transport)
    expect(message.split('one.example')).toHaveLength(2)
    transport.close()
  })
})

describe('stats of an endpoint whose breaker is open', () => {
  test.each([
    ['is down', down, 5],
    ['responds with 503', busy, 5],
    ['rejects the key', { status: 401, text: 'unknown key' } as FetchReply, 1],
    ['forbids each call', { status: 403, text: 'origin not allowed' } as FetchReply, 5],
  ])('count what opened it, if it %s', async (_, reply, failures) => {
    const transport = make([reply, 'normal'], { retry: false })
    for (let i = 0; i < failures; i++) {
      await vi.advanceTimersByTimeAsync(1)
      const call = transport.request({ method: 'eth_getBalance', params: [`0x${i}`, 'latest'] })
      await vi.advanceTimersByTimeAsync(50)
      await call
    }
    const [first, second] = transport.stats().endpointStates
    expect(first?.health).toMatchObject({ state: 'open', calls: failures, failures, successRate: 0 })
    expect(second?.health).toMatchObject({ state: 'closed', calls: failures, failures: 0, successRate: 1 })
    // Calls older than the window do not count, and without calls there is no rate.
    await vi.advanceTimersByTimeAsync(31_000)
    const later = transport.stats().endpointStates[0]?.health
    expect(later).toMatchObject({ calls: 0, failures: 0, successRate: undefined })
    transport.close()
  })

  test('start over when it closes', async () => {
    const replies: (FetchReply | 'normal')[] = [down, 'normal']
    const transport = make(replies, { retry: false })
    const call = async (param: string): Promise<void> => {
      const made = transport.request({ method: 'eth_getBalance', params: [param, 'latest'] })
      await vi.advanceTimersByTimeAsync(50)
      await made
    }
    for (let i = 0; i < 5; i++) await call(`0x${i}`)
    replies[0] = 'normal'
    await vi.advanceTimersByTimeAsync(5_000)
    await call('0x9')
    expect(transport.stats().endpointStates[0]?.health).toMatchObject({
      state: 'closed',
      calls: 1,
      failures: 0,
      successRate: 1,
    })
    transport.close()
  })

  test('have no rate before the first call', () => {
    const transport = make(['normal', 'normal'])
    expect(transport.stats().endpointStates[0]?.health).toMatchObject({ state: 'closed', calls: 0, failures: 0 })
    expect(transport.stats().endpointStates[0]?.health?.successRate).toBeUndefined()
    transport.close()
  })
})
