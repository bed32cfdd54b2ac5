import { inspect } from 'node:util'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createApiKey, getApiKeyUrl } from '../src/index.ts'
import type { TestOptions } from './createTestGateway.ts'
import { until } from './controlTime.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { createBudget } from '../src/proxy/upstream/health/createBudget.ts'
import { queryUpstream } from '../src/proxy/upstream/queryUpstream.ts'
import { createUpstream } from '../src/proxy/upstream/createUpstream.ts'
import type { UpstreamResponse } from '../src/proxy/upstream/postRequest.ts'
import { createLocalLimits } from '../src/usage/limits/createLocalLimits.ts'
import { createPermits } from '../src/usage/limits/createPermits.ts'
import type { PermitStore } from '../src/usage/limits/createPermits.ts'
import type { UsageLimits } from '../src/usage/limits/usageLimits.ts'
import { chainIds, unreachableUrl, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

type NetworkInput = TestOptions['networks'][string]
type UpstreamInput = Exclude<NonNullable<NetworkInput['upstreams']>[number], string>

interface Started extends StartedGateway {
  readonly nodes: readonly FakeUpstream[]
  /** Sends a call. @returns The text of the response, and its status. */
  readonly send: (method?: string, params?: string, key?: string) => Promise<{ status: number; text: string }>
  /** How many requests each node got since the last time. */
  readonly takeCounts: () => readonly number[]
  readonly toOptions: (upstreams: readonly Partial<UpstreamInput>[]) => Pick<TestOptions, 'networks'>
}

const upstreamTimeoutMs = 60_000

/** Starts a gateway in front of one node for each of the options. The nodes respond with their letter. */
const start = async (
  upstreams: readonly Partial<UpstreamInput>[],
  network: Partial<NetworkInput> = {},
  prepare?: (nodes: readonly FakeUpstream[]) => void,
  permits?: PermitStore,
): Promise<Started> => {
  const nodes = await Promise.all(upstreams.map(() => startFakeUpstream(chainIds.testnet)))
  for (const [index, node] of nodes.entries()) {
    node.behave = respondWith('abc'[index] ?? '')
    onTestFinished(node.stop)
  }
  prepare?.(nodes)
  const toOptions: Started['toOptions'] = (given) => ({
    networks: {
      testnet: {
        chainId: chainIds.testnet,
        upstreams: given.map((one, index) => ({ url: nodes[index]?.url ?? '', name: 'abc'[index] ?? '', ...one })),
        ...network,
      },
      mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
    },
  })
  const started = await startGateway(
    { testnet: [] },
    { ...toOptions(upstreams), services: { debug: true, trace: true }, bounds: { upstreamTimeoutMs }, permits },
  )
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  let calls = 0
  const send: Started['send'] = (method = 'eth_call', params, key = started.testnetKey) => {
    calls += 1
    return post(
      getApiKeyUrl(started.url, 'testnet', key),
      `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params ?? `[{"nonce":${calls}},"latest"]`}}`,
    )
  }
  const takeCounts = (): readonly number[] => nodes.map(({ bodies }) => bodies.splice(0).length)
  return { ...started, nodes, send, takeCounts, toOptions }
}
const respondWith =
  (name: string): Behaviour =>
  (call) =>
    result(call, `"${name}"`)
const fail =
  (code: number, message: string): Behaviour =>
  (call) =>
    `{"jsonrpc":"2.0","id":${call.id},"error":{"code":${code},"message":"${message}"}}`
const hang: Behaviour = () => undefined

describe('load balancing', () => {
  test('in order sends all calls to the first node', async () => {
    const { send, takeCounts } = await start([{}, {}])
    await Promise.all(Array.from({ length: 20 }, () => send()))
    expect(takeCounts()).toEqual([20, 0])
  })

  test('spread shares concurrent calls', async () => {
    const { nodes, send, takeCounts } = await start([{}, {}], { loadBalancing: 'spread' })
    const waiting: (() => void)[] = []
    for (const node of nodes)
      node.behave = (call, response) => {
        waiting.push(() => response.end(result(call, '"0x1"')))
        return undefined
      }
    const sent = Promise.all(Array.from({ length: 40 }, () => send()))
    await until(() => waiting.length === 40)
    for (const respond of waiting) respond()
    await sent
    // How many exactly depends on the latency of their probes.
    expect(Math.min(...takeCounts())).toBeGreaterThan(0)
  })

  test('sends a key’s reads to the node that took its write, and others to the best node', async () => {
    const upstreams = [{}, { weight: 1_000, denyMethods: ['eth_sendRawTransaction'] }]
    const { keys, send, takeCounts } = await start(upstreams, { loadBalancing: 'spread' })
    const other = createApiKey('testnet')
    keys.add(other, { id: 'other', kind: 'apiKey', networks: ['testnet'], status: 'active' })
    await send()
    expect(takeCounts()).toEqual([0, 1])
    await send('eth_sendRawTransaction', '["0x00"]')
    expect(takeCounts()).toEqual([1, 0])
    for (let call = 0; call < 5; call += 1) await send()
    expect(takeCounts()).toEqual([5, 0])
    await send(undefined, undefined, other)
    expect(takeCounts()).toEqual([0, 1])
  })
})

describe('a key’s reads go to the node that may have its transaction', () => {
  const timeout = 'The transaction was added to the mempool but was not processed in time'
  test.each([
    ['knew it', 'eth_sendRawTransaction', fail(-32000, 'already known'), 'a'],
    ['waited for its receipt in vain', 'eth_sendRawTransactionSync', fail(4, timeout), 'a'],
    ['says so in other words', 'eth_sendRawTransactionSync', fail(4, 'transaction not included'), 'a'],
    ['does not say whether it has it', 'eth_sendRawTransaction', fail(-32000, 'flux compensator'), 'a'],
    ['rejected it', 'eth_sendRawTransaction', fail(-32000, 'nonce too low'), 'b'],
  ])('because it %s', async (_, method, behave, chosen) => {
    const upstreams = [{}, { weight: 1_000, denyMethods: [method] }]
    const { nodes, send } = await start(upstreams, { loadBalancing: 'spread' })
    const [first] = nodes as [FakeUpstream]
    first.behave = (call, response) => (call.method === method ? behave(call, response) : result(call, '"a"'))
    expect((await send()).text).toContain('"b"')
    await send(method, '["0x00"]')
    expect((await send()).text).toContain(`"${chosen}"`)
  })
})

describe('a node that compresses', () => {
  const text = `"${'ab'.repeat(2_000)}"`
  const compressed =
    (encoding: string, encode: (value: string) => Buffer, source = text): Behaviour =>
    (call, response) => {
      response.setHeader('content-encoding', encoding)
      response.end(encode(result(call, source)))
      return undefined
    }
  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['br, ', brotliCompressSync],
    [', gzip\t', gzipSync],
    ['gzip, identity', gzipSync],
    ['Identity ,GZip', gzipSync],
    ['deflate, gzip, br', (value: string) => brotliCompressSync(gzipSync(deflateSync(value)))],
    ['gzip', (value: string) => Buffer.concat([gzipSync(value.slice(0, 9)), gzipSync(value.slice(9))])],
    ['identity', (value: string) => Buffer.from(value)],
    ['utf-8', (value: string) => Buffer.from(value)],
  ])('with %s although it is asked not to is understood', async (encoding, encode) => {
    const { nodes, send } = await start([{}])
    const [node] = nodes as [FakeUpstream]
    node.behave = compressed(encoding, encode)
    expect((await send()).text).toContain(text)
    expect(node.headers[0]).toMatchObject({ 'accept-encoding': 'identity' })
  })

  test('more than a response may have is rejected', async () => {
    const node = await startFakeUpstream(chainIds.testnet)
    onTestFinished(node.stop)
    node.behave = compressed('gzip', gzipSync)
    const { gateway, url, testnetKey } = await startGateway(
      { testnet: [node.url] },
      { bounds: { maxResponseBytes: 2_048 } },
    )
    onTestFinished(() => gateway.close({ graceMs: 0 }))
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}'
    expect((await post(getApiKeyUrl(url, 'testnet', testnetKey), body)).text).toContain('response_too_large')
  })

  test.each([
    ['gzip', 'what is not', (value: string) => Buffer.from(value)],
    ['gzip', 'bytes after it', (value: string) => Buffer.concat([gzipSync(value), Buffer.from('\r\n')])],
    ['gzip', 'half of it', (value: string) => gzipSync(value).subarray(0, 50)],
    ['gzip, br', 'only one of them', gzipSync],
    [
      'gzip, gzip, gzip, gzip',
      'that',
      (value: string) => [1, 2, 3, 4].reduce((one) => gzipSync(one), Buffer.from(value)),
    ],
  ])('with %s but sends %s is replaced by the next one, unless the status says more', async (coding, _, encode) => {
    const { nodes, send } = await start([{}, {}])
    const [node] = nodes as [FakeUpstream]
    node.behave = compressed(coding, encode)
    expect((await send()).text).toContain('"b"')
    node.behave = (call, response) => {
      response.statusCode = 429
      response.setHeader('retry-after', '7')
      return compressed(coding, encode)(call, response)
    }
    const upstream = createUpstream(new URL(node.url))
    onTestFinished(upstream.close)
    const response = await new Promise<UpstreamResponse | undefined>((resolve) => {
      const done = (_fault: unknown, received?: UpstreamResponse): void => resolve(received)
      upstream.post({ body: '{"id":1,"method":"eth_call"}', budget: { left: 1_000_000 }, done })
    })
    expect(response).toMatchObject({ status: 429, retryAfter: '7' })
  })
})

