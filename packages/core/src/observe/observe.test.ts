import diagnosticsChannel from 'node:diagnostics_channel'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { scriptedEndpoint } from '../../test/scriptedEndpoint.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { Call, Send } from '../transport/call/call.ts'
import { coalesce } from '../transport/coalesce.ts'
import type { Endpoint } from '../transport/endpoint/http.ts'
import type { Transport } from '../transport/transport.ts'
import type { CallEvent } from '../transport/call/callEvent.ts'
import type { Hooks } from './hooks.ts'
import type { ObserveOptions } from '../../test/layers.ts'
import { createStats } from './stats.ts'
import type { TransportEvent } from './transportEvent.ts'
import { compose, deadline, observe } from '../../test/layers.ts'

const redactedUrl = 'https://a.example/…'
const other = 'https://b.example/…'
const secret = 'aSecretThatIsInParamsAndResults'
const args = { method: 'eth_call', params: [secret] }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** An endpoint that reports events and then completes the call. */
const createEndpoint = (
  events: readonly CallEvent[],
  end: { result?: unknown; failure?: unknown } = { result: secret },
): Endpoint => ({
  redactedUrl,
  close: () => {},
  send: (call: Call, complete) => {
    for (const event of events) call.emit?.(event)
    if ('result' in end) complete(true, end.result)
    else complete(false, end.failure)
  },
})

/** Hooks that record all events they receive. */
const recordHooks = (): { received: TransportEvent[]; hooks: Required<Hooks> } => {
  const received: TransportEvent[] = []
  const record = (event: TransportEvent): void => void received.push(event)
  return {
    received,
    hooks: {
      onRequest: record,
      onAttempt: record,
      onRetry: record,
      onReroute: record,
      onResponse: record,
      onFailure: record,
    },
  }
}

const observed = (endpoint: Endpoint, options: ObserveOptions): Transport => compose(endpoint, observe(options))

/** Subscribes to channels. Returns a function that unsubscribes. */
const subscribe = (types: readonly TransportEvent['type'][], received: unknown[]): (() => void) => {
  const record = (event: unknown): void => void received.push(event)
  for (const type of types) diagnosticsChannel.subscribe(`keyrail:${type}`, record)
  return () => {
    for (const type of types) diagnosticsChannel.unsubscribe(`keyrail:${type}`, record)
  }
}

const failure = createFailure(
  { text: secret, status: 429, rpcError: { code: -32005, message: secret, data: secret } },
  { method: 'eth_call', redactedUrl: other },
)

