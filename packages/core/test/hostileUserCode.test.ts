import { layer } from '@keyrail/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions, FullTransport } from './fullTransport.ts'

// User code (a fetch, a key function, a store, a tracer, a layer) can do anything, even abort calls while a layer runs. It must fail at most its
// own call. An uncaught error or rejection would end the process, and it fails this test run.

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

interface RpcCall {
  readonly id: number
  readonly params: unknown[]
}

const response = (init: RequestInit | undefined, status = 200): Response => {
  const body = JSON.parse(init?.body as string) as RpcCall | RpcCall[]
  const reply = ({ id, params }: RpcCall): object => ({ jsonrpc: '2.0', id, result: params })
  const text = JSON.stringify(Array.isArray(body) ? body.map(reply) : reply(body))
  return { status, headers: new Headers(), text: async () => text } as unknown as Response
}
const make = (fetch: unknown, options: Partial<FullOptions> = {}): FullTransport =>
  createFullTransport({ url: 'https://node.example', fetch, coalesce: false, ...options } as FullOptions)
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** Advances the fake time until all calls have ended. Returns their results and errors. */
const getEnds = async (...calls: Promise<unknown>[]): Promise<unknown[]> => {
  const ends = Promise.allSettled(calls)
  await vi.advanceTimersByTimeAsync(120_000)
  return (await ends).map((end) => (end.status === 'fulfilled' ? end.value : (end.reason as unknown)))
}
const expectNothingLeft = (transport: FullTransport): void => {
  expect(transport.stats().inFlight).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
}

describe('a malformed response fails the call, and not the process', () => {
  const head = { status: 429, headers: new Headers(), text: async () => '' }
  const responses: Record<string, unknown> = {
    'a header that is a number': { ...head, headers: new Map([['retry-after', 1]]) },
    'no headers': { ...head, headers: undefined },
    'headers that throw': {
      ...head,
      headers: {
        get: () => {
          throw new Error('mine')
        },
      },
    },
    'no status': { ...head, status: undefined },
    'a status that is a symbol': { ...head, status: Symbol('mine') },
    'a status that is an object': { ...head, status: { valueOf: () => ({}), toString: () => ({}) } },
    'a text that is not a string': { ...head, text: async () => Symbol('mine') },
    'a body that ends without an end': { ...head, body: { getReader: () => ({ read: async () => undefined }) } },
    nothing: undefined,
  }
  test.each(Object.keys(responses))('%s, alone and in a batch', async (name) => {
    const transport = make(async () => responses[name], { retry: false })
    const [alone, together] = await getEnds(
      transport.request({ method: 'eth_chainId' }),
      transport.batch([{ method: 'eth_chainId' }, { method: 'eth_gasPrice' }]),
    )
    for (const failure of [alone, ...(together as PromiseRejectedResult[]).map(({ reason }) => reason as unknown)]) {
      expect(failure).toMatchObject({ name: 'KeyrailError' })
      expect(failure).not.toMatchObject({ kind: 'timeout' })
    }
    expectNothingLeft(transport)
  })

  const rejections: Record<string, unknown> = {
    'an error whose message throws': Object.defineProperty({}, 'message', {
      get: () => {
        throw new Error('mine')
      },
    }),
    'a proxy that was revoked': (() => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      return proxy
    })(),
    nothing: undefined,
  }
  test.each(Object.keys(rejections))('a fetch that rejects with %s', async (name) => {
    const transport = make(() => Promise.reject(rejections[name] as Error), { retry: false })
    const [failure] = await getEnds(transport.request({ method: 'eth_chainId' }))
    expect(failure).toMatchObject({ kind: 'network' })
    expectNothingLeft(transport)
  })
})

