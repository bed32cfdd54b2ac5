import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../../clock/now.ts'
import { scriptedEndpoint, sendDown } from '../../../test/scriptedEndpoint.ts'
import type { Outcome, ScriptedEndpoint, Sent } from '../../../test/scriptedEndpoint.ts'
import type { FailureFacts } from '../../failure/failureFacts.ts'
import { breaker } from '../breaker.ts'
import type { BreakerOptions } from '../breaker.ts'
import { budget } from '../budget.ts'
import { endWait, startWait, timeLeft } from '../call/callProgress.ts'
import { retry } from '../retry.ts'
import { failover } from '../failover.ts'
import { checkRouteOptions, route } from './route.ts'
import type { RouteEndpoint, RouteOptions } from './routeOptions.ts'
import type { RouteCall } from '../call/call.ts'
import { compose, deadline } from '../../../test/layers.ts'

const redactedUrl = (at: number): string => `https://node-${at}.example/…`
const ok = (result: unknown, afterMs = 1): Outcome => ({ result, afterMs })
const fails = (facts: FailureFacts, afterMs = 1): Outcome => ({ facts, afterMs })
const down = fails({ text: 'Bad Gateway', status: 502 })
const reset = fails({ kind: 'network', text: 'socket hang up' })
const notConnected = fails({ kind: 'network', text: 'connect ECONNREFUSED', unsent: true })
const throttled = fails({ text: 'slow down', status: 429, retryAfter: '5' })
const reverted = fails({
  text: 'execution reverted',
  status: 200,
  rpcError: { code: 3, message: 'execution reverted' },
})
const otherChain = fails({ kind: 'wrongNetwork', text: 'the node is on chain 5, and chainId says 1' })
const never: Outcome = { never: true }

type Script = ScriptedEndpoint['script'] | Outcome

/** Scripted endpoints, and a route over them. */
const make = (
  scripts: readonly Script[],
  options: RouteOptions = {},
  wrap?: (e: ScriptedEndpoint, at: number) => RouteEndpoint,
) => {
  const nodes = scripts.map((script, at) =>
    scriptedEndpoint(typeof script === 'function' ? script : () => script, redactedUrl(at)),
  )
  const routed = route(wrap ? nodes.map(wrap) : nodes, options)
  const send = (method?: string, fields?: Partial<RouteCall>): Sent =>
    sendDown(routed.send, method, { deadlineAt: now() + 9_000, ...fields })
  return { nodes, routed, send, counts: () => nodes.map(({ arrivals }) => arrivals.length) }
}
const guarded =
  (options?: BreakerOptions) =>
  (node: ScriptedEndpoint): RouteEndpoint =>
    budget()(breaker(options)(node))
const complete = async (sent: Sent): Promise<Sent> => {
  while (sent.completions === 0) await vi.advanceTimersByTimeAsync(1)
  return sent
}

