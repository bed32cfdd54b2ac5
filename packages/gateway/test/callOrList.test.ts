import { afterEach, describe, expect, test, vi } from 'vitest'
import { compileAllowList } from '../src/auth/allowList/compileAllowList.ts'
import type { KeyLimits } from '../src/auth/key/keyStore.ts'
import { fromSecond, read, send } from './callOrList.ts'
import type { Scenario, Seen } from './callOrList.ts'
import { controlTime, until } from './controlTime.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { result } from './fakeUpstream.ts'
import { createCall, error, hang, nodeFailures, nothing } from './nodeFailures.ts'

afterEach(() => void vi.useRealTimers())

/** Alone, it is streamed. */
const largeResult: Behaviour = (call) => result(call, JSON.stringify('0'.repeat(4 * 1024 * 1024)))
const toWrite = (method: string): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: ['0x02'] })

const failures = nodeFailures.flatMap((failure) => [
  { name: `the first node fails: ${failure.name}`, nodes: [failure.behave, fromSecond], call: createCall(failure, 1) },
  { name: `both nodes fail: ${failure.name}`, nodes: [failure.behave, failure.behave], call: createCall(failure, 1) },
])
const others = [
  { name: 'a node rejects it', nodes: [error(3, 'execution reverted', '0x'), fromSecond], call: createCall({}, 1) },
  { name: 'it has one node', nodes: [nothing], call: createCall({ method: 'eth_getTransactionReceipt' }, 1) },
  { name: 'it is expensive', nodes: [fromSecond, fromSecond], call: createCall({ method: 'debug_traceCall' }, 1) },
  {
    name: 'it shows the head',
    nodes: [fromSecond],
    call: createCall({ method: 'eth_blockNumber', params: () => [] }, 1),
  },
  {
    name: 'it reads the finalized block',
    nodes: [error(-32601, 'no'), ((call) => result(call, '{"number":"0x24"}')) as Behaviour],
    call: createCall({ method: 'eth_getBlockByNumber', params: () => ['finalized', false] }, 1),
  },
  { name: 'it has a fixed result', nodes: [fromSecond], call: createCall({ method: 'web3_clientVersion' }, 1) },
  { name: 'it creates a filter', nodes: [error(-32000, 'no')], call: createCall({ method: 'eth_newBlockFilter' }, 1) },
  { name: 'it has no filter', nodes: [fromSecond], call: createCall({ method: 'eth_getFilterChanges' }, 1) },
  { name: 'it subscribes', nodes: [fromSecond], call: createCall({ method: 'eth_subscribe' }, 1) },
  { name: 'it is a write', nodes: [fromSecond, fromSecond], call: toWrite('eth_sendRawTransaction') },
  {
    name: 'it is a write that the node knows',
    nodes: [error(-32000, 'already known'), fromSecond],
    call: toWrite('eth_sendRawTransaction'),
  },
  {
    name: 'it is a write that fails',
    nodes: [error(-32603, 'oops'), fromSecond],
    call: toWrite('eth_sendRawTransaction'),
  },
  { name: 'its result is large', nodes: [largeResult], call: createCall({ method: 'debug_traceCall' }, 1) },
  { name: 'its method is unknown', nodes: [fromSecond], call: toWrite('eth_foo') },
  { name: 'it is invalid', nodes: [fromSecond], call: '{"id":1}' },
]

// What differs: the form of the response, the status of a rejection, and that a result is not streamed in a list.
describe('a call gets, costs and sends the same alone and as a list of one, if', () => {
  test.each([...failures, ...others])('$name', async ({ nodes, call }) => {
    const alone = await send({ nodes, calls: [call] }, false)
    expect(await send({ nodes, calls: [call] }, true)).toEqual(alone)
    expect(alone.counted).toHaveLength(1)
  })
})

/** Each response is lower than the one before. */
const goingBack = (from: number): Behaviour => {
  let number = from
  return (call) => {
    number -= 1
    const isNamed = String((call.params as unknown[])[0]).startsWith('0x')
    return result(
      call,
      isNamed ? `{"number":${JSON.stringify((call.params as unknown[])[0])}}` : `{"number":"0x${number.toString(16)}"}`,
    )
  }
}
const light = read('eth_gasPrice')
const balance = read('eth_getBalance', `0x${'0'.repeat(40)}`, `0x${'0'.repeat(64)}`)