describe('observe', () => {
  test('passes calls through unchanged if nothing listens', async () => {
    let seen: Call | undefined
    const endpoint = createEndpoint([])
    const send: Send = (call, complete) => {
      seen = call
      endpoint.send(call, complete)
    }
    expect(await observed({ ...endpoint, send }, {}).request(args)).toBe(secret)
    expect(seen?.emit).toBe(undefined)
  })

  test('counts calls that are in flight, succeeded, failed and aborted', async () => {
    const stats = createStats()
    const endpoint = scriptedEndpoint((_, i) => (i === 1 ? { facts: { text: '', kind: 'network' } } : { result: 1 }))
    const transport = observed(endpoint, { stats })
    const controller = new AbortController()
    const calls = Promise.allSettled(
      [0, 1, 2].map((i) => transport.request(args, i === 2 ? { signal: controller.signal } : {})),
    )
    expect(stats.snapshot()).toMatchObject({ calls: 3, inFlight: 3 })
    const reason = new Error('mine')
    controller.abort(reason)
    await vi.runAllTimersAsync()
    expect(await calls).toMatchObject([{ value: 1 }, { reason: { kind: 'network' } }, { reason }])
    expect(stats.snapshot()).toMatchObject({
      calls: 3,
      inFlight: 0,
      answered: 1,
      failed: 2,
      failedByKind: { network: 1, aborted: 1 },
    })
  })

  test('counts an error that is not a KeyrailError as unknown', async () => {
    const stats = createStats()
    await expect(
      observed(createEndpoint([], { failure: new TypeError('x') }), { stats }).request(args),
    ).rejects.toThrow('x')
    expect(stats.snapshot().failedByKind).toEqual({ unknown: 1 })
  })

  test('measures from the start of the call to its end', async () => {
    const stats = createStats()
    const { received, hooks } = recordHooks()
    const transport = observed(
      scriptedEndpoint(() => ({ result: 1, afterMs: 120 })),
      { stats, hooks },
    )
    const call = transport.request(args)
    await vi.advanceTimersByTimeAsync(120)
    await call
    expect(stats.snapshot().latency).toMatchObject({ count: 1, sumMs: 120 })
    expect(received.at(-1)).toMatchObject({ type: 'response', durationMs: 120 })
  })

  test('reports a successful call to hooks in order, without params or result', async () => {
    const { received, hooks } = recordHooks()
    const events: CallEvent[] = [
      { type: 'attempt', redactedUrl, batchSize: 1 },
      { type: 'attempted', redactedUrl, durationMs: 2, kind: 'unavailable' },
      { type: 'rerouted', redactedUrl, kind: 'unavailable' },
      { type: 'queued', redactedUrl: other, waitMs: 30 },
      { type: 'attempt', redactedUrl: other, batchSize: 5 },
      { type: 'attempted', redactedUrl: other, durationMs: 3, kind: 'throttled' },
      { type: 'retry', kind: 'throttled', waitMs: 40 },
      { type: 'queued', redactedUrl: other, waitMs: 10 },
      { type: 'attempt', redactedUrl: other, batchSize: 1 },
      { type: 'attempted', redactedUrl: other, durationMs: 4 },
    ]
    await observed(createEndpoint(events), { hooks }).request(args)
    const call = { id: 1, method: 'eth_call' }
    expect(received).toEqual([
      { ...call, type: 'request', redactedUrl },
      { ...call, type: 'attempt', redactedUrl, attempt: 1, batchSize: 1, durationMs: 2, kind: 'unavailable' },
      { ...call, type: 'reroute', redactedUrl, attempt: 1, kind: 'unavailable' },
      { ...call, type: 'attempt', redactedUrl: other, attempt: 2, batchSize: 5, durationMs: 3, kind: 'throttled' },
      { ...call, type: 'retry', redactedUrl, attempt: 2, kind: 'throttled', waitMs: 40 },
      { ...call, type: 'attempt', redactedUrl: other, attempt: 3, batchSize: 1, durationMs: 4, kind: undefined },
      {
        ...call,
        type: 'response',
        redactedUrl: other,
        durationMs: expect.any(Number),
        attempts: 3,
        queuedMs: 40,
        joined: false,
        hedged: false,
        cached: false,
      },
    ])
    expect(JSON.stringify(received)).not.toContain(secret)
  })

  test('reports a failed call to hooks, without the error message of the node', async () => {
    const { received, hooks } = recordHooks()
    await expect(observed(createEndpoint([], { failure }), { hooks }).request(args)).rejects.toBe(failure)
    expect(received.map(({ type }) => type)).toEqual(['request', 'failure'])
    expect(received[1]).toMatchObject({
      redactedUrl: other,
      kind: 'throttled',
      source: 'service',
      status: 429,
      code: -32005,
    })
    expect(JSON.stringify(received)).not.toContain(secret)
  })

  test('reports the batch size of the right request for the attempts of a hedged call', async () => {
    const { received, hooks } = recordHooks()
    const events: CallEvent[] = [
      { type: 'attempt', redactedUrl, batchSize: 8 },
      { type: 'hedged', redactedUrl: other },
      { type: 'attempt', redactedUrl: other, batchSize: 1 },
      { type: 'attempted', redactedUrl, durationMs: 9 },
    ]
    await observed(createEndpoint(events), { hooks }).request(args)
    expect(received[1]).toMatchObject({ type: 'attempt', redactedUrl, attempt: 1, batchSize: 8 })
    expect(received[2]).toMatchObject({ type: 'response', redactedUrl, attempts: 2, hedged: true })
  })

  test('reports which calls shared a request or were cached', async () => {
    const { received, hooks } = recordHooks()
    const shared = compose(scriptedEndpoint(), coalesce(), observe({ hooks }))
    const calls = [shared.request(args), shared.request(args)]
    await vi.runAllTimersAsync()
    await Promise.all(calls)
    await observed(createEndpoint([{ type: 'cached' }]), { hooks }).request(args)
    expect(
      received.flatMap((event) => (event.type === 'response' ? [[event.id, event.joined, event.cached]] : [])),
    ).toEqual([
      [1, false, false],
      [2, true, false],
      [1, false, true],
    ])
  })

  test('reports the end of a call once, and nothing after it', async () => {
    const { received, hooks } = recordHooks()
    let late: Call['emit']
    const endpoint = scriptedEndpoint(() => ({ never: true }))
    const send: Send = (call: Call, complete) => {
      late = call.emit
      endpoint.send(call, complete)
    }
    const stats = createStats()
    const transport = compose({ ...endpoint, send }, deadline({ timeoutMs: 50 }), observe({ hooks, stats }))
    const call = transport.request(args).catch(() => {})
    await vi.runAllTimersAsync()
    await call
    late?.({ type: 'attempted', redactedUrl, durationMs: 1, kind: 'aborted' })
    await vi.runAllTimersAsync()
    expect(received).toMatchObject([{ type: 'request' }, { type: 'failure', kind: 'timeout', durationMs: 50 }])
    expect(stats.snapshot().endpoints[redactedUrl]?.failed).toBe(1)
  })

  test('gives each listener its own copy of an event', async () => {
    const published: unknown[] = []
    const unsubscribe = subscribe(['request', 'response'], published)
    const change = (event: { method: string }): void => {
      event.method = 'changed'
    }
    const hooks = { onRequest: change, onResponse: change } as Hooks
    await observed(createEndpoint([]), { hooks }).request(args)
    unsubscribe()
    expect(published).toMatchObject([
      { type: 'request', method: 'eth_call' },
      { type: 'response', method: 'eth_call' },
    ])
  })

  test('removes the listeners from the record of a completed call', async () => {
    const { hooks } = recordHooks()
    let seen: Call | undefined
    const endpoint = createEndpoint([])
    const send: Send = (call, complete) => {
      seen = call
      expect(seen.emit).toBeTypeOf('function')
      endpoint.send(call, complete)
    }
    for (const options of [{ hooks }, { stats: createStats() }]) {
      await observed({ ...endpoint, send }, options).request(args)
      expect(seen?.emit).toBe(undefined)
    }
  })
})

