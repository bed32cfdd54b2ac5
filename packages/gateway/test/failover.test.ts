import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import { controlTime, until } from './controlTime.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream, SeenCall } from './fakeUpstream.ts'
import { heldOutNodeFailures, stall } from './heldOutNodeFailures.ts'
import {
  createBatch,
  createCall,
  error,
  hang,
  newHash,
  nodeFailures,
  nodeStates,
  nothing,
  reset,
  whole,
} from './nodeFailures.ts'
import type { NodeFailure } from './nodeFailures.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

const timeoutMs = 1_000
const head = 100
let pass: (ms: number) => void
const toStop: (() => Promise<unknown>)[] = []
/** For most tests, and new for each, because a gateway remembers what a node could not do. Its nodes have the same head. */
let pair: Pair

interface Pair extends StartedGateway {
  readonly first: FakeUpstream
  readonly second: FakeUpstream
  readonly rpcUrl: string
}
/** Starts a gateway in front of two nodes. The second responds to every call with its name. */
const startPair = async ({
  chainId = chainIds.testnet,
  head: firstHead = head,
}: Partial<NodeFailure> = {}): Promise<Pair> => {
  const [first, second] = [await startFakeUpstream(chainId), await startFakeUpstream(chainIds.testnet)]
  first.head = firstHead
  second.head = head
  second.behave = fromSecond
  const bounds = { upstreamTimeoutMs: timeoutMs }
  const started = await startGateway({ testnet: [first.url, second.url] }, { bounds, services: { debug: true } })
  toStop.push(first.stop, second.stop, () => closeAtOnce(started))
  return { ...started, first, second, rpcUrl: getApiKeyUrl(started.url, 'testnet', started.testnetKey) }
}
const fromSecond: Behaviour = (call) => result(call, '"second"')

/** Cuts idle connections without the time that they have otherwise. */
const closeAtOnce = ({ gateway }: StartedGateway): Promise<void> => {
  const closed = gateway.close({ graceMs: 0 })
  pass(1)
  return closed
}

beforeAll(() => {
  pass = controlTime()
})
beforeEach(async () => {
  pair = await startPair()
  pair.first.behave = fromSecond
})
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})
afterAll(() => {
  vi.useRealTimers()
})

const counts = ({ first, second: other } = pair): number[] => [first.bodies.length, other.bodies.length]

const toCall = (id: number, method = 'eth_call', params: unknown[] = [{}, '0x64']): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const second = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":"second"}`