beforeEach(() => void vi.useFakeTimers())
afterEach(async () => {
  // Attempts that are still in flight then hang, and have no timer.
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('a route in order', () => {
  test('uses the first endpoint as long as it responds', async () => {
    const { send, counts } = make([ok('0x1'), ok('0x2')])
    for (let i = 0; i < 3; i++) expect((await complete(send())).value).toBe('0x1')
    expect(counts()).toEqual([3, 0])
  })

  test.each([
    ['a broken connection', reset],
    ['a bad gateway', down],
    ['throttling', throttled],
    ['a used-up quota', fails({ text: 'Payment Required', status: 402 })],
    ['a rejected key', fails({ text: 'Unauthorized', status: 401 })],
    ['an invalid response', fails({ kind: 'badResponse', text: '<html>' })],
    ['a method it has not', fails({ text: 'x', rpcError: { code: -32601, message: 'x' } })],
    [
      'state it has not',
      fails({ text: 'missing trie node', rpcError: { code: -32000, message: 'missing trie node' } }),
    ],
    ['a lagging node', fails({ text: 'header not found', rpcError: { code: -32000, message: 'header not found' } })],
    ['another chain', otherChain],
  ])('tries the next one at once after %s', async (_, outcome) => {
    const { send, counts } = make([outcome, ok('0x2')])
    const sent = await complete(send())
    expect(sent.value).toBe('0x2')
    expect(sent.events).toEqual([{ type: 'rerouted', redactedUrl: redactedUrl(0), kind: expect.any(String) }])
    expect(counts()).toEqual([1, 1])
  })

  test('does not try another endpoint if its response would be the same', async () => {
    const { send, counts } = make([reverted, ok('0x2')])
    expect((await complete(send('eth_call'))).value).toMatchObject({ kind: 'revert', redactedUrl: redactedUrl(0) })
    expect(counts()).toEqual([1, 0])
  })

  test('tries each once, and lists all if all failed', async () => {
    const { send, counts } = make([reset, throttled, down])
    const { value, completions } = await complete(send())
    expect(value).toMatchObject({
      kind: 'throttled',
      retryable: true,
      redactedUrl: redactedUrl(1),
      retryAfterMs: undefined,
    })
    expect(String(value)).toContain(
      `3 endpoints were tried: ${redactedUrl(0)} (network), ${redactedUrl(1)} (throttled), ${redactedUrl(2)} (unavailable).`,
    )
    expect(completions).toBe(1)
    expect(counts()).toEqual([1, 1, 1])
  })

  test('starts with the first endpoint again in each try of the retry layer above', async () => {
    const { nodes, routed } = make([(_, n) => (n < 2 ? reset : ok('0x1')), reset])
    const transport = compose(routed, retry({ baseMs: 10 }), deadline())
    const outcome = transport.request({ method: 'eth_chainId' })
    await vi.runAllTimersAsync()
    expect(await outcome).toBe('0x1')
    expect(nodes.map(({ arrivals }) => arrivals.length)).toEqual([3, 2])
    transport.close()
    expect(nodes.every(({ closed }) => closed)).toBe(true)
  })

  test('skips an endpoint that is down, and returns to it when it works', async () => {
    let works = false
    const { send, counts } = make([() => (works ? ok('0x1') : down), ok('0x2')], {}, guarded())
    for (let i = 0; i < 10; i++) expect((await complete(send())).value).toBe('0x2')
    expect(counts()).toEqual([5, 10])
    works = true
    await vi.advanceTimersByTimeAsync(5_000)
    expect((await complete(send())).value).toBe('0x1')
    expect((await complete(send())).value).toBe('0x1')
  })

  test('uses the first endpoint if all are down', async () => {
    let works = false
    const { send, routed, nodes, counts } = make([() => (works ? ok('0x1') : down), down], {}, guarded())
    for (let i = 0; i < 6; i++) await complete(send())
    expect(routed.stats().map(({ health }) => health?.state)).toEqual(['open', 'open'])
    works = true
    expect((await complete(send('eth_sendRawTransaction'))).value).toBe('0x1')
    expect(routed.stats()[0]?.health?.state).toBe('closed')
    // A method that one endpoint lacks is not sent to endpoints that are down.
    nodes[0]!.script = () => fails({ text: 'x', rpcError: { code: -32601, message: 'x' } })
    const [, before] = counts()
    expect((await complete(send())).value).toMatchObject({ kind: 'methodUnavailable' })
    expect(counts()[1]).toBe(before)
  })

  test('skips an endpoint whose budget is used up, unless the others have even less room', async () => {
    const { nodes, send } = make([ok('0x1'), ok('0x2')], {}, (node, at) =>
      budget({ requestsPerSecond: at === 0 ? 5 : 2 })(node),
    )
    const sent = Array.from({ length: 4 }, () => send())
    await vi.runAllTimersAsync()
    // The third call waits 200 ms at the first endpoint rather than 500 ms at the second.
    expect(sent.map(({ value }) => value)).toEqual(['0x1', '0x2', '0x1', '0x1'])
    expect(nodes[0]?.arrivals).toHaveLength(3)
  })

  test('a key that one endpoint rejects does not affect another endpoint', async () => {
    const { send, counts, routed } = make([fails({ text: 'Unauthorized', status: 401 }), ok('0x2')], {}, guarded())
    for (let i = 0; i < 5; i++) expect((await complete(send())).value).toBe('0x2')
    expect(counts()).toEqual([1, 5])
    expect(routed.stats().map(({ health }) => health?.state)).toEqual(['open', 'closed'])
  })
})

describe('a route by weight', () => {
  test('gives each endpoint its exact share, evenly spread', async () => {
    const { nodes, send } = make([ok(1), ok(2), ok(3)], {}, (node, at) => ({ ...node, weight: [5, 1, 0][at] }))
    const order: unknown[] = []
    for (let i = 0; i < 12; i++) order.push((await complete(send())).value)
    expect(nodes.map(({ arrivals }) => arrivals.length)).toEqual([10, 2, 0])
    expect(order.slice(0, 6)).toContain(2)
    expect(order.slice(6)).toContain(2)
  })

  test('uses an endpoint of weight 0 only if the others fail', async () => {
    const { send } = make([down, ok('0x2')], {}, (node, at) => ({ ...node, weight: 1 - at }))
    expect((await complete(send())).value).toBe('0x2')
  })

  test('tries the others if one fails', async () => {
    const { send, counts } = make([ok(1), down], {}, (node) => ({ ...node, weight: 1 }))
    for (let i = 0; i < 10; i++) expect((await complete(send())).value).toBe(1)
    expect(counts()).toEqual([10, 5])
  })
})

describe('a route by latency', () => {
  const measured = (node: ScriptedEndpoint): RouteEndpoint => breaker()(node)
  const sendMany = async (send: () => Sent, count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await complete(send())
  }

  test('measures a slower endpoint again from time to time, and returns to one that has become the fastest', async () => {
    let slowMs = 60
    const { send, counts } = make([ok(1, 20), () => ok(2, slowMs)], { order: 'latency' }, measured)
    await sendMany(send, 2)
    expect(counts()).toEqual([1, 1])
    // 60 ms fade to less than 20 ms after 110 calls.
    await sendMany(send, 109)
    expect(counts()).toEqual([110, 1])
    await sendMany(send, 2)
    expect(counts()).toEqual([111, 2])
    slowMs = 2
    await sendMany(send, 2_000)
    const [first = 0, second = 0] = counts()
    expect(first).toBeLessThan(800)
    await sendMany(send, 100)
    expect(counts()).toEqual([first, second + 100])
  })

  test('sends only one call at a time to an endpoint that it does not know, and hundred more go elsewhere', async () => {
    const { nodes, send, counts } = make([ok(1, 20), never], { order: 'latency', attemptTimeoutMs: 500 }, measured)
    await complete(send())
    const sent = Array.from({ length: 101 }, () => send())
    expect(nodes[1]?.arrivals).toHaveLength(1)
    send()
    expect(nodes[1]?.arrivals).toHaveLength(2)
    await vi.runAllTimersAsync()
    expect(sent.every(({ value }) => value === 1)).toBe(true)
    expect(counts()[1]).toBe(2)
  })

  test('keeps the calls of a group at one endpoint, which is the fastest known one', async () => {
    const { send, counts } = make([ok(1, 60), ok(2, 20)], { order: 'latency' }, measured)
    const group = {}
    await sendMany(() => send('eth_call', { group }), 5)
    expect(counts()).toEqual([5, 0])
    await sendMany(send, 2)
    await sendMany(() => send('eth_call', { group: {} }), 1)
    expect(counts()).toEqual([5, 3])
  })

  test('skips an endpoint whose circuit breaker is open', async () => {
    let works = true
    const { send } = make([ok(1, 60), () => (works ? ok(2, 20) : down)], { order: 'latency' }, guarded({ failures: 1 }))
    await sendMany(send, 3)
    works = false
    expect((await complete(send())).value).toBe(1)
    expect((await complete(send())).events).toEqual([])
  })
})

describe('a transaction', () => {
  test('moves on if it cannot have arrived, and not if it may have', async () => {
    const moved = make([notConnected, ok('0xhash')])
    expect((await complete(moved.send('eth_sendRawTransaction'))).value).toBe('0xhash')
    const stays = make([reset, ok('0xhash')])
    expect((await complete(stays.send('eth_sendRawTransaction'))).value).toMatchObject({
      kind: 'network',
      retryable: false,
    })
    expect(stays.counts()).toEqual([1, 0])
  })

  test('has no time limit per attempt, and no second endpoint is tried during it', async () => {
    const { send, counts } = make([never, ok('0xhash')], { attemptTimeoutMs: 100, hedge: { minMs: 1 } })
    const sent = send('eth_sendRawTransaction')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(sent.completions).toBe(0)
    expect(counts()).toEqual([1, 0])
    sent.end('enough')
  })

  test('is never sent twice unless the first cannot have arrived', async () => {
    const ways: readonly (readonly [Outcome, boolean])[] = [
      [ok('0xhash'), true],
      [notConnected, false],
      [throttled, false],
      [fails({ text: 'Unauthorized', status: 401 }), false],
      [fails({ text: 'Payment Required', status: 402 }), false],
      [fails({ text: 'x', rpcError: { code: -32601, message: 'x' } }), false],
      [fails({ text: 'x', status: 503, rpcError: { code: -1, message: 'x', data: { reason: 'draining' } } }), false],
      [reset, true],
      [down, true],
      [otherChain, true],
      [fails({ kind: 'badResponse', text: '<html>' }), true],
      [fails({ text: 'gateway timeout', status: 504 }), true],
      [fails({ text: 'nonce too low', rpcError: { code: -32000, message: 'nonce too low' } }), true],
      [never, true],
    ]
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(ways.length - 1), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
        fc.record({
          attemptTimeoutMs: fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: undefined }),
          hedge: fc.boolean(),
          minBlock: fc.boolean(),
        }),
        fc.boolean(),
        async (plans, options, groups) => {
          let arrived = 0
          const { routed } = make(
            plans.map((plan): Script => (call, n) => {
              const [outcome, arrives] = ways[plan[n % plan.length] as number] as (typeof ways)[number]
              if (call.method === 'eth_sendRawTransaction' && arrives) arrived++
              return outcome
            }),
            options,
            guarded(),
          )
          const below = routed.send
          const group = groups ? {} : undefined
          const transport = compose(
            { ...routed, send: (call, end) => below(Object.assign(call, { group }), end) },
            retry({ retries: 4 }),
            deadline({ timeoutMs: 20_000 }),
          )
          for (let i = 0; i < 3; i++) {
            arrived = 0
            const outcome = transport
              .request({ method: 'eth_sendRawTransaction', params: ['0x02'] })
              .catch(() => 'failed')
            await vi.runAllTimersAsync()
            await outcome
            expect(arrived).toBeLessThanOrEqual(1)
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('the time of an attempt', () => {
  test('is a third of what is left with several endpoints', async () => {
    const { send } = make([never, never, ok('0x3')])
    const from = now()
    const sent = await complete(send())
    expect(sent.value).toBe('0x3')
    // 3,000 ms of 9,000, then 2,000 of 6,000.
    expect(Math.round((sent.at as number) - from)).toBeGreaterThanOrEqual(5_000)
    expect(Math.round((sent.at as number) - from)).toBeLessThan(5_010)
  })

  test('sets no timer in the past if its deadline has passed on a busy machine', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    const { send } = make([reset, reset])
    const sent = await complete(send('eth_chainId', { deadlineAt: now() - 20 }))
    expect(sent.ok).toBe(false)
    expect(set.mock.calls.map(([, ms]) => ms).filter((ms) => !((ms as number) > 0))).toEqual([])
    set.mockRestore()
  })

  test('can be configured, also with one endpoint', async () => {
    const { send, nodes } = make([never], { attemptTimeoutMs: 200 })
    const sent = await complete(send())
    expect(sent.value).toMatchObject({
      kind: 'timeout',
      source: 'client',
      retryable: true,
      redactedUrl: redactedUrl(0),
    })
    expect(String(sent.value)).toContain('no response within the 200 ms of one attempt')
    expect(nodes[0]?.arrivals[0]?.cancelled).toBeDefined()
  })

  test('is unlimited with one endpoint', async () => {
    const { send } = make([never])
    const sent = send()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(sent.completions).toBe(0)
    sent.end('enough')
    expect(sent.value).toBe('enough')
  })

  test('is unlimited with one endpoint, also for its head query, and needs no deadline', async () => {
    const { send } = make([(call) => (call.method === 'eth_blockNumber' ? ok('0x64') : ok('0x1', 8_000))])
    const fields = { params: '["0xabcdef0","latest"]', options: { minBlock: 100 } }
    expect((await complete(send('eth_getBalance', fields))).value).toBe('0x1')
    const endless = await complete(send('eth_getBalance', { ...fields, deadlineAt: Infinity }))
    expect(timeLeft(endless.call)).toBe(Infinity)
  })

  test('ends a head query, too', async () => {
    const { send } = make([never, (call) => (call.method === 'eth_blockNumber' ? ok('0x64') : ok('0x1'))], {
      attemptTimeoutMs: 100,
    })
    const sent = await complete(
      send('eth_getBalance', { params: '["0xabcdef0","latest"]', options: { minBlock: 100 } }),
    )
    expect(sent.value).toBe('0x1')
  })

  test('does not run while the call waits in a queue of ours', async () => {
    const { send } = make([ok('0x1')], { attemptTimeoutMs: 100 }, budget({ requestsPerSecond: 1 }))
    const [first, second, third] = [send(), send(), send()]
    await complete(third)
    expect([first, second, third].map(({ value }) => value)).toEqual(['0x1', '0x1', '0x1'])
    expect(timeLeft(third.call) - timeLeft(first.call)).toBeCloseTo(2_000)
  })

  test('opens a breaker if there is no response within it', async () => {
    const { send, routed } = make([never, ok('0x2')], { attemptTimeoutMs: 100 }, guarded({ failures: 2 }))
    await complete(send())
    await complete(send())
    expect(routed.stats()[0]?.health?.state).toBe('open')
  })
})

describe('ending a call', () => {
  test('ends every attempt in flight, at once and once', async () => {
    const { send, nodes } = make([never, never], { hedge: { minMs: 10 } }, (node) => ({
      ...node,
      percentileMs: () => 10,
    }))
    for (let i = 0; i < 10; i++) send().end('warm up')
    const reason = new Error('enough')
    const sent = send()
    await vi.advanceTimersByTimeAsync(20)
    expect(nodes.map(({ arrivals }) => arrivals.length)).toEqual([11, 1])
    sent.end(reason)
    expect(sent).toMatchObject({ ok: false, value: reason, completions: 1 })
    for (const { arrivals } of nodes) expect(arrivals.at(-1)?.cancelled).toEqual({ reason })
  })

  test('tries no other endpoint', async () => {
    const { send, counts } = make([down, ok('0x2')])
    const sent = send()
    sent.end('enough')
    await vi.advanceTimersByTimeAsync(100)
    expect(counts()).toEqual([1, 0])
    expect(sent.completions).toBe(1)
  })

  test('leaves the head query in flight, which ends with its last caller', async () => {
    const { send, nodes } = make([(call) => (call.method === 'eth_blockNumber' ? never : ok('0x1'))])
    const fields = { params: '["0xabcdef0","latest"]', options: { minBlock: 5 } }
    const [one, two] = [send('eth_getBalance', fields), send('eth_getBalance', fields)]
    expect(nodes[0]?.arrivals.map(({ method }) => method)).toEqual(['eth_blockNumber'])
    one.end('a')
    expect(nodes[0]?.arrivals[0]?.cancelled).toBeUndefined()
    two.end('b')
    expect(nodes[0]?.arrivals[0]?.cancelled).toEqual({ reason: 'b' })
    expect([one, two].map(({ value, completions }) => [value, completions])).toEqual([
      ['a', 1],
      ['b', 1],
    ])
    const third = send('eth_getBalance', fields)
    expect(nodes[0]?.arrivals).toHaveLength(2)
    third.end('c')
  })
})

describe('a group', () => {
  const group = {}

  test('stays at its first endpoint, independent of weights and budgets', async () => {
    const { send } = make([ok(1), ok(2), ok(3)], {}, (node) => ({
      ...budget({ requestsPerSecond: 5 })(node),
      weight: 1,
    }))
    const first = (await complete(send('eth_chainId', { group }))).value
    for (let i = 0; i < 5; i++) expect((await complete(send('eth_chainId', { group }))).value).toBe(first)
    // Other calls are spread as before.
    const spread = new Set<unknown>()
    for (let i = 0; i < 3; i++) spread.add((await complete(send())).value)
    expect(spread.size).toBeGreaterThan(1)
  })

  test('moves when its endpoint fails, once and for all', async () => {
    let works = true
    const { send } = make([() => (works ? ok(1) : down), ok(2)])
    expect((await complete(send('eth_chainId', { group }))).value).toBe(1)
    works = false
    expect((await complete(send('eth_chainId', { group }))).value).toBe(2)
    works = true
    expect((await complete(send('eth_chainId', { group }))).value).toBe(2)
    expect((await complete(send('eth_chainId', { group: {} }))).value).toBe(1)
  })

  test('does not move if only one call cannot be served', async () => {
    const { send } = make([
      (call) =>
        call.method === 'trace_block' ? fails({ text: 'x', rpcError: { code: -32601, message: 'x' } }) : ok(1),
      ok(2),
    ])
    expect((await complete(send('eth_chainId', { group }))).value).toBe(1)
    expect((await complete(send('trace_block', { group }))).value).toBe(2)
    expect((await complete(send('eth_chainId', { group }))).value).toBe(1)
  })

  test('moves all its calls, including those in flight', async () => {
    const { send } = make([(_, n) => (n === 0 ? ok(1) : down), ok(2), ok(3)])
    await complete(send('eth_chainId', { group }))
    const sent = [send('eth_chainId', { group }), send('eth_chainId', { group }), send('eth_chainId', { group })]
    for (const one of sent) expect((await complete(one)).value).toBe(2)
  })

  test('moves away from an endpoint that is down or on another chain', async () => {
    const { send, counts } = make([(_, n) => (n === 0 ? ok(1) : otherChain), ok(2)])
    await complete(send('eth_chainId', { group }))
    await complete(send('eth_chainId'))
    expect((await complete(send('eth_chainId', { group }))).value).toBe(2)
    expect(counts()).toEqual([2, 2])
  })

  test('the calls of one batch go to one endpoint', async () => {
    const { send } = make([ok(1), ok(2)], {}, (node) => ({ ...node, weight: 1 }))
    const batch = {}
    const sent = Array.from({ length: 6 }, () => send('eth_chainId', { batch }))
    const values = new Set<unknown>()
    for (const one of sent) values.add((await complete(one)).value)
    expect(values.size).toBe(1)
  })
})

describe('another chain', () => {
  test('excludes an endpoint permanently, and the others continue', async () => {
    const { send, counts, routed } = make([otherChain, ok('0x2')])
    for (let i = 0; i < 4; i++) expect((await complete(send())).value).toBe('0x2')
    expect(counts()).toEqual([1, 4])
    expect(routed.stats()[0]).toMatchObject({
      name: redactedUrl(0),
      redactedUrl: redactedUrl(0),
      out: expect.stringContaining('chain 5'),
    })
    expect(routed.stats()[1]?.out).toBeUndefined()
  })

  test('is reported if no endpoint is left', async () => {
    const { send, counts } = make([otherChain, otherChain])
    expect((await complete(send())).value).toMatchObject({ kind: 'wrongNetwork' })
    const sent = send('eth_call')
    expect(sent.value).toMatchObject({ kind: 'wrongNetwork', method: 'eth_call', retryable: false })
    expect(counts()).toEqual([1, 1])
  })

  test('does not exclude the only endpoint, nor one whose service rejects the network', async () => {
    const only = make([(_, n) => (n === 0 ? otherChain : ok('0x1'))], { attemptTimeoutMs: 100 })
    await complete(only.send())
    expect((await complete(only.send())).value).toBe('0x1')
    const rejecting = make([
      (_, n) => (n === 0 ? fails({ text: 'unsupported network', status: 403 }) : ok('0x1')),
      ok('0x2'),
    ])
    expect((await complete(rejecting.send())).value).toBe('0x2')
    expect((await complete(rejecting.send())).value).toBe('0x1')
  })
})

describe('hedging', () => {
  /** The first 20 responses take 10 ms. */
  const hedged = (slow: Script, second: Script, options: RouteOptions = { hedge: { minMs: 30 } }) => {
    const made = make(
      [(call, n) => (n < 20 ? ok('first', 10) : typeof slow === 'function' ? slow(call, n) : slow), second],
      options,
      guarded(),
    )
    const warm = async (): Promise<void> => {
      for (let i = 0; i < 20; i++) await complete(made.send())
    }
    return { ...made, warm }
  }

  test('tries a second endpoint if the first one is slow, and uses the first response', async () => {
    const { send, warm, nodes } = hedged(ok('first', 500), ok('second', 10))
    await warm()
    const from = now()
    const sent = await complete(send())
    expect(sent.value).toBe('second')
    expect(Math.round((sent.at as number) - from)).toBe(40)
    expect(sent.events).toEqual([{ type: 'hedged', redactedUrl: redactedUrl(1) }])
    // The slower attempt was ended.
    expect(nodes[0]?.arrivals.at(-1)?.cancelled).toBeDefined()
  })

  test('uses the first endpoint if it responds first, and cancels the second attempt', async () => {
    const { send, warm, nodes } = hedged(ok('first', 50), ok('second', 500))
    await warm()
    const sent = await complete(send())
    expect(sent.value).toBe('first')
    expect(nodes[1]?.arrivals[0]?.cancelled).toBeDefined()
  })

  test('waits for the other attempt if one of the two fails', async () => {
    const { send, warm } = hedged(ok('first', 100), fails({ text: 'x', status: 502 }, 5))
    await warm()
    expect((await complete(send())).value).toBe('first')
    const both = hedged(fails({ text: 'x', status: 502 }, 100), fails({ text: 'x', status: 503 }, 5))
    await both.warm()
    const { value } = await complete(both.send())
    expect(String(value)).toContain('2 endpoints were tried')
  })

  test('runs the deadline while one attempt is in flight and the other one is queued, and stops it once only the queued one is left', async () => {
    const queue: Script = (call) => {
      const entry = { since: now() }
      startWait(call, entry)
      setTimeout(() => endWait(call, entry, now()), 2_000)
      return ok('second', 2_010)
    }
    const { send, warm } = hedged(fails({ text: 'x', status: 502 }, 500), queue)
    await warm()
    const sent = send()
    await vi.advanceTimersByTimeAsync(400)
    expect(timeLeft(sent.call)).toBeCloseTo(8_600)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(timeLeft(sent.call)).toBeCloseTo(8_500)
    expect((await complete(sent)).value).toBe('second')
  })

  test('treats a revert as a response', async () => {
    const { send, warm } = hedged(ok('first', 500), { ...reverted, afterMs: 5 })
    await warm()
    expect((await complete(send('eth_call'))).value).toMatchObject({ kind: 'revert' })
  })

  test('hedges at most one call in ten', async () => {
    const { send, warm, counts } = hedged((_, n) => ok('first', n % 3 ? 10 : 100), ok('second', 1), {
      hedge: { minMs: 30, percentile: 50, maxRatio: 0.1 },
    })
    await warm()
    for (let i = 0; i < 200; i++) await complete(send())
    const [first, second] = counts() as [number, number]
    expect(first).toBe(220)
    expect(second).toBeGreaterThanOrEqual(15)
    expect(second).toBeLessThanOrEqual(22)
  })

  test.each([
    ['it is off', { hedge: false }, 'eth_chainId', {}],
    ['a call changes something', { hedge: { minMs: 1 } }, 'eth_sendRawTransaction', {}],
    ['it is polling', { hedge: { minMs: 1 } }, 'eth_chainId', { options: { priority: 'poll' } }],
    ['a call belongs to others', { hedge: { minMs: 1 } }, 'eth_chainId', { group: {} }],
    ['a call is heavy', { hedge: { minMs: 1 } }, 'eth_getLogs', {}],
  ] as const)('does not hedge if %s', async (_, options, method, fields) => {
    const { send, warm, counts } = hedged(ok('first', 1_000), ok('second', 1), options)
    await warm()
    expect((await complete(send(method, fields))).value).toBe('first')
    expect(counts()).toEqual([21, 0])
  })

  test('does not hedge before it knows what is slow, or if the second endpoint has no room', async () => {
    const fresh = make([ok('first', 1_000), ok('second')], { hedge: true }, guarded())
    for (let i = 0; i < 15; i++) expect((await complete(fresh.send())).value).toBe('first')
    const { send, warm, counts } = hedged(ok('first', 1_000), down, { hedge: { minMs: 30 } })
    await warm()
    for (let i = 0; i < 5; i++) await complete(send('eth_call'))
    expect(counts()[1]).toBeLessThanOrEqual(3)
  })
})

describe('minBlock', () => {
  const balance = { params: '["0xabcdef0","latest"]' }
  /** A node at a given head. It returns the state of the requested block, and does not have later ones. */
  const node =
    (getHead: () => number): ScriptedEndpoint['script'] =>
    ({ method, params }) => {
      if (method === 'eth_blockNumber') return ok(`0x${getHead().toString(16)}`)
      const named = (JSON.parse(params) as unknown[]).find((param) => /^0x[\da-f]{1,4}$/.test(String(param)))
      const block = named === undefined ? getHead() : Number(named)
      if (method === 'eth_getBlockByNumber') return ok(block > getHead() ? null : { number: `0x${block.toString(16)}` })
      return block > getHead()
        ? fails({ text: 'header not found', rpcError: { code: -32000, message: 'header not found' } })
        : ok(`at ${block}`)
    }

  test('queries the head once, and pins the tag to it', async () => {
    const { send, nodes } = make([node(() => 100)])
    const sent = [
      send('eth_getBalance', { ...balance, options: { minBlock: 100 } }),
      send('eth_getBalance', { ...balance, options: { minBlock: 99n } }),
    ]
    for (const one of sent) expect((await complete(one)).value).toBe('at 100')
    expect(nodes[0]?.arrivals.map(({ method, params }) => method + params)).toEqual([
      'eth_blockNumber[]',
      'eth_getBalance["0xabcdef0","0x64"]',
      'eth_getBalance["0xabcdef0","0x64"]',
    ])
    // The head is known for a second, and then queried again.
    await complete(send('eth_getBalance', { ...balance, options: { minBlock: 100 } }))
    expect(nodes[0]?.arrivals).toHaveLength(4)
    await vi.advanceTimersByTimeAsync(1_000)
    await complete(send('eth_getBalance', { ...balance, options: { minBlock: 100 } }))
    expect(nodes[0]?.arrivals).toHaveLength(6)
  })

  test('sends no head query if other traffic has shown the head', async () => {
    const { send, nodes } = make([node(() => 100)])
    await complete(send('eth_blockNumber'))
    expect((await complete(send('eth_getBalance', { ...balance, options: { minBlock: 90 } }))).value).toBe('at 100')
    expect(nodes[0]?.arrivals.map(({ method }) => method)).toEqual(['eth_blockNumber', 'eth_getBalance'])
  })

  test('uses the next endpoint if the first one is behind, and does not query the first one again at once', async () => {
    const { send, nodes } = make([node(() => 98), node(() => 100)])
    const fields = { ...balance, options: { minBlock: 100 } }
    const sent = await complete(send('eth_getBalance', fields))
    expect(sent.value).toBe('at 100')
    expect(sent.events).toEqual([{ type: 'rerouted', redactedUrl: redactedUrl(0), kind: 'lagging' }])
    await complete(send('eth_getBalance', fields))
    expect(nodes.map(({ arrivals }) => arrivals.length)).toEqual([1, 3])
  })

  test('returns to the first endpoint once it has caught up', async () => {
    let head = 98
    const { send } = make([node(() => head), node(() => 100)])
    const fields = { ...balance, options: { minBlock: 100 } }
    await complete(send('eth_getBalance', fields))
    head = 101
    await vi.advanceTimersByTimeAsync(1_000)
    expect((await complete(send('eth_getBalance', fields))).value).toBe('at 101')
  })

  test('fails as lagging if all are behind, and the retry layer above solves it', async () => {
    let head = 99
    const { send, routed } = make([node(() => head), node(() => 98)])
    const options = { minBlock: 100 }
    const sent = await complete(send('eth_getBalance', { ...balance, options }))
    expect(sent.value).toMatchObject({ kind: 'lagging', retryable: true })
    expect(String(sent.value)).toContain('the node has not reached block 100')
    setTimeout(() => (head = 100), 300)
    const transport = compose(routed, retry({ retries: 9, baseMs: 100 }), deadline())
    const outcome = transport.request({ method: 'eth_getBalance', params: ['0xabcdef0', 'latest'] }, options as object)
    await vi.runAllTimersAsync()
    expect(await outcome).toBe('at 100')
  })

  test('also works with a URL of several nodes, one of which lags', async () => {
    // The node that is ahead reports the head, and the other one responds to the call.
    let queries = 0
    const { send } = make([
      (call, n) => node(() => (call.method === 'eth_blockNumber' ? 100 : queries++ === 0 ? 97 : 100))(call, n),
      node(() => 90),
    ])
    const sent = await complete(send('eth_getBalance', { ...balance, options: { minBlock: 100 } }))
    expect(sent.value).toMatchObject({ kind: 'lagging', retryable: true })
    expect((await complete(send('eth_getBalance', { ...balance, options: { minBlock: 100 } }))).value).toBe('at 100')
  })

  test('true is the highest block seen, also in a receipt and from another endpoint', async () => {
    const { send } = make([
      (call, n) => (call.method === 'eth_getTransactionReceipt' ? down : node(() => 90)(call, n)),
      (call, n) =>
        call.method === 'eth_getTransactionReceipt' ? ok({ blockNumber: '0x64' }) : node(() => 105)(call, n),
    ])
    const fields = { ...balance, options: { minBlock: true } }
    // No block was seen yet, so none is required.
    expect((await complete(send('eth_getBalance', fields))).value).toBe('at 90')
    await complete(send('eth_getTransactionReceipt', { params: '["0xabc"]' }))
    expect((await complete(send('eth_getBalance', fields))).value).toBe('at 105')
  })

  test('applies to every call as an option of the transport, unless a call turns it off', async () => {
    const { send, nodes } = make([node(() => 100)], { minBlock: true })
    await complete(send('eth_blockNumber'))
    expect((await complete(send('eth_getBalance', balance))).value).toBe('at 100')
    expect(nodes[0]?.arrivals[1]?.params).toBe('["0xabcdef0","0x64"]')
    await complete(send('eth_getBalance', { ...balance, options: { minBlock: false } }))
    expect(nodes[0]?.arrivals[2]?.params).toBe('["0xabcdef0","latest"]')
  })

  test('treats a lower eth_blockNumber, and null for a block at or below it, as lagging', async () => {
    const { send } = make([node(() => 98), node(() => 100)])
    const options = { minBlock: 100 }
    expect((await complete(send('eth_blockNumber', { options }))).value).toBe('0x64')
    const block = await complete(send('eth_getBlockByNumber', { params: '["0x63",false]', options }))
    expect(block.value).toEqual({ number: '0x63' })
    const last = await complete(send('eth_getBlockByNumber', { params: '["0x64",false]', options }))
    expect(last.value).toEqual({ number: '0x64' })
    // Blocks above it are not required.
    const later = await complete(send('eth_getBlockByNumber', { params: '["0x70",false]', options }))
    expect(later.value).toBeNull()
    const latest = await complete(send('eth_getBlockByNumber', { params: '["latest",false]', options }))
    expect(latest.value).toEqual({ number: '0x64' })
  })

  test('treats null for the head itself as lagging', async () => {
    const { send } = make([
      (call) => (call.method === 'eth_blockNumber' ? ok('0x64') : ok(null)),
      (call) => (call.method === 'eth_blockNumber' ? ok('0x64') : ok({ number: '0x64' })),
    ])
    const sent = await complete(
      send('eth_getBlockByNumber', { params: '["latest",false]', options: { minBlock: 100 } }),
    )
    expect(sent.value).toEqual({ number: '0x64' })
  })

  test('accepts null if it means that the block has no such item', async () => {
    const { send } = make([(call) => (call.method === 'eth_blockNumber' ? ok('0x64') : ok(null))])
    const options = { minBlock: 100 }
    const params = '["0x63","0x5"]'
    expect((await complete(send('eth_getTransactionByBlockNumberAndIndex', { params, options }))).value).toBeNull()
  })

  test('queries the head before a pending read, and leaves its tag unchanged', async () => {
    const { send, nodes } = make([node(() => 98), node(() => 100)])
    await complete(send('eth_getTransactionCount', { params: '["0xabcdef0","pending"]', options: { minBlock: 100 } }))
    expect(nodes[1]?.arrivals.map(({ params }) => params)).toEqual(['[]', '["0xabcdef0","pending"]'])
  })

  test('passes on why the head query failed, to each caller its own error', async () => {
    const { send } = make([down])
    const fields = { ...balance, options: { minBlock: 100 } }
    const [one, two] = [send('eth_getBalance', fields), send('eth_getBalance', fields)]
    expect((await complete(one)).value).toMatchObject({ kind: 'unavailable', retryable: true })
    expect((await complete(two)).value).toMatchObject({ kind: 'unavailable' })
    expect(one.value).not.toBe(two.value)
  })

  test('ignores the heights of another chain', async () => {
    const { send } = make([
      (call, n) => (n === 0 ? ok('0xffffff') : n === 1 ? otherChain : node(() => 5)(call, n)),
      node(() => 100),
    ])
    await complete(send('eth_blockNumber'))
    await complete(send('eth_chainId'))
    expect((await complete(send('eth_getBalance', { ...balance, options: { minBlock: true } }))).value).toBe('at 100')
  })

  test('keeps a group together, and moves it away from a node that is behind', async () => {
    const { send } = make([node(() => 98), node(() => 100)])
    const group = {}
    expect((await complete(send('eth_getBalance', { ...balance, group }))).value).toBe('at 98')
    expect((await complete(send('eth_getBalance', { ...balance, group, options: { minBlock: 100 } }))).value).toBe(
      'at 100',
    )
    expect((await complete(send('eth_getBalance', { ...balance, group }))).value).toBe('at 100')
  })
})

describe('every call completes exactly once', () => {
  test('through any mix of outcomes, hedges, aborts and minBlock', async () => {
    const outcome = fc.oneof(
      fc.constantFrom<Outcome>(down, reset, throttled, otherChain, reverted, never),
      fc.record({ result: fc.constantFrom('0x64', null, { number: '0x60' }), afterMs: fc.nat(200) }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(outcome, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
        fc.array(
          fc.record({
            method: fc.constantFrom(
              'eth_getBalance',
              'eth_blockNumber',
              'eth_sendRawTransaction',
              'eth_getBlockByNumber',
            ),
            minBlock: fc.constantFrom(true, false, 100),
            grouped: fc.boolean(),
            abortAfterMs: fc.option(fc.nat(300), { nil: undefined }),
            gapMs: fc.nat(50),
          }),
          { maxLength: 12 },
        ),
        async (plans, calls) => {
          const { send } = make(
            plans.map(
              (plan): Script =>
                (_, n) =>
                  plan[n % plan.length] as Outcome,
            ),
            { hedge: { minMs: 5, percentile: 50 }, attemptTimeoutMs: 400 },
            (node) => ({ ...budget({ requestsPerSecond: 50 })(breaker()(node)), percentileMs: () => 5 }),
          )
          const group = {}
          const sent: Sent[] = []
          for (const { method, minBlock, grouped, abortAfterMs, gapMs } of calls) {
            const one = send(method, {
              params: '["0xabcdef0","latest"]',
              options: { minBlock },
              group: grouped ? group : undefined,
            })
            sent.push(one)
            setTimeout(() => one.completions || one.end('aborted'), abortAfterMs ?? 30_000)
            await vi.advanceTimersByTimeAsync(gapMs)
          }
          await vi.runAllTimersAsync()
          expect(sent.map(({ completions }) => completions)).toEqual(calls.map(() => 1))
          expect(sent.every(({ call }) => !call.progress.queued)).toBe(true)
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('options', () => {
  test.each([
    [{ attemptTimeoutMs: 0 }, 'attemptTimeoutMs must be a number from 1 to 2147483647'],
    [{ acceptableWaitMs: -1 }, 'acceptableWaitMs must be a number from 0'],
    [{ hedge: { percentile: 0 } }, 'hedge.percentile must be a number from 1 to 100'],
    [{ hedge: { minMs: Number.NaN } }, 'hedge.minMs must be a number from 0'],
    [{ hedge: { maxRatio: 2 } }, 'hedge.maxRatio must be a number from 0 to 1'],
    [{ minBlock: 5 as unknown as boolean }, 'minBlock must be true or false'],
  ])('%j is rejected', (options, message) => {
    expect(() => checkRouteOptions(options)).toThrow(message)
  })

  test('there must be an endpoint, not too many, and their weights must be numbers', () => {
    const url = 'http://127.0.0.1:1'
    const list = (length: number): { readonly url: string }[] => Array.from({ length }, () => ({ url }))
    failover(list(30))
    for (const length of [0, 31]) expect(() => failover(list(length))).toThrow('failover takes an array of 1 to 30')
    expect(() => failover([{ url, weight: -1 }])).toThrow('weight must be a number from 0')
  })

  test('the redacted URL is the name of the first endpoint, otherwise its redacted URL', () => {
    expect(route([scriptedEndpoint(undefined, redactedUrl(7)), scriptedEndpoint()]).redactedUrl).toBe(redactedUrl(7))
    expect(route([{ ...scriptedEndpoint(), name: 'main' }]).redactedUrl).toBe('main')
    expect(route([{ ...scriptedEndpoint(), name: 'main' }]).stats()).toEqual([
      {
        name: 'main',
        redactedUrl: 'https://node.example/…',
        head: 0,
        out: undefined,
        health: undefined,
        budget: undefined,
      },
    ])
  })
})