describe('sources of stats', () => {
  test('are rejected by name if they are not functions', () => {
    const sources = { cache: {} } as unknown as Parameters<typeof createStats>[0]
    expect(() => createStats(sources)).toThrow('stats: the source "cache" must be a function, not an object')
  })
})

describe('hooks', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('of the hook')
      },
    ],
    ['rejects', () => Promise.reject(new Error('of the hook'))],
    ['never ends', () => new Promise<void>(() => {})],
  ])('a hook that %s does not affect the call', async (how, hook) => {
    const stats = createStats()
    const hooks: Hooks = { onRequest: hook, onAttempt: hook, onRetry: hook, onReroute: hook, onResponse: hook }
    const events: CallEvent[] = [
      { type: 'attempted', redactedUrl, durationMs: 1 },
      { type: 'retry', kind: 'network', waitMs: 1 },
      { type: 'rerouted', redactedUrl, kind: 'network' },
    ]
    expect(await observed(createEndpoint(events), { hooks, stats }).request(args)).toBe(secret)
    await vi.runAllTimersAsync()
    expect(stats.snapshot()).toMatchObject({ answered: 1, hookErrors: how === 'never ends' ? 0 : 5 })
  })

  test('a hook can abort the call or close the transport', async () => {
    for (const end of ['abort', 'close'] as const) {
      const controller = new AbortController()
      const endpoint = scriptedEndpoint(() => ({ never: true }))
      const onRequest = (): void => (end === 'abort' ? controller.abort('enough') : transport.close())
      const transport = compose(endpoint, deadline(), observe({ hooks: { onRequest } }))
      const ended = await transport.request(args, { signal: controller.signal }).catch((error: unknown) => error)
      if (end === 'abort') expect(ended).toBe('enough')
      else expect(ended).toMatchObject({ kind: 'aborted' })
      expect(endpoint.arrivals[0]?.cancelled).toBeDefined()
    }
  })

  test('are called before the caller continues', async () => {
    const { received, hooks } = recordHooks()
    await observed(createEndpoint([]), { hooks }).request(args)
    expect(received.at(-1)?.type).toBe('response')
  })

  test('do not change if the object with them is changed later', async () => {
    const { received, hooks } = recordHooks()
    const given: { -readonly [K in keyof Hooks]: Hooks[K] } = { ...hooks }
    const transport = observed(createEndpoint([]), { hooks: given })
    delete given.onResponse
    await transport.request(args)
    expect(received.map(({ type }) => type)).toEqual(['request', 'response'])
  })

  test('are rejected by name if they are unknown or not functions', () => {
    const getError = (hooks: unknown): unknown => {
      try {
        return observe({ hooks: hooks as Hooks })
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(getError({ onEror: () => {} })).toBe(
      'Unknown option "onEror". The options of hooks are onRequest, onAttempt, onRetry, onReroute, onResponse, onFailure.',
    )
    expect(getError('all')).toBe('hooks takes an object of options, not a string')
    expect(getError({ onFailure: 'console.log' })).toBe('hooks.onFailure must be a function, not a string')
    expect(getError({ onFailure: undefined })).toBeTypeOf('function')
  })
})