describe('the caller gets the response of the second node if the first fails:', () => {
  test.each(nodeFailures)('$name', async (failure) => {
    pair.first.behave = failure.behave
    const response = await post(pair.rpcUrl, createCall(failure, 1))
    expect([response.status, response.text]).toEqual([200, second(1)])
    expect(counts()).toEqual([1, 1])
  })

  test.each(nodeFailures)('$name, in a batch', async (failure) => {
    pair.first.behave = failure.behave
    const response = await post(pair.rpcUrl, createBatch(failure))
    expect(response.text).toBe(`[${[1, 2, 3].map(second).join(',')}]`)
    expect(counts()).toEqual([1, 1])
  })

  test.each([
    ['hangs', hang],
    ['stops in the middle of its response', stall],
  ])('it %s', async (_, behave) => {
    pair.first.behave = behave
    const response = post(pair.rpcUrl, toCall(1))
    await until(() => pair.first.bodies.length === 1)
    pass(timeoutMs / 2)
    expect((await response).text).toBe(second(1))
  })

  test('it hangs, for an expensive call too', async () => {
    const [dead, slow] = [toCall(1, 'eth_getLogs', [{}]), toCall(1, 'eth_getLogs', [{ address: [] }])]
    pair.first.behave = hang
    pair.first.respondsToCheapRead = false
    const response = post(pair.rpcUrl, dead)
    await until(() => pair.first.bodies.length === 1)
    pass(timeoutMs / 2)
    pass(timeoutMs / 4)
    expect((await response).text).toBe(second(1))
    // A node that responds to others is only slow.
    pair.first.respondsToCheapRead = true
    pair.first.cheapReads = 0
    const late = post(pair.rpcUrl, slow)
    await until(() => pair.first.bodies.length === 2)
    pass(timeoutMs / 2)
    await until(() => pair.first.cheapReads > 0)
    expect(pair.second.bodies.length).toBe(1)
    pass(timeoutMs / 2)
    expect((await late).status).toBe(504)
  })

  test.each([
    ['hangs', hang],
    ['stops in the middle of its response', stall],
  ])('it %s, in a batch', async (_, behave) => {
    pair.first.behave = behave
    const response = post(pair.rpcUrl, `[${[1, 2, 3].map((id) => toCall(id, 'eth_call', [id])).join(',')}]`)
    await until(() => pair.first.bodies.length === 1)
    pass(timeoutMs / 2)
    expect((await response).text).toBe(`[${[1, 2, 3].map(second).join(',')}]`)
    // As one batch: single calls would need more time than is left.
    expect(pair.second.bodies.length).toBe(1)
  })

  test('it fails late: the next gets half of the time that is left', async () => {
    const nodes: FakeUpstream[] = []
    for (let count = 0; count < 3; count += 1) nodes.push(await startFakeUpstream(chainIds.testnet))
    const bounds = { upstreamTimeoutMs: timeoutMs }
    const started = await startGateway({ testnet: nodes.map(({ url }) => url) }, { bounds })
    toStop.push(...nodes.map(({ stop }) => stop), () => closeAtOnce(started))
    const sent = (): number[] => nodes.map(({ bodies }) => bodies.length)
    let fail = (): void => {}
    nodes[0]!.behave = (call, response) => {
      fail = () => response.end(error(-32000, 'missing trie node')(call, response))
      return undefined
    }
    nodes[1]!.behave = hang
    nodes[2]!.behave = fromSecond
    const rpcUrl = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
    const response = post(rpcUrl, toCall(1))
    await until(() => String(sent()) === '1,0,0')
    pass(timeoutMs / 2 - 10)
    fail()
    await until(() => String(sent()) === '1,1,0')
    pass(timeoutMs / 4)
    // By the time another call has its response, one to the third node would have arrived.
    nodes[0]!.behave = fromSecond
    await post(rpcUrl, toCall(2, 'eth_gasPrice', []))
    expect(sent()).toEqual([2, 1, 0])
    pass(10)
    expect((await response).text).toBe(second(1))
  })

  test.each([nodeStates.otherChain, nodeStates.farBehind])('$name', async (state: NodeFailure) => {
    const other = await startPair(state)
    expect((await post(other.rpcUrl, createCall(state, 1))).text).toBe(second(1))
    expect((await post(other.rpcUrl, createBatch(state))).text).toBe(`[${[1, 2, 3].map(second).join(',')}]`)
    expect(other.first.bodies.length).toBe(0)
  })

  test('it is a little behind', async () => {
    const other = await startPair(nodeStates.littleBehind)
    other.first.behave = nodeStates.littleBehind.behave
    expect((await post(other.rpcUrl, createCall(nodeStates.littleBehind, 1))).text).toBe(second(1))
  })
})

describe('the caller gets the response of the second node after a failure that was reported elsewhere:', () => {
  const solved = heldOutNodeFailures.filter(({ limitation, behave }) => limitation === undefined && behave !== stall)
  const forms = ['single', 'batch'] as const
  test.each(solved.flatMap((failure) => forms.map((form) => ({ ...failure, form }))))(
    '$name, $form',
    async ({ form, ...failure }) => {
      const reported = await startPair(failure)
      reported.first.behave = failure.behave
      const { text } = await post(reported.rpcUrl, form === 'single' ? createCall(failure, 1) : createBatch(failure))
      expect(text).toBe(form === 'single' ? second(1) : `[${[1, 2, 3].map(second).join(',')}]`)
    },
  )
})

