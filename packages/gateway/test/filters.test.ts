import { describe, expect, onTestFinished, test } from 'vitest'
import { getApiKeyUrl, getAppUrl } from '../src/index.ts'
import type { TestOptions } from './createTestGateway.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

/** A node whose filter ids count up, as with many nodes. The only match of a filter is its id. */
const createFilterNode = (): { behave: Behaviour; filters: Set<string> } => {
  const filters = new Set<string>()
  let last = 0
  const behave: Behaviour = (call) => {
    const [id = ''] = call.params as string[]
    if (call.method.startsWith('eth_new')) {
      last += 1
      filters.add(`0x${last.toString(16)}`)
      return result(call, `"0x${last.toString(16)}"`)
    }
    if (call.method === 'eth_uninstallFilter') return result(call, String(filters.delete(id)))
    if (filters.has(id)) return result(call, `["${id}"]`)
    return `{"jsonrpc":"2.0","id":${call.id},"error":{"code":-32000,"message":"filter not found"}}`
  }
  return { behave, filters }
}

const startFake = async (chainId: number = chainIds.testnet): Promise<FakeUpstream & { filters: Set<string> }> => {
  const upstream = await startFakeUpstream(chainId)
  onTestFinished(upstream.stop)
  const { behave, filters } = createFilterNode()
  return Object.assign(upstream, { behave, filters })
}

interface RpcResponse {
  readonly result?: unknown
  readonly error?: unknown
}
type Call = (method: string, ...params: unknown[]) => Promise<RpcResponse>
const callAt =
  (rpcUrl: string): Call =>
  async (method, ...params) => {
    const { text } = await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const { result: value, error } = JSON.parse(text) as RpcResponse
    return error === undefined ? { result: value } : { error }
  }

const start = async (
  upstreams: readonly FakeUpstream[],
  options: Partial<TestOptions> = {},
  mainnet: readonly FakeUpstream[] = [],
): Promise<{ started: StartedGateway; mine: Call; theirs: Call; onMainnet: Call }> => {
  const urls = { testnet: upstreams.map(({ url }) => url), mainnet: mainnet.map(({ url }) => url) }
  const started = await startGateway(mainnet.length === 0 ? { testnet: urls.testnet } : urls, options)
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  return {
    started,
    mine: callAt(getApiKeyUrl(started.url, 'testnet', started.testnetKey)),
    theirs: callAt(getAppUrl(started.url, 'testnet', started.app)),
    onMainnet: callAt(getAppUrl(started.url, 'mainnet', started.app)),
  }
}
const createFilter = async (call: Call, method = 'eth_newBlockFilter'): Promise<string> =>
  String((await call(method)).result)
const notFound = { error: { code: -32000, message: 'filter not found' } }

