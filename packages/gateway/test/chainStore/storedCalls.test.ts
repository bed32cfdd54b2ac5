import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { getApiKeyUrl } from '../../src/index.ts'
import { openChainStore } from '../../src/storage/chainStore/openChainStore.ts'
import type { ChainStore } from '../../src/storage/chainStore/openChainStore.ts'
import type { TestOptions } from '../createTestGateway.ts'
import { post, startGateway } from '../startGateway.ts'
import { createModelChain, toAddress, toWord } from './modelChain.ts'
import type { ModelChain } from './modelChain.ts'
import { createTestFolder } from './openTestFile.ts'
import { startChainNode as startNode } from './startChainNode.ts'
import type { ChainNode } from './startChainNode.ts'

const startChainNode: typeof startNode = async (...given) => {
  const node = await startNode(...given)
  onTestFinished(node.stop)
  return node
}

const [busy, rare, silent] = [toAddress(1), toAddress(2), toAddress(3)] as const
const transfer = toWord(1)

/** A chain of 1,000 blocks: `busy` has a log in each, `rare` one in each hundredth. */
const createChain = (fork = 0): ModelChain => {
  const model = createModelChain()
  for (let number = 1; number <= 1_000; number += 1)
    model.mine([
      { address: busy, topics: [transfer], data: `0x0${fork}` },
      ...(number % 100 === 0 ? [{ address: rare, topics: [transfer], data: '0x' }] : []),
    ])
  return model
}

const openStore = async (file = join(createTestFolder(), 'cache.db'), warnings: string[] = []): Promise<ChainStore> => {
  const store = await openChainStore({ file, maxBytes: 1e9, warn: (what) => warnings.push(what) })
  onTestFinished(store.close)
  return store
}

interface Started {
  readonly call: (method: string, ...params: readonly unknown[]) => Promise<string>
  readonly getLogs: (first: number, last: number, filter?: Record<string, unknown>) => Promise<string>
  readonly rpcUrl: string
  readonly close: () => Promise<void>
}

/** Starts a gateway with a store and without a memory cache, once it knows which blocks of the first node are final. */
const start = async (
  nodes: readonly ChainNode[],
  chainStore: ChainStore | undefined,
  options: Partial<TestOptions> = {},
): Promise<Started> => {
  const { gateway, url, testnetKey } = await startGateway(
    { testnet: nodes.map((node) => node.url) },
    { chainStore, bounds: { maxCacheBytes: 0 }, ...options },
  )
  const close = (): Promise<void> => gateway.close({ graceMs: 0 })
  onTestFinished(close)
  const rpcUrl = getApiKeyUrl(url, 'testnet', testnetKey)
  const call = async (method: string, ...params: readonly unknown[]): Promise<string> => {
    const { text } = await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    return /^\{"jsonrpc":"2.0","id":1,"result":(.*)\}$/.exec(text)?.[1] ?? text
  }
  const toHex = (block: number): string => `0x${block.toString(16)}`
  const [node] = nodes
  if (chainStore !== undefined)
    await expect
      .poll(async () => {
        const before = node?.bodies.length
        await call('eth_getBlockByNumber', '0x1', false)
        return node?.bodies.length === before
      })
      .toBe(true)
  for (const each of nodes) each.bodies.length = 0
  return {
    rpcUrl,
    call,
    close,
    getLogs: (first, last, filter = { address: busy }) =>
      call('eth_getLogs', { ...filter, fromBlock: toHex(first), toBlock: toHex(last) }),
  }
}

const logsOf = (chain: ModelChain, first: number, last: number, addresses: readonly string[] = [busy]): string =>
  chain.getLogs({ first, last, addresses, topics: [] })

/** Waits until what was read is stored. */
const untilStored = async (
  { getLogs }: Started,
  node: ChainNode,
  ...query: Parameters<Started['getLogs']>
): Promise<void> => {
  await expect
    .poll(async () => {
      const before = node.queries.length
      await getLogs(...query)
      return node.queries.length === before
    })
    .toBe(true)
  node.queries.length = 0
}

