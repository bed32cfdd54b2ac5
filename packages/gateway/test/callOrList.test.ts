import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { compileAllowList } from '../src/auth/allowList/compileAllowList.ts'
import type { AllowList } from '../src/auth/allowList/compileAllowList.ts'
import type { KeyLimits } from '../src/auth/key/keyStore.ts'
import { createApiKey } from '../src/lib/secrets/apiKey.ts'
import { createLocalLimits } from '../src/usage/limits/createLocalLimits.ts'
import type { UsageLimits } from '../src/usage/limits/usageLimits.ts'
import { createRateLimiter } from '../src/usage/rateLimit/createRateLimiter.ts'
import { controlTime, until } from './controlTime.ts'
import type { TestOptions } from './createTestGateway.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import { createCall, error, hang, nodeFailures, nothing } from './nodeFailures.ts'
import { chainIds, post, startGateway, unreachableUrl } from './startGateway.ts'
import { noLimits, noon } from './tenants/startTenants.ts'

afterEach(() => void vi.useRealTimers())

/** What a call looks like to its caller, to the nodes and in the metrics. */
interface Seen {
  readonly responses: readonly unknown[]
  /** By node. */
  readonly bodies: readonly (readonly string[])[]
  readonly outcomes: readonly unknown[]
  readonly counted: readonly unknown[]
  /** How many units of its quota are used. */
  readonly used: number
}

/** Calls, and the gateway that they are sent through. */
interface Scenario {
  /** Without any, nothing listens. */
  readonly nodes: readonly Behaviour[]
  /** Sent one after the other. */
  readonly calls: readonly string[]
  readonly hedgeMs?: number
  readonly bounds?: NonNullable<TestOptions['bounds']>
  readonly weights?: Readonly<Record<string, number>>
  readonly limits?: Partial<KeyLimits>
  readonly allow?: AllowList
  /** Replaces parts of the limits. */
  readonly broken?: Partial<UsageLimits>
  /** Lets time pass while a call is in flight. */
  readonly during?: (nodes: readonly FakeUpstream[]) => Promise<void>
}

const toOptions = (urls: readonly string[], { hedgeMs, bounds, weights }: Scenario) =>
  ({
    networks: {
      testnet: {
        chainId: chainIds.testnet,
        upstreams: urls.map((url) => ({ url })),
        ...(hedgeMs === undefined ? {} : { hedgeMs }),
      },
    },
    services: { debug: true },
    ...(bounds === undefined ? {} : { bounds }),
    ...(weights === undefined ? {} : { limits: { weights } }),
  }) satisfies Partial<TestOptions>