describe('an error that every node would send is final:', () => {
  test.each([
    ['a revert', 3, 'execution reverted: nope', '0x08c379a0'],
    ['a revert without code 3', -32000, 'VM Exception while processing transaction: revert', undefined],
    ['invalid params', -32602, 'invalid argument 0: hex string has length 3', undefined],
    ['a range that is too large', -32005, 'query returned more than 10000 results', undefined],
  ])('%s', async (_, code, message, data) => {
    pair.first.behave = error(code, message, data)
    const expected = { code, message, ...(data === undefined ? {} : { data }) }
    const method = code === -32005 ? 'eth_getLogs' : 'eth_call'
    const single = await post(pair.rpcUrl, toCall(1, method))
    const batch = await post(pair.rpcUrl, `[${toCall(1, method, [1])},${toCall(2, method, [2])}]`)
    expect(JSON.parse(single.text)).toEqual({ jsonrpc: '2.0', id: 1, error: expected })
    expect(JSON.parse(batch.text)).toEqual([1, 2].map((id) => ({ jsonrpc: '2.0', id, error: expected })))
    expect(pair.second.bodies.length).toBe(0)
  })

  test('also if its status is 500', async () => {
    pair.first.behave = (call, response) => {
      response.statusCode = 500
      return error(3, 'execution reverted')(call, response)
    }
    const response = await post(pair.rpcUrl, toCall(1))
    expect([response.status, JSON.parse(response.text)]).toMatchObject([200, { error: { code: 3 } }])
    expect(pair.second.bodies.length).toBe(0)
  })
})

describe('only the calls of a batch that failed', () => {
  test('are sent to the second node, together', async () => {
    pair.first.behave = (call, response) =>
      (call.params as number[])[0]! % 2 === 0
        ? result(call, '"first"')
        : error(-32000, 'missing trie node')(call, response)
    const calls = [1, 2, 3, 4].map((id) => toCall(id, 'eth_call', [id]))
    const response = await post(pair.rpcUrl, `[${calls.join(',')}]`)
    expect((JSON.parse(response.text) as { result: string }[]).map((one) => one.result)).toEqual([
      'second',
      'first',
      'second',
      'first',
    ])
    expect(pair.second.bodies.map((body) => (JSON.parse(body) as SeenCall[]).map(({ params }) => params))).toEqual([
      [[1], [3]],
    ])
  })

  test('and the nulls among them are confirmed with them', async () => {
    const hash = newHash()
    pair.first.behave = (call, response) =>
      call.method === 'eth_call' ? error(-32000, 'missing trie node')(call, response) : nothing(call, response)
    pair.second.behave = (call, response) =>
      call.method === 'eth_getTransactionByHash' ? nothing(call, response) : fromSecond(call, response)
    // Without a block of which the gateway would remember that the first node lacks its state.
    const read = toCall(1, 'eth_call', [{}, 'latest'])
    const body = `[${read},${toCall(2, 'eth_getTransactionReceipt', [hash])},${toCall(3, 'eth_getTransactionByHash', [hash])}]`
    const expected = `[${second(1)},${second(2)},{"jsonrpc":"2.0","id":3,"result":null}]`
    expect((await post(pair.rpcUrl, body)).text).toBe(expected)
    expect(counts()).toEqual([1, 1])
    // The second time the null of the third call is known.
    expect((await post(pair.rpcUrl, body)).text).toBe(expected)
    const seen = pair.second.bodies.map((text) => (JSON.parse(text) as SeenCall[]).map(({ method }) => method))
    expect(seen[1]?.toSorted()).toEqual(['eth_call', 'eth_getTransactionReceipt'])
  })

  test('get the most informative error if no node has a result', async () => {
    pair.first.behave = error(-32000, 'missing trie node')
    pair.second.behave = whole(500, 'oops')
    const response = await post(pair.rpcUrl, `[${toCall(1, 'eth_call', [1])},${toCall(2, 'eth_call', [2])}]`)
    for (const one of JSON.parse(response.text) as unknown[])
      expect(one).toMatchObject({ error: { message: 'missing trie node' } })
  })
})