describe('the calls of a caller get, cost and send the same alone and as lists of one, if', () => {
  test.each([
    {
      name: 'the last safe block is earlier',
      toNodes: () => [goingBack(40), fromSecond],
      calls: [read('eth_getBlockByNumber', 'safe', false)],
    },
    { name: 'a read is repeated', toNodes: () => [fromSecond], calls: [balance] },
    {
      name: 'a read follows a write',
      toNodes: () => [fromSecond, fromSecond],
      calls: [toWrite('eth_sendRawTransaction'), balance],
    },
    {
      name: 'a null is known',
      toNodes: () => [nothing, nothing],
      calls: [read('eth_getTransactionReceipt', `0x${'1'.repeat(64)}`)],
    },
  ])('$name', async ({ toNodes, calls }) => {
    const thrice = [calls, calls, calls].flat()
    expect(await send({ nodes: toNodes(), calls: thrice }, true)).toEqual(
      await send({ nodes: toNodes(), calls: thrice }, false),
    )
  })
})

const jsTracer = { tracer: '{ step: function () {} }' }

describe('a call is rejected alone as in a list of one, if', () => {
  test.each<
    Omit<Scenario, 'nodes' | 'calls'> & { readonly name: string; readonly call: string; readonly reason: string }
  >([
    { name: 'its method is misspelled', call: read('eth_getBalanc'), reason: 'method_not_found' },
    { name: 'it has a member twice', call: light.replace('{', '{"method":"eth_call",'), reason: 'invalid_request' },
    { name: 'its params are a number', call: light.replace('[]', '1'), reason: 'invalid_params' },
    {
      name: 'its tracer is a program',
      call: read('debug_traceCall', {}, 'latest', jsTracer),
      reason: 'tracer_not_allowed',
    },
    {
      name: 'its app does not allow the method',
      call: light,
      allow: compileAllowList({ methods: [{ value: 'eth_call' }] }),
      reason: 'method_not_allowed',
    },
    { name: 'its result is too large', call: light, bounds: { maxResponseBytes: 10 }, reason: 'response_too_large' },
  ])('$name', async ({ name: _name, call, reason, ...more }) => {
    const scenario = { nodes: [fromSecond], calls: [call], ...more }
    const alone = await send(scenario, false)
    expect(await send(scenario, true)).toEqual(alone)
    expect(alone.responses).toMatchObject([{ error: { data: { reason } } }])
  })
})

const cheap = createCall({}, 1)
const expensive = createCall({ method: 'debug_traceCall' }, 1)
const whenAll = (counts: readonly number[], nodes: readonly FakeUpstream[]): Promise<void> =>
  until(() => counts.every((count, index) => nodes[index]?.bodies.length === count))

describe('a call is hedged alone as in a list of one, if', () => {
  test.each<{
    readonly name: string
    readonly nodes: readonly Behaviour[]
    readonly call: string
    readonly hedgeMs?: number
    /** Whether the first node responds to cheap reads. */
    readonly respondsToCheapRead?: boolean
    /** How much time passes, and how many requests each node has got after that, and cheap reads the first one. */
    readonly steps: readonly (readonly [ms: number, counts: readonly number[], cheapReads?: number])[]
    readonly outcome: string
  }>([
    {
      name: 'its node does not respond within hedgeMs',
      nodes: [hang, fromSecond],
      call: cheap,
      hedgeMs: 50,
      steps: [[50, [1, 1]]],
      outcome: 'succeeded',
    },
    {
      name: 'its node does not respond in half of the time',
      nodes: [hang, fromSecond],
      call: cheap,
      steps: [[300, [1, 1]]],
      outcome: 'succeeded',
    },
    {
      name: 'its second node does not respond either',
      nodes: [hang, hang, fromSecond],
      call: cheap,
      hedgeMs: 100,
      steps: [
        [100, [1, 1, 0]],
        [250, [1, 1, 1]],
      ],
      outcome: 'succeeded',
    },
    {
      name: 'the other node rejects it',
      nodes: [hang, error(3, 'execution reverted', '0x')],
      call: cheap,
      hedgeMs: 50,
      steps: [[50, [1, 1]]],
      outcome: 'reverted',
    },
    {
      name: 'the other node fails too',
      nodes: [hang, error(-32603, 'oops')],
      call: cheap,
      hedgeMs: 50,
      steps: [
        [50, [1, 1]],
        [550, [1, 1]],
      ],
      outcome: 'nodeError',
    },
    {
      name: 'it is expensive, and its node responds to nothing',
      nodes: [hang, fromSecond],
      call: expensive,
      hedgeMs: 50,
      respondsToCheapRead: false,
      steps: [
        [300, [1, 0], 1],
        [150, [1, 1]],
      ],
      outcome: 'succeeded',
    },
    {
      name: 'it is expensive, and only slow: to no other node',
      nodes: [hang, fromSecond],
      call: expensive,
      hedgeMs: 50,
      steps: [
        [300, [1, 0], 1],
        [300, [1, 0]],
      ],
      outcome: 'upstreamFailed',
    },
    {
      name: 'it is a write: to no other node',
      nodes: [hang, fromSecond],
      call: toWrite('eth_sendRawTransaction'),
      hedgeMs: 50,
      steps: [[600, [1, 0]]],
      outcome: 'upstreamFailed',
    },
  ])('$name', async ({ nodes: behaviours, call, hedgeMs, respondsToCheapRead = true, steps, outcome }) => {
    const pass = controlTime()
    const during: Scenario['during'] = async (nodes, getUpstreams) => {
      // A response that the gateway has not read yet would be late.
      const isRead = (): boolean =>
        getUpstreams().every(({ inFlight }, index) => inFlight === 0 || behaviours[index] === hang)
      const [first] = nodes as [FakeUpstream]
      first.respondsToCheapRead = respondsToCheapRead
      await whenAll([1], nodes)
      for (const [ms, counts, cheapReads = 0] of steps) {
        pass(ms)
        await whenAll(counts, nodes)
        await until(isRead)
        // The gateway finds out whether the node of an expensive call works.
        await until(() => first.cheapReads >= cheapReads)
      }
    }
    const scenario: Scenario = {
      nodes: behaviours,
      calls: [call],
      bounds: { upstreamTimeoutMs: 600 },
      during,
      ...(hedgeMs === undefined ? {} : { hedgeMs }),
    }
    const alone = await send(scenario, false)
    expect(await send(scenario, true)).toEqual(alone)
    expect(alone.counted).toMatchObject([{ outcome }])
  })
})