describe('diagnostics channels', () => {
  const events: CallEvent[] = [
    { type: 'attempt', redactedUrl, batchSize: 1 },
    { type: 'attempted', redactedUrl, durationMs: 2, kind: 'network' },
    { type: 'rerouted', redactedUrl, kind: 'network' },
    { type: 'retry', kind: 'network', waitMs: 40 },
  ]

  test('publish the same events as hooks receive', async () => {
    const published: unknown[] = []
    const unsubscribe = subscribe(['request', 'attempt', 'retry', 'reroute', 'response', 'failure'], published)
    const { received, hooks } = recordHooks()
    await observed(createEndpoint(events), { hooks }).request(args)
    await observed(createEndpoint([], { failure }), { hooks })
      .request(args)
      .catch(() => {})
    unsubscribe()
    expect(received.map(({ type }) => type)).toEqual([
      'request',
      'attempt',
      'reroute',
      'retry',
      'response',
      'request',
      'failure',
    ])
    expect(published).toEqual(received)
    expect(JSON.stringify(published)).not.toContain(secret)
  })

  test('publish only events with subscribers, from the next call on', async () => {
    const published: TransportEvent[] = []
    const transport = observed(createEndpoint(events), {})
    await transport.request(args)
    const unsubscribe = subscribe(['retry'], published)
    await transport.request(args)
    unsubscribe()
    await transport.request(args)
    expect(published.map(({ type }) => type)).toEqual(['retry'])
  })

  test('are optional on platforms without them', async () => {
    for (const process of [undefined, {}, { getBuiltinModule: () => undefined }]) {
      vi.stubGlobal('process', process)
      const layer = observe()
      vi.unstubAllGlobals()
      expect(await compose(createEndpoint(events), layer).request(args)).toBe(secret)
    }
  })
})