describe('if both nodes fail', () => {
  const missing = error(-32000, 'missing trie node')
  const throttled = error(429, 'too many requests')
  const badKey = error(-32016, 'invalid API key')
  test.each([
    { what: 'missing data and throttled', behave: [missing, throttled], message: 'missing trie node' },
    { what: 'throttled and missing data', behave: [throttled, missing], message: 'missing trie node' },
    { what: 'no JSON and a bad key', behave: [whole(200, '<html>'), badKey], message: 'invalid API key' },
    { what: 'a bad key and 429', behave: [badKey, whole(429, '')], message: 'Upstream is busy' },
    { what: 'missing data and a revert', behave: [missing, error(3, 'reverted')], message: 'reverted' },
  ] as const)('with $what, the caller gets the most informative error', async ({ behave, message }) => {
    pair.first.behave = behave[0]
    pair.second.behave = behave[1]
    expect(JSON.parse((await post(pair.rpcUrl, toCall(1))).text)).toMatchObject({ error: { message } })
    expect(counts()).toEqual([1, 1])
  })

  test('and the second hangs, the caller gets the error of the first when the time is up', async () => {
    pair.first.behave = error(-32000, 'missing trie node')
    pair.second.behave = hang
    const response = post(pair.rpcUrl, toCall(1))
    await until(() => pair.second.bodies.length === 1)
    pass(timeoutMs)
    expect(JSON.parse((await response).text)).toMatchObject({ error: { message: 'missing trie node' } })
  })

  test("a null is better than the second node's error", async () => {
    pair.first.behave = nothing
    pair.second.behave = error(-32000, 'flux compensator')
    expect((await post(pair.rpcUrl, toCall(1, 'eth_getTransactionReceipt', [newHash()]))).text).toContain(
      '"result":null',
    )
  })
})

describe('null', () => {
  let hash: string
  const receipt = (id: number): string => toCall(id, 'eth_getTransactionReceipt', [hash])
  beforeEach(() => {
    hash = newHash()
    pair.first.behave = nothing
    pair.second.behave = nothing
  })

  test('is confirmed once for each head, however often a caller polls', async () => {
    for (let poll = 0; poll < 5; poll += 1) expect((await post(pair.rpcUrl, receipt(1))).text).toContain('null')
    expect(counts()).toEqual([5, 1])
    expect((await post(pair.rpcUrl, `[${receipt(1)},${toCall(2, 'eth_blobBaseFee', [])}]`)).text).toContain('null')
    expect(counts()).toEqual([6, 1])
    for (const upstream of [pair.first, pair.second]) upstream.head = head + 1
    pair.second.behave = fromSecond
    // The gateway reads the heads every five seconds.
    let text = ''
    while (!text.includes('second')) {
      pass(500)
      ;({ text } = await post(pair.rpcUrl, receipt(1)))
    }
    expect(text).toBe(second(1))
  })

  test('is not confirmed by a node that is behind, except if that has the block too', async () => {
    const behind = await startPair({ head: head + 2 })
    behind.first.behave = nothing
    await post(behind.rpcUrl, receipt(1))
    await post(behind.rpcUrl, toCall(1, 'eth_getBlockByNumber', ['latest', false]))
    expect(behind.second.bodies.length).toBe(0)
    expect((await post(behind.rpcUrl, toCall(1, 'eth_getBlockByNumber', ['0x64', false]))).text).toBe(second(1))
  })

  const forms = [
    ['a call', () => receipt(1)],
    ['a batch', () => `[${receipt(1)},${toCall(2, 'eth_getTransactionReceipt', [newHash()])}]`],
  ] as const
  test.each(forms)('is returned after two seconds at most if the second node hangs, in %s', async (_, toBody) => {
    pair.second.behave = hang
    const response = post(pair.rpcUrl, toBody())
    await until(() => pair.second.bodies.length === 1)
    pass(Math.min(timeoutMs, 2_000))
    expect((await response).text).toContain('null')
  })

  test.each(forms)('waits only once for another node to confirm it, in %s', async (_, toBody) => {
    const nodes = [await startFakeUpstream(chainIds.testnet), await startFakeUpstream(chainIds.testnet), pair.first]
    const started = await startGateway(
      { testnet: nodes.map(({ url }) => url) },
      { bounds: { upstreamTimeoutMs: 9_000 } },
    )
    toStop.push(...nodes.slice(0, 2).map(({ stop }) => stop), () => closeAtOnce(started))
    nodes[0]!.behave = nothing
    nodes[1]!.behave = hang
    const response = post(getApiKeyUrl(started.url, 'testnet', started.testnetKey), toBody())
    await until(() => nodes[1]!.bodies.length === 1)
    pass(2_000)
    expect((await response).text).toContain('null')
    expect(pair.first.bodies.length).toBe(0)
  })

  test('of a tracer is not confirmed', async () => {
    expect(
      (await post(pair.rpcUrl, toCall(1, 'debug_traceCall', [{}, '0x64', { tracer: 'prestateTracer' }]))).text,
    ).toContain('null')
    expect(counts()).toEqual([1, 0])
  })
})