describe('logs of final blocks', () => {
  test('are queried once, also by other ranges and after a restart', async () => {
    const chain = createChain()
    const node = await startChainNode(chain, { finalized: 900 })
    const file = join(createTestFolder(), 'cache.db')
    const store = await openStore(file)
    const first = await start([node], store)
    expect(await first.getLogs(1, 500)).toBe(logsOf(chain, 1, 500))
    await untilStored(first, node, 1, 500)
    expect(await first.getLogs(20, 321)).toBe(logsOf(chain, 20, 321))
    await first.close()
    await store.close()
    const second = await start([node], await openStore(file))
    expect(
      await second.getLogs(100, 400, { address: [busy.toUpperCase().replace('0X', '0x')], topics: [[transfer]] }),
    ).toBe(logsOf(chain, 100, 400))
    expect(node.queries).toEqual([])
  })

  test('are queried for what is missing only: one range, for the addresses that are not complete', async () => {
    const chain = createChain()
    const node = await startChainNode(chain, { finalized: 900 })
    const started = await start([node], await openStore())
    await untilStored(started, node, 1, 300)
    await untilStored(started, node, 400, 500, { address: [rare, busy] })
    expect(await started.getLogs(200, 600, { address: [busy, rare] })).toBe(logsOf(chain, 200, 600, [busy, rare]))
    expect(node.queries).toEqual(['200-600 1,2'])
    node.queries.length = 0
    await untilStored(started, node, 200, 600, { address: [busy, rare] })
    expect(await started.getLogs(300, 700, { address: [busy] })).toBe(logsOf(chain, 300, 700))
    expect(await started.getLogs(100, 600, { address: [busy, rare] })).toBe(logsOf(chain, 100, 600, [busy, rare]))
    expect(node.queries).toEqual(['601-700 1', '100-199 2'])
  })

  test('above the final block are always queried', async () => {
    const chain = createChain()
    const node = await startChainNode(chain, { finalized: 900 })
    const started = await start([node], await openStore())
    await expect
      .poll(async () => {
        node.queries.length = 0
        expect(await started.getLogs(800, 1_000)).toBe(logsOf(chain, 800, 1_000))
        return node.queries
      })
      .toEqual(['901-1000 1'])
    chain.rollBack(50)
    chain.mine([])
    expect(await started.getLogs(800, 951)).toBe(logsOf(chain, 800, 951))
    expect(node.queries.at(-1)).toBe('901-951 1')
  })

  test('of a range that the node rejects are stored in parts', async () => {
    const chain = createChain()
    const node = await startChainNode(chain, { finalized: 900, maxBlocks: 100 })
    const started = await start([node], await openStore())
    expect(await started.getLogs(1, 400)).toBe(logsOf(chain, 1, 400))
    await untilStored(started, node, 1, 400)
    expect(await started.getLogs(90, 450)).toBe(logsOf(chain, 90, 450))
    expect(node.queries).toEqual(['401-450 1'])
  })

  test('of a range that could not be read to its end are stored up to there', async () => {
    const chain = createChain()
    const node = await startChainNode(chain, { finalized: 900, maxBlocks: 100 })
    const started = await start([node], await openStore())
    const { behave } = node
    let lastWorking = 100
    node.behave = (call, response) => {
      const [{ fromBlock }] = call.params as [{ fromBlock: string }]
      if (Number(fromBlock) <= lastWorking) return behave(call, response)
      response.statusCode = 500
      return 'broken'
    }
    expect(await started.getLogs(1, 400)).toContain('"error"')
    lastWorking = -1
    await expect.poll(() => started.getLogs(1, 100)).toBe(logsOf(chain, 1, 100))
  })

  test('that are streamed to the caller are stored too', async () => {
    const chain = createModelChain()
    for (let number = 1; number <= 500; number += 1)
      chain.mine([{ address: busy, topics: [transfer], data: `0x${'ab'.repeat(3_000)}` }])
    const node = await startChainNode(chain, { finalized: 500 })
    const started = await start([node], await openStore())
    expect(await started.getLogs(1, 500)).toBe(logsOf(chain, 1, 500))
    await untilStored(started, node, 1, 500)
    expect(await started.getLogs(3, 400)).toBe(logsOf(chain, 3, 400))
    expect(node.queries).toEqual([])
  })

  test('of a filter that nodes read differently are not stored', async () => {
    const node = await startChainNode(createChain(), { finalized: 900 })
    const started = await start([node], await openStore())
    for (const filter of [
      { address: [] },
      { topics: [[]] },
      { topics: [[transfer, null]] },
      { address: busy, blockhash: '0x1' },
    ])
      for (const _ of [1, 2]) await started.getLogs(1, 9, filter)
    expect(node.bodies.length).toBe(8)
  })
})

test('a range without logs is queried again until another node has confirmed it, and never stored if that has logs', async () => {
  const chain = createChain()
  const node = await startChainNode(chain, { finalized: 900, indexedTo: 0 })
  const other = await startChainNode(chain, { finalized: 900 })
  const started = await start([node, other], await openStore())
  expect(await started.getLogs(1, 900, { address: [busy, silent] })).toBe('[]')
  expect(node.queries).toEqual(['1-900 1,3'])
  await expect.poll(() => other.confirmations).toEqual(['1-900 1,3'])
  node.indexedTo = Infinity
  await untilStored(started, node, 1, 900, { address: silent })
  expect(await started.getLogs(1, 900)).toBe(logsOf(chain, 1, 900))
  expect(node.queries).toEqual(['1-900 1'])
})