const [heavy, unknown] = [createCall({ method: 'eth_getLogs', params: () => [{}] }, 1), toWrite('eth_foo')]
const down = (): never => {
  throw new Error('down')
}

/** A list of which no call is granted gets one error, which has no id (decision 0015). */
const withoutIds = ({ responses, ...seen }: Seen): Seen => ({
  ...seen,
  responses: responses.map((response) => ({ ...(response as object), id: null })),
})

describe('a call is limited and charged alone as in a list of one, if', () => {
  const full = error(-32005, 'daily request count exceeded, request rate limited')
  const rate = { perSecond: 10, burst: 1 }
  test.each<[string, Partial<KeyLimits>, readonly string[], readonly string[], number, Partial<Scenario>?]>([
    ['its rate is used up', rate, [light, light], ['succeeded', 'rate_limited'], 1],
    [
      'its rate is used up by rejected calls',
      { ...rate, perDay: 1 },
      [unknown, unknown, light],
      ['method_not_found', 'rate_limited', 'rate_limited'],
      0,
    ],
    [
      'its quota of the day is used up',
      { perDay: 1 },
      [unknown, light, light],
      ['method_not_found', 'succeeded', 'quota_exceeded'],
      1,
    ],
    ['its quota of the month is used up', { perMonth: 1 }, [light, light], ['succeeded', 'quota_exceeded'], 1],
    [
      'its weight does not fit the quota',
      { perDay: 30 },
      [heavy, heavy, light],
      ['succeeded', 'quota_exceeded', 'succeeded'],
      21,
    ],
    [
      'its weight does not fit the rate',
      { ...rate, burst: 30 },
      [heavy, heavy, light],
      ['succeeded', 'rate_limited', 'succeeded'],
      21,
    ],
    ['no node gets it', { perDay: 20 }, [heavy, heavy], ['upstreamFailed', 'upstreamFailed'], 0, { nodes: [] }],
    [
      'its node rejects it',
      { perDay: 2 },
      [light, light, light],
      ['nodeError', 'nodeError', 'quota_exceeded'],
      2,
      { nodes: [full] },
    ],
    ['the limits are unavailable', {}, [light], ['key_store_unavailable'], 0, { broken: { take: down } }],
  ])('%s', async (...[, limits, calls, outcomes, units, more]) => {
    const scenario = { nodes: [fromSecond], weights: { eth_getLogs: 20 }, limits, calls, ...more }
    const alone = await send(scenario, false)
    expect(withoutIds(await send(scenario, true))).toEqual(withoutIds(alone))
    expect(alone.counted).toMatchObject(outcomes.map((outcome) => ({ outcome })))
    expect(alone.used).toBe(units)
  })
})