/** Sends calls, each alone or as a list of one, through a new gateway in front of new nodes. */
const send = async (scenario: Scenario, isList: boolean): Promise<Seen> => {
  const { calls, limits = {}, allow, broken, during } = scenario
  const nodes = await Promise.all(scenario.nodes.map(async () => startFakeUpstream(chainIds.testnet)))
  for (const [index, node] of nodes.entries()) {
    node.behave = scenario.nodes[index] ?? node.behave
    onTestFinished(node.stop)
  }
  const counted: unknown[] = []
  const meter = {
    count: (...[, network, method, outcome, , count]: unknown[]) =>
      void counted.push({ network, method, outcome, calls: count }),
    flush: async () => {},
    close: async () => {},
  }
  const now = (): number => noon
  const usageLimits = createLocalLimits({ now, rates: createRateLimiter({ now }) })
  onTestFinished(() => usageLimits.close())
  const urls = nodes.length === 0 ? [unreachableUrl] : nodes.map(({ url }) => url)
  const started = await startGateway(
    { testnet: [] },
    { ...toOptions(urls, scenario), meter, now, usageLimits: { ...usageLimits, ...broken } },
  )
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  const key = createApiKey('app')
  started.keys.add(key, {
    id: 'key_1',
    kind: 'app',
    networks: ['testnet'],
    status: 'active',
    appId: 'app_1',
    services: ['Node API'],
    limits: { ...noLimits, ...limits },
    ...(allow === undefined ? {} : { allow }),
  })
  const responses: unknown[] = []
  for (const call of calls) {
    const pending = post(`${started.url}/testnet/v2/${key}`, isList ? `[${call}]` : call)
    await during?.(nodes)
    const { text } = await pending
    const response: unknown = JSON.parse(text.replace(/"requestId":"[^"]+"/, '"requestId":"-"'))
    responses.push(isList && Array.isArray(response) ? response[0] : response)
  }
  // A streamed result is counted when it has ended.
  await until(() => counted.length >= calls.length)
  return {
    responses,
    bodies: nodes.map(({ bodies }) => bodies.map((body) => body.replace(/"id":\d+/, '"id":0'))),
    outcomes: started.gateway.upstreams().map(({ outcomes }) => [...outcomes]),
    counted,
    used: (await usageLimits.usage({ id: 'app:app_1', perDay: null, perMonth: null })).day.used,
  }
}

const fromSecond: Behaviour = (call) => result(call, '"second"')
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
const read = (method: string, ...params: unknown[]): string => createCall({ method, params: () => params }, 1)
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
    const during = async (nodes: readonly FakeUpstream[]): Promise<void> => {
      const [first] = nodes as [FakeUpstream]
      first.respondsToCheapRead = respondsToCheapRead
      await whenAll([1], nodes)
      for (const [ms, counts, cheapReads = 0] of steps) {
        pass(ms)
        await whenAll(counts, nodes)
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
  const [up, isFull] = [[fromSecond], [error(-32005, 'daily request count exceeded, request rate limited')]]
  test.each<Scenario & { readonly name: string; readonly outcomes: readonly string[]; readonly used: number }>([
    {
      name: 'its rate is used up',
      nodes: up,
      limits: { perSecond: 10, burst: 1 },
      calls: [light, light],
      outcomes: ['succeeded', 'rate_limited'],
      used: 1,
    },
    {
      name: 'its rate is used up by rejected calls',
      nodes: up,
      limits: { perSecond: 10, burst: 1, perDay: 1 },
      calls: [unknown, unknown, light],
      outcomes: ['method_not_found', 'rate_limited', 'rate_limited'],
      used: 0,
    },
    {
      name: 'its quota of the day is used up',
      nodes: up,
      limits: { perDay: 1 },
      calls: [unknown, light, light],
      outcomes: ['method_not_found', 'succeeded', 'quota_exceeded'],
      used: 1,
    },
    {
      name: 'its quota of the month is used up',
      nodes: up,
      limits: { perMonth: 1 },
      calls: [light, light],
      outcomes: ['succeeded', 'quota_exceeded'],
      used: 1,
    },
    {
      name: 'its weight does not fit the quota',
      nodes: up,
      weights: { eth_getLogs: 20 },
      limits: { perDay: 30 },
      calls: [heavy, heavy, light],
      outcomes: ['succeeded', 'quota_exceeded', 'succeeded'],
      used: 21,
    },
    {
      name: 'its weight does not fit the rate',
      nodes: up,
      weights: { eth_getLogs: 20 },
      limits: { perSecond: 10, burst: 30 },
      calls: [heavy, heavy, light],
      outcomes: ['succeeded', 'rate_limited', 'succeeded'],
      used: 21,
    },
    {
      name: 'no node gets it',
      nodes: [],
      weights: { eth_getLogs: 20 },
      limits: { perDay: 20 },
      calls: [heavy, heavy],
      outcomes: ['upstreamFailed', 'upstreamFailed'],
      used: 0,
    },
    {
      name: 'its node rejects it',
      nodes: isFull,
      limits: { perDay: 2 },
      calls: [light, light, light],
      outcomes: ['nodeError', 'nodeError', 'quota_exceeded'],
      used: 2,
    },
    {
      name: 'the limits are unavailable',
      nodes: up,
      broken: { take: down },
      calls: [light],
      outcomes: ['key_store_unavailable'],
      used: 0,
    },
  ])('$name', async ({ name: _name, outcomes, used, ...scenario }) => {
    const alone = await send(scenario, false)
    expect(withoutIds(await send(scenario, true))).toEqual(withoutIds(alone))
    expect(alone.counted).toMatchObject(outcomes.map((outcome) => ({ outcome })))
    expect(alone.used).toBe(used)
  })
})