describe('results at final blocks', () => {
  test('are queried once, in any spelling, also in a batch', async () => {
    const node = await startChainNode(createChain(), { finalized: 900 })
    const started = await start([node], await openStore())
    const block = await started.call('eth_getBlockByNumber', '0xAB', false)
    await expect
      .poll(async () => {
        const before = node.bodies.length
        await started.call('eth_getBlockByNumber', '0x0ab', false)
        return node.bodies.length === before
      })
      .toBe(true)
    node.bodies.length = 0
    const batch = [1, 2, 3].map((id) => ({
      jsonrpc: '2.0',
      id,
      method: 'eth_getBlockByNumber',
      params: [id === 3 ? '0xaC' : '0xaB', false],
    }))
    const { text } = await post(started.rpcUrl, JSON.stringify(batch))
    expect(JSON.stringify((JSON.parse(text) as { result: unknown }[])[1]?.result)).toBe(block)
    expect(node.bodies.join()).not.toContain('"0xaB"')
    expect(node.bodies.length).toBe(1)
  })

  test.each([
    ['a block above the final one', 'eth_getBlockByNumber', ['0x389', false], undefined],
    ['null', 'eth_getBlockByNumber', ['0x5', false], 'null'],
    ['nothing', 'eth_getCode', [busy, '0x5'], '"0x"'],
    ['an empty list', 'eth_getBlockReceipts', ['0x5'], '[]'],
    ['a result by hash that does not say its block', 'eth_getBalance', [busy, { blockHash: toWord(1) }], '"0x1"'],
    ['a receipt of a block above the final one', 'eth_getTransactionReceipt', [toWord(1)], '{"blockNumber":"0x385"}'],
  ])('are queried again if they are %s', async (_, method, params, value) => {
    const node = await startChainNode(createChain(), { finalized: 900 })
    const started = await start([node], await openStore())
    const { behave } = node
    node.behave = (call, response) =>
      value === undefined ? behave(call, response) : `{"jsonrpc":"2.0","id":${call.id},"result":${value}}`
    for (const __ of [1, 2, 3]) await started.call(method, ...params)
    expect(node.bodies.length).toBe(3)
  })
})

describe('a chain that starts again', () => {
  test('deletes what is stored of it', async () => {
    const file = join(createTestFolder(), 'cache.db')
    const node = await startChainNode(createChain(), { finalized: 900 })
    const store = await openStore(file)
    const before = await start([node], store)
    await untilStored(before, node, 1, 300)
    await before.close()
    await store.close()
    // With other hashes: the blocks of the first chain were removed.
    node.chain.rollBack(1_001)
    for (let number = 0; number <= 1_000; number += 1)
      node.chain.mine([{ address: busy, topics: [transfer], data: '0x99' }])
    const after = await start([node], await openStore(file))
    expect(await after.getLogs(1, 300)).toBe(logsOf(node.chain, 1, 300))
  })

  test('is not used from the first call whose logs of a node are of another chain than the stored ones', async () => {
    const node = await startChainNode(createChain(), { finalized: 900 })
    const started = await start([node], await openStore())
    await untilStored(started, node, 1, 300)
    node.chain.rollBack(1_000)
    for (let number = 1; number <= 1_000; number += 1)
      node.chain.mine([{ address: busy, topics: [transfer], data: '0x99' }])
    // The node is asked for both addresses, because of the second one.
    expect(await started.getLogs(250, 310, { address: [busy, silent] })).toBe(logsOf(node.chain, 250, 310))
    expect(await started.getLogs(1, 300)).toBe(logsOf(node.chain, 1, 300))
  })
})

test('a stored result that is too large for the request is asked of a node', async () => {
  const node = await startChainNode(createChain(), { finalized: 900 })
  const store = await openStore()
  const { behave } = node
  node.behave = (call, response) =>
    call.method === 'eth_getCode'
      ? `{"jsonrpc":"2.0","id":${call.id},"result":"0x${'ab'.repeat(100_000)}"}`
      : behave(call, response)
  const before = await start([node], store)
  await before.call('eth_getCode', busy, '0x5')
  await expect
    .poll(async () => {
      node.bodies.length = 0
      await before.call('eth_getCode', busy, '0x5')
      return node.bodies.length
    })
    .toBe(0)
  const after = await start([node], store, { bounds: { maxCacheBytes: 0, maxResponseBytes: 100_000 } })
  await after.call('eth_getCode', busy, '0x5')
  expect(node.bodies.length).toBe(1)
})

test('without a store, a call does not enter it', async () => {
  const node = await startChainNode(createChain(), { finalized: 900 })
  const started = await start([node], undefined)
  for (const _ of [1, 2]) expect(await started.getLogs(1, 9)).toBe(logsOf(node.chain, 1, 9))
  expect(node.queries).toEqual(['1-9 1', '1-9 1'])
})

test('a network whose results are not to be stored is not', async () => {
  const node = await startChainNode(createChain(), { finalized: 900 })
  const store = await openStore()
  const networks = { testnet: { chainId: node.chainId, upstreams: [{ url: node.url }], cache: false } }
  const { gateway, url, testnetKey } = await startGateway({ testnet: [node.url] }, { chainStore: store, networks })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  await post(
    getApiKeyUrl(url, 'testnet', testnetKey),
    '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x1",false]}',
  )
  expect((await store.getStats()).chains).toEqual([])
})