describe('a filter', () => {
  test.each(['eth_newFilter', 'eth_newBlockFilter', 'eth_newPendingTransactionFilter'])(
    'of %s has an id of 128 random bits, with which it works',
    async (method) => {
      const upstream = await startFake()
      const { mine } = await start([upstream])
      const [one, other] = [await createFilter(mine, method), await createFilter(mine, method)]
      for (const id of [one, other]) expect(id).toMatch(/^0x[0-9a-f]{32}$/)
      expect(one).not.toBe(other)
      expect(await mine('eth_getFilterChanges', one)).toEqual({ result: ['0x1'] })
      expect(await mine('eth_getFilterLogs', other)).toEqual({ result: ['0x2'] })
      expect(await mine('eth_getFilterChanges', other.toUpperCase().replace('0X', '0x'))).toEqual({ result: ['0x2'] })
      expect(await mine('eth_uninstallFilter', one)).toEqual({ result: true })
      expect(await mine('eth_uninstallFilter', one)).toEqual({ result: false })
      expect(await mine('eth_getFilterChanges', one)).toEqual(notFound)
      expect([...upstream.filters]).toEqual(['0x2'])
    },
  )

  test("of another key, or with a node's own id, is not found, without a call to a node", async () => {
    const upstream = await startFake()
    const { mine, theirs } = await start([upstream])
    const id = await createFilter(mine)
    upstream.bodies.length = 0
    for (const wrong of [id, '0x1', `0x${'0'.repeat(32)}`, 1, null, ['0x1']]) {
      expect(await theirs('eth_getFilterChanges', wrong)).toEqual(notFound)
      expect(await theirs('eth_getFilterLogs', wrong)).toEqual(notFound)
      expect(await theirs('eth_uninstallFilter', wrong)).toEqual({ result: false })
    }
    expect(await mine('eth_getFilterChanges')).toEqual(notFound)
    expect(upstream.bodies).toEqual([])
    expect(await mine('eth_getFilterChanges', id)).toEqual({ result: ['0x1'] })
  })

  test('that was created under former settings of its key is not found, and is removed from its node; its caller can remove it too', async () => {
    const upstream = await startFake()
    const { started, mine } = await start([upstream])
    const record = { id: 'key_filters', kind: 'apiKey', networks: ['testnet'], status: 'active' } as const
    started.keys.add(started.testnetKey, { ...record, version: 1 })
    const [read, removed] = [await createFilter(mine), await createFilter(mine)]
    expect(await mine('eth_getFilterChanges', read)).toEqual({ result: ['0x1'] })
    started.keys.add(started.testnetKey, { ...record, version: 2 })
    expect(await mine('eth_getFilterChanges', read)).toEqual(notFound)
    expect(await mine('eth_getFilterLogs', read)).toEqual(notFound)
    await expect.poll(() => [...upstream.filters]).toEqual(['0x2'])
    expect(await mine('eth_uninstallFilter', removed)).toEqual({ result: true })
    expect([...upstream.filters]).toEqual([])
    expect(await mine('eth_getFilterChanges', await createFilter(mine))).toEqual({ result: ['0x3'] })
  })

  test('of another network is not found', async () => {
    const [testnet, mainnet] = [await startFake(), await startFake(chainIds.mainnet)]
    const { theirs, onMainnet } = await start([testnet], {}, [mainnet])
    const id = await createFilter(theirs)
    await createFilter(onMainnet)
    expect(await onMainnet('eth_getFilterChanges', id)).toEqual(notFound)
    expect(await theirs('eth_getFilterChanges', id)).toEqual({ result: ['0x1'] })
  })

  test('is read from the node that created it, also when another one is preferred again', async () => {
    const [first, second] = [await startFake(), await startFake()]
    first.head = 10
    second.head = 100
    const { mine } = await start([first, second])
    const id = await createFilter(mine)
    expect([first.filters.size, second.filters.size]).toEqual([0, 1])
    first.head = 100
    await expect
      .poll(async () => {
        await mine('eth_blockNumber')
        return first.bodies.length
      })
      .toBeGreaterThan(0)
    expect(await mine('eth_getFilterChanges', id)).toEqual({ result: ['0x1'] })
    expect(first.bodies.some((body) => body.includes('Filter'))).toBe(false)
  })

  test('whose node is down is not found if there is another node, which creates the next one', async () => {
    const [first, second] = [await startFake(), await startFake()]
    const { mine } = await start([first, second])
    const id = await createFilter(mine)
    await first.stop()
    await mine('eth_gasPrice')
    expect(await mine('eth_getFilterChanges', id)).toEqual(notFound)
    expect(await mine('eth_getFilterChanges', await createFilter(mine))).toEqual({ result: ['0x1'] })
    expect(second.filters.size).toBe(1)
  })

  test('whose only node is down gets no_upstream', async () => {
    const upstream = await startFake()
    const { mine } = await start([upstream])
    const id = await createFilter(mine)
    await upstream.stop()
    await mine('eth_gasPrice')
    expect(await mine('eth_getFilterChanges', id)).toMatchObject({ error: { data: { reason: 'no_upstream' } } })
  })

  test("that the node does not create gets the node's error", async () => {
    const upstream = await startFake()
    upstream.behave = (call) => `{"jsonrpc":"2.0","id":${call.id},"error":{"code":-32601,"message":"no filters"}}`
    const { mine } = await start([upstream])
    expect(await mine('eth_newBlockFilter')).toEqual({ error: { code: -32601, message: 'no filters' } })
  })

  test.each(['null', '{"id":1}', '["0x1"]', String.raw`"\u0031"`])(
    'with the id %s from the node is a bad response',
    async (value) => {
      const upstream = await startFake()
      upstream.behave = (call) => result(call, value)
      const { mine } = await start([upstream])
      expect(await mine('eth_newBlockFilter')).toMatchObject({ error: { data: { reason: 'upstream_bad' } } })
    },
  )

  test('too many for one key evicts the least recently used one of this key, at the node too', async () => {
    const upstream = await startFake()
    const { mine, theirs } = await start([upstream], { bounds: { maxFilters: 3 } })
    const other = await createFilter(theirs)
    const ids = [await createFilter(mine), await createFilter(mine), await createFilter(mine)]
    await mine('eth_getFilterChanges', ids[0])
    const fourth = await createFilter(mine)
    expect(await mine('eth_getFilterChanges', ids[1])).toEqual(notFound)
    for (const id of [ids[0], ids[2], fourth]) expect(await mine('eth_getFilterChanges', id)).toHaveProperty('result')
    expect(await theirs('eth_getFilterChanges', other)).toHaveProperty('result')
    await expect.poll(() => [...upstream.filters]).toEqual(['0x1', '0x2', '0x4', '0x5'])
  })

  test('works in a batch, in the order of the calls', async () => {
    const upstream = await startFake()
    const { started, mine } = await start([upstream])
    const id = await createFilter(mine)
    const calls = [
      ['eth_getFilterChanges', id],
      ['eth_getFilterLogs', id],
      ['eth_getFilterChanges', '0x1'],
      ['eth_uninstallFilter', id],
      ['eth_getFilterChanges', id],
    ]
    const { text } = await post(
      getApiKeyUrl(started.url, 'testnet', started.testnetKey),
      JSON.stringify(calls.map(([method, param], index) => ({ jsonrpc: '2.0', id: index, method, params: [param] }))),
    )
    expect((JSON.parse(text) as RpcResponse[]).map((response) => response.result ?? response.error)).toEqual([
      ['0x1'],
      ['0x1'],
      notFound.error,
      true,
      notFound.error,
    ])
  })
})