test.each(['null', '[]'])(
  'eth_accounts with params %s is empty, alone and in a batch, and no node is asked',
  async (params) => {
    const { send, takeCounts, url, testnetKey } = await start([{}])
    expect((await send('eth_accounts', params)).text).toBe('{"jsonrpc":"2.0","id":1,"result":[]}')
    const batch = `[{"jsonrpc":"2.0","id":2,"method":"eth_accounts","params":${params}}]`
    expect((await post(getApiKeyUrl(url, 'testnet', testnetKey), batch)).text).toBe(
      '[{"jsonrpc":"2.0","id":2,"result":[]}]',
    )
    expect(takeCounts()).toEqual([0])
  },
)

test('params that are null are none', async () => {
  const { nodes, send, url, testnetKey } = await start([{}])
  await send('eth_gasPrice', 'null')
  const call = '{"jsonrpc":"2.0","id":2,"method":"eth_blobBaseFee","params":null}'
  await post(getApiKeyUrl(url, 'testnet', testnetKey), `[${call},${call}]`)
  expect(nodes[0]?.bodies.map((body) => body.includes('"params":[]'))).toEqual([true, true])
})

test('an impossible null of the only node is passed on, alone and in a batch, and the call is not retried', async () => {
  const { nodes, send, takeCounts, url, testnetKey } = await start([{}])
  const [node] = nodes as [FakeUpstream]
  node.behave = (call) => result(call, 'null')
  expect((await send()).text).toBe('{"jsonrpc":"2.0","id":1,"result":null}')
  const calls = [1, 2].map(
    (id) => `{"jsonrpc":"2.0","id":${id},"method":"eth_call","params":[{"nonce":"0x${id}"},"latest"]}`,
  )
  const { text } = await post(getApiKeyUrl(url, 'testnet', testnetKey), `[${calls.join(',')}]`)
  expect((JSON.parse(text) as { result: unknown }[]).map((one) => one.result)).toEqual([null, null])
  expect(takeCounts()).toEqual([2])
})