describe('user code that ends its call during the call ends it once, immediately, and nothing else', () => {
  test('a fetch, at the first attempt of a write', async () => {
    const controller = new AbortController()
    const transport = make(async (_: unknown, init?: RequestInit) => {
      controller.abort('mine')
      return response(init)
    })
    const call = transport.request({ method: 'eth_sendTransaction' }, { signal: controller.signal })
    expect(await getEnds(call)).toEqual(['mine'])
    expectNothingLeft(transport)
  })

  test('a fetch, at the second attempt', async () => {
    const controller = new AbortController()
    let attempts = 0
    const transport = make(async (_: unknown, init?: RequestInit) => {
      if (++attempts === 2) controller.abort('mine')
      return response(init, attempts === 1 ? 503 : 200)
    })
    const call = transport.request({ method: 'eth_chainId' }, { signal: controller.signal })
    expect(await getEnds(call)).toEqual(['mine'])
    expectNothingLeft(transport)
  })

  test('a fetch, of a batch that had waited for a free slot', async () => {
    const controller = new AbortController()
    let requests = 0
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      if (++requests === 2) controller.abort('mine')
      await wait(5)
      return response(init)
    }
    const transport = make(fetch, { batch: true, maxInFlight: 1 })
    const first = transport.request({ method: 'eth_chainId' })
    await vi.advanceTimersByTimeAsync(1)
    const { signal } = controller
    const ended = ['eth_gasPrice', 'eth_blockNumber'].map((method) => transport.request({ method }, { signal }))
    expect(await getEnds(first, ...ended)).toEqual([[], 'mine', 'mine'])
    expect(await getEnds(transport.request({ method: 'net_version' }))).toEqual([[]])
    expectNothingLeft(transport)
  })

  test.each(['apiKey', 'jwt'] as const)(
    'a function for %s that closes the transport: nothing is sent',
    async (name) => {
      let keyReads = 0
      let sent = 0
      const secret = (): string => {
        if (++keyReads === 2) transport.close()
        return 'notARealKey'
      }
      const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
        sent++
        return response(init, 503)
      }
      const address = { baseUrl: 'https://node.example', apiKey: 'notARealKey', [name]: secret }
      const transport = createFullTransport({ ...address, fetch, coalesce: false } as FullOptions)
      expect(await getEnds(transport.request({ method: 'eth_chainId' }))).toMatchObject([{ kind: 'aborted' }])
      expect([keyReads, sent]).toEqual([2, 1])
      expectNothingLeft(transport)
    },
  )

  test('a store that returns synchronously', async () => {
    const controller = new AbortController()
    let sent = 0
    const store = {
      get: () => {
        controller.abort('mine')
        return undefined
      },
      set: () => {},
    }
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      sent++
      return response(init)
    }
    const transport = make(fetch, { chainId: 1, cache: { store } })
    const args = { method: 'eth_getBlockByHash', params: [`0x${'ab'.repeat(32)}`, false] }
    expect(await getEnds(transport.request(args, { signal: controller.signal }))).toEqual(['mine'])
    expect(sent).toBe(0)
    expectNothingLeft(transport)
  })

  test.each(['addEvent', 'setAttributes', 'setStatus', 'end'])('a span, in %s', async (when) => {
    const controller = new AbortController()
    const span = { addEvent: () => {}, setAttributes: () => {}, setStatus: () => {}, end: () => {} }
    const context = { setValue: () => context }
    const api = {
      trace: { getTracer: () => ({ startSpan: () => ({ ...span, [when]: abort }) }), setSpan: () => context },
      context: { active: () => context, with: (_: unknown, run: () => void) => run() },
    }
    const abort = (): void => controller.abort('mine')
    const transport = make(async (_: unknown, init?: RequestInit) => response(init), { tracing: { api } } as object)
    await getEnds(transport.request({ method: 'eth_chainId' }, { signal: controller.signal }))
    expect(transport.stats()).toMatchObject({ calls: 1, answered: 1, failed: 0 })
    expectNothingLeft(transport)
  })
})

test('a tracer that cannot create its context fails the span, and not the call', async () => {
  const setSpan = (): never => {
    throw new Error('mine')
  }
  const span = { addEvent: () => {}, setAttributes: () => {}, setStatus: () => {}, end: () => {} }
  const api = {
    trace: { getTracer: () => ({ startSpan: () => span }), setSpan },
    context: { active: () => ({}), with: (_: unknown, run: () => void) => run() },
  }
  const transport = make(async (_: unknown, init?: RequestInit) => response(init), { tracing: { api } } as object)
  expect(await getEnds(transport.request({ method: 'eth_chainId' }))).toEqual([[]])
  expect(transport.stats()).toMatchObject({ answered: 1, hookErrors: 1 })
})

describe('a custom layer', () => {
  const racing = layer(
    (request) => (args, options) => Promise.race([request(args, options), wait(5).then(() => 'in its place')]),
  )

  test('that resolves before the request leaves no request open', async () => {
    const signals: (AbortSignal | null | undefined)[] = []
    const fetch = (_: unknown, init?: RequestInit): Promise<never> => {
      signals.push(init?.signal)
      return new Promise(() => {})
    }
    const transport = make(fetch, { layers: [racing], maxInFlight: 1 })
    for (let i = 0; i < 3; i++)
      expect(await getEnds(transport.request({ method: 'eth_chainId' }))).toEqual(['in its place'])
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true, true])
    expectNothingLeft(transport)
  })
})

test('timed out calls with different timeouts leave nothing behind', async () => {
  const transport = make(() => new Promise(() => {}), { retry: false })
  const sizes = vi.spyOn(Map.prototype, 'set')
  const calls = Array.from({ length: 300 }, (_, at) =>
    transport.request({ method: 'eth_chainId' }, { timeoutMs: 100 + at }),
  )
  const ends = await getEnds(...calls)
  const clocks = sizes.mock.contexts.find((map) => sizes.mock.calls[sizes.mock.contexts.indexOf(map)]?.[0] === 100)
  sizes.mockRestore()
  expect(ends.every((end) => (end as { kind: string }).kind === 'timeout')).toBe(true)
  expect((clocks as Map<unknown, unknown>).size).toBeLessThanOrEqual(8)
  expectNothingLeft(transport)
})

describe('an invalid call fails like any other call', () => {
  test('in a closed group', async () => {
    const group = make(fetch).group()
    group.close()
    const call = group.request(null as never)
    await expect(call).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('an empty slot in the array of a batch', async () => {
    const transport = make(async (_: unknown, init?: RequestInit) => response(init))
    const calls: object[] = []
    calls[1] = { method: 'eth_chainId' }
    const [ends] = await getEnds(transport.batch(calls as never))
    expect(ends).toMatchObject([{ reason: { kind: 'invalidRequest' } }, { value: [] }])
  })
})