describe('an impossible null', () => {
  const calls: readonly (readonly [string, unknown[]])[] = [
    ['eth_blockNumber', []],
    ['eth_call', [{}, 'latest']],
    ['eth_getBalance', ['0x00', 'latest']],
    ['eth_getCode', ['0x00', 'latest']],
    ['eth_gasPrice', []],
    ['eth_getLogs', [{}]],
    ['eth_getProof', ['0x00', [], '0x60']],
    ['eth_syncing', []],
    ['net_version', []],
  ]
  const batch = (method: string, params: readonly unknown[]): string =>
    `[${[1, 2, 3].map((id) => toCall(id, method, [...params, id])).join(',')}]`

  // forwardCall and forwardBatch each decide where a call goes next.
  test.each(calls)('of %s is retried on the second node, alone and in a batch', async (method, params) => {
    pair.first.behave = nothing
    pair.second.behave = (call) => result(call, '"0xabc"')
    expect((await post(pair.rpcUrl, toCall(1, method, params))).text).toContain('"0xabc"')
    const { text } = await post(pair.rpcUrl, batch(method, params))
    expect((JSON.parse(text) as { result: unknown }[]).map((one) => one.result)).toEqual(['0xabc', '0xabc', '0xabc'])
  })

  test.each(calls)('of %s that all nodes send is passed on, alone and in a batch', async (method, params) => {
    pair.first.behave = nothing
    pair.second.behave = nothing
    expect((await post(pair.rpcUrl, toCall(1, method, params))).text).toBe('{"jsonrpc":"2.0","id":1,"result":null}')
    const { text } = await post(pair.rpcUrl, batch(method, params))
    expect((JSON.parse(text) as { result: unknown }[]).map((one) => one.result)).toEqual([null, null, null])
  })

  test('of a write is passed on', async () => {
    pair.first.behave = nothing
    expect((await post(pair.rpcUrl, toCall(1, 'eth_sendRawTransaction', ['0x00']))).text).toContain('null')
    expect(counts()).toEqual([1, 0])
  })
})

describe('a raw transaction', () => {
  test.each<[string, Behaviour, number]>([
    ['that was rejected for the rate', error(-32005, 'daily request count exceeded'), 1],
    ['with 429', whole(429, ''), 1],
    ['with 401', whole(401, ''), 1],
    ['to a node without the method', error(-32601, 'method not found'), 1],
    ['that may have been relayed', error(-32000, 'failed to forward the transaction'), 0],
    ['with an internal error', error(-32603, 'Internal error'), 0],
    ['with 500', whole(500, ''), 0],
    ['with 503', whole(503, ''), 0],
    ['that is known', error(-32000, 'already known'), 0],
    ['with a low nonce', error(-32000, 'nonce too low'), 0],
    ['with a reset', reset, 0],
  ])('%s is sent to the second node only if the first cannot have it', async (_, behave, count) => {
    pair.first.behave = behave
    await post(pair.rpcUrl, toCall(1, 'eth_sendRawTransaction', ['0x00']))
    expect(counts()).toEqual([1, count])
  })

  test('that the second node may have run is not reported as rejected by the first', async () => {
    pair.first.behave = error(-32005, 'daily request count exceeded')
    pair.second.behave = whole(502, '')
    const response = await post(pair.rpcUrl, toCall(1, 'eth_sendRawTransaction', ['0x00']))
    expect([response.status, JSON.parse(response.text)]).toMatchObject([
      502,
      { error: { data: { reason: 'upstream_bad' } } },
    ])
  })
})