describe('a budget', () => {
  // Starting uses some of it: the chain id, the head and eth_syncing.
  const startQueries = 3

  test('of a day is never exceeded: the rest goes to the next node', async () => {
    const { send, takeCounts } = await start([{ maxRequestsPerDay: startQueries + 2 }, {}])
    for (let call = 0; call < 5; call += 1) expect((await send()).status).toBe(200)
    expect(takeCounts()).toEqual([2, 3])
  })

  test('of the only node rejects calls as busy, and the instance stays ready', async () => {
    const { gateway, send, takeCounts, url } = await start([{ maxRequestsPerDay: startQueries }])
    expect((await send()).status).toBe(200)
    expect(await send()).toMatchObject({ status: 503, text: expect.stringContaining('upstream_busy') as string })
    expect(takeCounts()).toEqual([1])
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ networks: ['mainnet'] })
    expect(gateway.upstreams()[0]).toMatchObject({
      status: 'overBudget',
      healthy: true,
      budgets: [{ name: 'maxRequestsPerDay', limit: startQueries, left: 0 }],
    })
  })

  test('counts each call of a batch, and calls that do not fit together are sent alone', async () => {
    const { takeCounts, url, testnetKey } = await start([{ maxRequestsPerDay: startQueries + 3 }])
    const batch = Array.from({ length: 6 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_call', params: [id] }))
    const { text } = await post(getApiKeyUrl(url, 'testnet', testnetKey), JSON.stringify(batch))
    const responses = JSON.parse(text) as { result?: string }[]
    expect(responses.filter((one) => one.result === 'a')).toHaveLength(4)
    expect(takeCounts()).toEqual([4])
  })

  test('in units counts the weights of methods', async () => {
    const { gateway, nodes, send, toOptions } = await start([{}, {}])
    await gateway.reload({
      ...toOptions([{ maxUnitsPerDay: startQueries + 100 }, {}]),
      limits: { weights: { eth_getLogs: 75 } },
    })
    for (let call = 0; call < 2; call += 1) await send('eth_getLogs', `[{"fromBlock":"0x${call}"}]`)
    expect(nodes.map(({ bodies }) => bodies.length)).toEqual([1, 1])
    await send('eth_call')
    expect(nodes.map(({ bodies }) => bodies.length)).toEqual([2, 1])
  })

  test('in units counts the weights of the node, for calls, batches and own queries, if it has any', async () => {
    const weights = { eth_call: 26, eth_getLogs: 60, '*': 0 }
    const { gateway, send, takeCounts, url, testnetKey } = await start([{ maxUnitsPerDay: 90, weights }, {}])
    const batch = Array.from({ length: 4 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_call', params: [id] }))
    await post(getApiKeyUrl(url, 'testnet', testnetKey), JSON.stringify(batch))
    expect(takeCounts()).toEqual([0, 1])
    await send('eth_getLogs', '[{"fromBlock":"0x0","toBlock":"0x0"}]')
    await send()
    expect(takeCounts()).toEqual([2, 0])
    expect(gateway.upstreams()[0]?.budgets).toEqual([{ name: 'maxUnitsPerDay', limit: 90, left: 4 }])
    await send()
    await send('eth_gasPrice', '[]')
    expect(takeCounts()).toEqual([1, 1])
  })

  test('survives a reload that changes the node', async () => {
    const { gateway, send, takeCounts, toOptions } = await start([{ maxRequestsPerDay: 10 }, {}])
    for (let call = 0; call < 5; call += 1) await send()
    takeCounts()
    await gateway.reload(toOptions([{ maxRequestsPerDay: 10, debug: false }, {}]))
    expect(gateway.upstreams()[0]?.budgets).toEqual([{ name: 'maxRequestsPerDay', limit: 10, left: 0 }])
    await send()
    expect(takeCounts()).toEqual([0, 1])
  })
})

describe('a node', () => {
  test('gets its headers with each call and each query, and its errors do not show them', async () => {
    const key = 'nodeKeyNodeKey1234'
    const { nodes, send, entries } = await start([{ headers: { Authorization: `Bearer ${key}`, 'x-team': 'wallet' } }])
    const [node] = nodes as [FakeUpstream]
    expect(node.lastHeaders).toMatchObject({ authorization: `Bearer ${key}`, 'x-team': 'wallet' })
    node.behave = fail(-32000, `flux with ${key}`)
    const { text } = await send()
    expect(node.headers[0]).toMatchObject({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })
    expect(text).toContain('flux with ***')
    expect(`${text}${inspect(entries, { depth: Infinity })}`).not.toContain(key)
  })

  test('that denies a method never gets it, alone or in a batch', async () => {
    const { send, takeCounts, url, testnetKey } = await start([{ denyMethods: ['eth_call'] }, {}])
    await send()
    await send('eth_gasPrice')
    expect(takeCounts()).toEqual([1, 1])
    const batch = ['eth_call', 'eth_gasPrice'].map((method, id) => ({ jsonrpc: '2.0', id, method, params: [] }))
    await post(getApiKeyUrl(url, 'testnet', testnetKey), JSON.stringify(batch))
    expect(takeCounts()).toEqual([0, 1])
  })

  test('without debug_ and trace_ never gets them; a method that no node offers does not exist', async () => {
    const { send, takeCounts } = await start([{ debug: false, trace: false }, { trace: false }])
    await send('debug_traceTransaction', '["0x00"]')
    expect(takeCounts()).toEqual([0, 1])
    expect((await send('trace_block', '["0x1"]')).text).toContain('"code":-32601')
    expect(takeCounts()).toEqual([0, 0])
  })

  test('without the state of a block does not get calls for it while there is another', async () => {
    const { send, takeCounts } = await start([{ earliestState: 50 }, {}])
    await send('eth_getBalance', '["0x00","0x31"]')
    await send('eth_getBalance', '["0x00","0x32"]')
    await send('eth_getBlockByNumber', '["0x31",false]')
    expect(takeCounts()).toEqual([2, 1])
  })

  test('without the state of a block gets the call if it is the only one', async () => {
    const { send } = await start([{ earliestState: 50 }])
    expect((await send('eth_getBalance', '["0x00","0x31"]')).text).toContain('"a"')
  })

  test('that reports a missing method does not get it again', async () => {
    const { nodes, send, takeCounts } = await start([{}, {}])
    const [first] = nodes as [FakeUpstream]
    first.behave = (call, response) =>
      call.method === 'eth_getProof'
        ? fail(-32601, 'the method eth_getProof does not exist/is not available')(call, response)
        : result(call, '"a"')
    const getProof = (): Promise<unknown> => send('eth_getProof', '["0x00",[],"latest"]')
    await getProof()
    expect(takeCounts()).toEqual([1, 1])
    await getProof()
    await send()
    expect(takeCounts()).toEqual([1, 1])
  })

  test('that reports missing old state does not get calls for that or older state again', async () => {
    const { nodes, send, takeCounts } = await start([{}, {}])
    const [first] = nodes as [FakeUpstream]
    first.behave = (call, response) =>
      JSON.stringify(call.params).includes('latest')
        ? result(call, '"a"')
        : fail(-32000, 'missing trie node 0a1b (path ) state 0x12 is not available')(call, response)
    await send('eth_getBalance', '["0x00","0x10"]')
    expect(takeCounts()).toEqual([1, 1])
    await send('eth_getBalance', '["0x00","0xf"]')
    expect(takeCounts()).toEqual([0, 1])
    await send('eth_getBalance', '["0x00","latest"]')
    expect(takeCounts()).toEqual([1, 0])
  })

  test.each([
    ['eth_getProof', '["0x00",[],"0x10"]', 'distance to target block exceeds maximum proof window'],
    ['eth_getBalance', '["0x00","0x10"]', 'missing trie node 0a1b (path ) state 0x12 is not available'],
  ])('that lacks something for %s of one user gets the calls of others', async (method, params, message) => {
    const { keys, nodes, send, takeCounts } = await start([{}, {}])
    const other = createApiKey('testnet')
    keys.add(other, { id: 'other', kind: 'apiKey', networks: ['testnet'], status: 'active' })
    const [first] = nodes as [FakeUpstream]
    const { behave } = first
    first.behave = fail(-32000, message)
    for (let call = 0; call < 3; call += 1) await send(method, params.replace('0x10', `0x${call}`))
    first.behave = behave
    takeCounts()
    await send('eth_getBalance', '["0x00","0x8"]', other)
    await send(method, params.replace('0x10', '0x8'), other)
    expect(takeCounts()).toEqual([2, 0])
  })

  test('that is throttled is spared, and others’ calls do not open its circuit breaker', async () => {
    const { gateway, nodes, send, takeCounts, entries } = await start([{}, {}])
    const [first] = nodes as [FakeUpstream]
    first.behave = (_, response) => void response.writeHead(429, { 'retry-after': '30' }).end('slow down')
    for (let call = 0; call < 10; call += 1) expect((await send()).status).toBe(200)
    expect(takeCounts()).toEqual([1, 10])
    expect(gateway.upstreams()[0]).toMatchObject({ status: 'throttled', healthy: true, breakerOpen: false })
    expect(entries).toContainEqual({ event: 'upstream', network: 'testnet', upstream: 'a', state: 'throttled' })
  })

  test('that is throttled is used if it is the only one', async () => {
    const { nodes, send } = await start([{}])
    const [node] = nodes as [FakeUpstream]
    node.behave = (_, response) => void response.writeHead(429, { 'retry-after': '30' }).end('slow down')
    expect((await send()).status).toBe(503)
    node.behave = respondWith('a')
    expect((await send()).status).toBe(200)
  })

  test('that syncs is used only if no other is left', async () => {
    const { gateway, nodes, send, takeCounts } = await start([{}, {}], {}, ([first]) => {
      if (first !== undefined) first.syncing = true
    })
    await send()
    expect(takeCounts()).toEqual([0, 1])
    expect(gateway.upstreams()[0]).toMatchObject({ status: 'syncing', healthy: false })
    await nodes[1]?.stop()
    expect((await send()).text).toContain('"a"')
  })
})

describe('a node that says it syncs', () => {
  test.each([
    ['0x64', '"0x64"', '"0x64"', 'a'],
    ['a higher block than it knows of', '"0x65"', '"0x64"', 'a'],
    ['numbers', '100', '100', 'a'],
    ['decimal texts', '"100"', '"100"', 'a'],
    ['a lower block', '"0x63"', '"0x64"', 'b'],
    ['no progress', 'null', 'null', 'b'],
  ])('but has %s is chosen by its head', async (_, current, highest, chosen) => {
    const { send } = await start([{}, {}], {}, ([first]) => {
      if (first !== undefined) first.syncing = `{"currentBlock":${current},"highestBlock":${highest}}`
    })
    expect((await send()).text).toContain(`"${chosen}"`)
  })

  test('and has no new block to get, but is behind, is not chosen', async () => {
    const { send } = await start([{}, {}], {}, ([first]) => {
      if (first !== undefined) Object.assign(first, { syncing: '{"currentBlock":"0x1","highestBlock":"0x1"}', head: 1 })
    })
    expect((await send()).text).toContain('"b"')
  })
})

describe('a node that lacks eth_chainId', () => {
  const writes = { allowMethods: ['eth_sendRawTransaction'] }
  const reject: FakeUpstream['behaveForQueries'] = fail(-32601, 'the method does not exist/is not available')
  const rejectWithStatus =
    (status: number, message: string): FakeUpstream['behaveForQueries'] =>
    (call, response) => {
      response.statusCode = status
      return fail(-32001, message)(call, response)
    }
  const sendTo = async (upstream: Partial<UpstreamInput>, behave = reject, chainId: number = chainIds.testnet) => {
    const started = await start([upstream, {}], {}, ([first]) =>
      Object.assign(first ?? {}, { behaveForQueries: behave, chainId }),
    )
    await started.send('eth_blockNumber', '[]')
    started.takeCounts()
    return { ...started, text: (await started.send('eth_sendRawTransaction', '["0x00"]')).text }
  }

  test('because it only takes transactions gets them, also from a key that has seen a block', async () => {
    const { text, send, takeCounts } = await sendTo(writes)
    expect(text).toContain('"a"')
    expect(takeCounts()).toEqual([1, 0])
    await send()
    expect(takeCounts()).toEqual([0, 1])
  })

  test.each([
    ['with 403', rejectWithStatus(403, 'rpc method is not whitelisted')],
    ['as an invalid request', fail(-32600, 'unsupported')],
    ['as forbidden', fail(-32000, 'permission denied')],
  ])('and says so %s gets them too', async (_, behave) => {
    expect((await sendTo(writes, behave)).text).toContain('"a"')
  })

  test.each<[string, Partial<UpstreamInput>, FakeUpstream['behaveForQueries'], number]>([
    ['should have the method', {}, reject, chainIds.testnet],
    ['does not respond as a node', writes, (_, response) => void response.writeHead(500).end('oops'), chainIds.testnet],
    ['is on another chain', writes, () => undefined, 5],
  ])('but %s is not used', async (_, upstream, behave, chainId) => {
    expect((await sendTo(upstream, behave, chainId)).text).not.toContain('"a"')
  })
})

test('a hedge after the 95th percentile of the node waits for 128 calls, and then for no longer than they took', async () => {
  const { nodes, send, takeCounts } = await start([{}, {}], { hedgeMs: 'p95' })
  for (let call = 0; call < 128; call += 1) await send()
  expect(takeCounts()[0]).toBe(128)
  const [first] = nodes as [FakeUpstream]
  first.behave = hang
  const startedAt = performance.now()
  expect((await send()).text).toContain('"b"')
  // Without it, the second node would get the call after half of the timeout.
  expect(performance.now() - startedAt).toBeLessThan(upstreamTimeoutMs / 2)
})

test('the state of a node has its calls by outcome, its head and its lag', async () => {
  const { gateway, nodes, send } = await start([{}, {}], {}, ([, second]) => {
    if (second !== undefined) second.head = 97
  })
  const [first] = nodes as [FakeUpstream]
  await send()
  first.behave = fail(3, 'execution reverted')
  await send()
  const [one, two] = gateway.upstreams()
  expect([...(one?.outcomes ?? [])]).toEqual([
    ['result', 1],
    ['revert', 1],
  ])
  expect(one).toMatchObject({ upstream: 'a', status: 'healthy', head: 100, lag: 0, inFlight: 0, budgets: [] })
  expect(one?.latencyMs).toBeGreaterThan(0)
  expect(two).toMatchObject({ upstream: 'b', status: 'healthy', head: 97, lag: 3 })
})

describe('a budget whose permits are drawn one at a time', () => {
  /** The store of other instances decides a turn later, and a limit of 1,000 has blocks of one call. */
  const createSlowPermits = (): PermitStore => {
    const limits = createLocalLimits()
    const take: UsageLimits['take'] = async (request) => {
      await new Promise((resolve) => setImmediate(resolve))
      return limits.take(request)
    }
    return createPermits({ limits: { take, giveBack: limits.giveBack, close: limits.close } })
  }
  const day = { maxRequestsPerDay: 1_000 }

  test('lets confirmed reads wait', async () => {
    const { send } = await start(
      [day, day],
      { confirm: [{ methods: ['eth_call'], nodes: 2 }] },
      (nodes) => {
        for (const node of nodes) node.behave = respondWith('same')
      },
      createSlowPermits(),
    )
    const sent = await Promise.all(Array.from({ length: 20 }, () => send('eth_call', '[{"to":"0x00"},"0x1"]')))
    expect(sent.map(({ text }) => text)).toEqual(sent.map(() => expect.stringContaining('"same"') as string))
  })

  test('lets a confirmed read wait for a node that replaces another', async () => {
    const { send } = await start(
      [{}, {}, day],
      { confirm: [{ methods: ['eth_call'], nodes: 2 }] },
      (nodes) => {
        for (const node of nodes) node.behave = respondWith('same')
        if (nodes[0]) nodes[0].behave = fail(-32_603, 'internal error')
      },
      createSlowPermits(),
    )
    const sent = await Promise.all(Array.from({ length: 10 }, () => send('eth_call', '[{"to":"0x00"},"0x1"]')))
    expect(sent.map(({ text }) => text)).toEqual(sent.map(() => expect.stringContaining('"same"') as string))
  })

  test('lets calls wait that failed at the node before', async () => {
    const { send, takeCounts } = await start(
      [{}, day],
      {},
      ([first]) => {
        if (first) first.behave = fail(-32_603, 'internal error')
      },
      createSlowPermits(),
    )
    const sent = await Promise.all(Array.from({ length: 20 }, () => send()))
    expect(sent.map(({ text }) => text)).toEqual(sent.map(() => expect.stringContaining('"b"') as string))
    expect(takeCounts()[1]).toBe(20)
  })

  test('lets a batch wait that failed at the node before', async () => {
    const { takeCounts, url, testnetKey } = await start(
      [{}, day],
      {},
      ([first]) => {
        if (first) first.behave = (_, response) => void response.destroy()
      },
      createSlowPermits(),
    )
    const batch = Array.from({ length: 6 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_call', params: [id] }))
    const { text } = await post(getApiKeyUrl(url, 'testnet', testnetKey), JSON.stringify(batch))
    expect((JSON.parse(text) as { result?: string }[]).map((one) => one.result)).toEqual(batch.map(() => 'b'))
    expect(takeCounts()).toEqual([1, 1])
  })

  test('lets the logs wait that are split again at the next node', async () => {
    const { send } = await start(
      [{}, day],
      { splitLogs: true },
      (nodes) => {
        for (const [index, node] of nodes.entries())
          node.behave = (call, response) => {
            if (call.method !== 'eth_getLogs')
              return result(call, `{"number":"${(call.params as [string])[0]}","hash":"0x${'1'.repeat(64)}"}`)
            const [{ fromBlock, toBlock }] = call.params as [{ fromBlock: string; toBlock: string }]
            if (index === 0) return fail(-32_005, 'query returned more than 10000 results')(call, response)
            return fromBlock === toBlock
              ? result(call, '[]')
              : fail(-32_005, 'query returned more than 10000 results')(call, response)
          }
      },
      createSlowPermits(),
    )
    const sent = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        send('eth_getLogs', `[{"fromBlock":"0x${index}","toBlock":"0x${index + 1}"}]`),
      ),
    )
    expect(sent.map(({ text }) => text)).toEqual(sent.map(() => expect.stringContaining('"result":[]') as string))
  })

  test('has room while nothing is drawn, as the status of the node says', async () => {
    const permits = createSlowPermits()
    let isEmpty = false
    const { gateway } = await start([day], {}, undefined, {
      close: permits.close,
      get: (...args) => {
        const each = permits.get(...args)
        return { ...each, has: (units) => !isEmpty && each.has(units) }
      },
    })
    isEmpty = true
    expect(gateway.upstreams()[0]?.status).toBe('healthy')
  })

  test('lets checks of an idle node wait', async () => {
    const node = await startFakeUpstream(chainIds.testnet)
    onTestFinished(node.stop)
    const budget = createBudget(day, { permits: createSlowPermits() })
    const upstream = createUpstream(new URL(node.url), { budget })
    onTestFinished(upstream.close)
    const query = { method: 'eth_chainId', params: '[]' }
    // Both want the permits that are drawn for one.
    const results = await Promise.all([1, 2].map(async () => queryUpstream(upstream, query, upstreamTimeoutMs)))
    expect(results).toEqual([1, 2].map(() => expect.objectContaining({ member: 'result' }) as unknown))
  })
})
