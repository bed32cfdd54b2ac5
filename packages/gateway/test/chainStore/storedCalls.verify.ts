import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createApiKey, getApiKeyUrl } from '../../src/index.ts'
import type { ChainStore } from '../../src/storage/chainStore/chainStore.ts'
import type { StoreUses } from '../../src/proxy/upstream/store/networkStore.ts'
import type { TestOptions } from '../createTestGateway.ts'
import { post, startGateway } from '../startGateway.ts'
import { result } from '../fakeUpstream.ts'
import { createModelChain, toAddress, toWord } from './modelChain.ts'
import type { ModelChain } from './modelChain.ts'
import { createTestFolder, openTestStore } from './openTestFile.ts'
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

interface Started {
  readonly call: (method: string, ...params: readonly unknown[]) => Promise<string>
  readonly getLogs: (first: number, last: number, filter?: Record<string, unknown>) => Promise<string>
  readonly rpcUrl: string
  /** How the store had the calls, by method. */
  readonly getUses: () => StoreUses['calls']
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
    getUses: () => gateway.storeUses()[0]?.calls ?? new Map(),
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
    const store = await openTestStore(file)
    const first = await start([node], store)
    expect(await first.getLogs(1, 500)).toBe(logsOf(chain, 1, 500))
    await untilStored(first, node, 1, 500)
    expect(await first.getLogs(20, 321)).toBe(logsOf(chain, 20, 321))
    await first.close()
    await store.close()
    const second = await start([node], await openTestStore(file))
    expect(
      await second.getLogs(100, 400, { address: [busy.toUpperCase().replace('0X', '0x')], topics: [[transfer]] }),
    ).toBe(logsOf(chain, 100, 400))
    expect(node.queries).toEqual([])
  })

  test('are queried for what is missing only: one range, for the addresses that are not complete', async () => {
    const chain = createChain()
    const node = await startChainNode(chain, { finalized: 900 })
    const started = await start([node], await openTestStore())
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
    const started = await start([node], await openTestStore())
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

  test('of a node without the tag `finalized` are stored if the network has a `finalityDepth`', async () => {
    const chain = createChain()
    const node = await startChainNode(chain, { head: 1_000 })
    node.behaveForQueries = (call, response) => {
      const [block] = call.params as [string]
      if (block === 'finalized')
        return `{"jsonrpc":"2.0","id":${call.id},"error":{"code":-32602,"message":"unknown tag"}}`
      return call.method === 'eth_getBlockByNumber' ? node.behave(call, response) : undefined
    }
    const networks = {
      testnet: { chainId: node.chainId, upstreams: [{ url: node.url }], finalityDepth: 100 },
    }
    const started = await start([node], await openTestStore(), { networks })
    await expect
      .poll(async () => {
        node.queries.length = 0
        expect(await started.getLogs(800, 1_000)).toBe(logsOf(chain, 800, 1_000))
        return node.queries
      })
      .toEqual(['901-1000 1'])
  })

  test('of a range that the node rejects are stored in parts', async () => {
    const chain = createChain()
    const node = await startChainNode(chain, { finalized: 900, maxBlocks: 100 })
    const started = await start([node], await openTestStore())
    expect(await started.getLogs(1, 400)).toBe(logsOf(chain, 1, 400))
    await untilStored(started, node, 1, 400)
    expect(await started.getLogs(90, 450)).toBe(logsOf(chain, 90, 450))
    expect(node.queries).toEqual(['401-450 1'])
  })

  test('of a range that could not be read to its end are stored up to there', async () => {
    const chain = createChain()
    const node = await startChainNode(chain, { finalized: 900, maxBlocks: 100 })
    const started = await start([node], await openTestStore())
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
    const started = await start([node], await openTestStore())
    expect(await started.getLogs(1, 500)).toBe(logsOf(chain, 1, 500))
    await untilStored(started, node, 1, 500)
    expect(await started.getLogs(3, 400)).toBe(logsOf(chain, 3, 400))
    expect(node.queries).toEqual([])
  })

  test('that another call is reading are not queried again, also of a part of its range and its addresses', async () => {
    const chain = createChain()
    const node = await startChainNode(chain, { finalized: 900 })
    const started = await start([node], await openTestStore())
    const { behave } = node
    const held: (() => void)[] = []
    node.behave = (call, response) => {
      const text = behave(call, response)
      held.push(() => response.end(text))
      return undefined
    }
    const whole = started.getLogs(1, 600, { address: [busy, rare] })
    await expect.poll(() => held.length).toBe(1)
    const parts = [
      started.getLogs(50, 550, { address: rare }),
      started.getLogs(1, 600, { address: [rare, busy] }),
      started.getLogs(300, 310, { address: busy }),
    ]
    // Above the final block, and with other topics, nothing is shared.
    const own = [started.getLogs(500, 950), started.getLogs(1, 600, { address: busy, topics: [[transfer]] })]
    await expect.poll(() => held.length).toBe(3)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(node.queries.toSorted()).toEqual(['1-600 1', '1-600 1,2', '500-950 1'])
    for (const end of held) end()
    expect(await whole).toBe(logsOf(chain, 1, 600, [busy, rare]))
    expect(await Promise.all(parts)).toEqual([
      logsOf(chain, 50, 550, [rare]),
      logsOf(chain, 1, 600, [busy, rare]),
      logsOf(chain, 300, 310),
    ])
    expect(await Promise.all(own)).toEqual([logsOf(chain, 500, 950), logsOf(chain, 1, 600)])
  })

  test('that another call fails to read are queried', async () => {
    const chain = createChain()
    const node = await startChainNode(chain, { finalized: 900 })
    const started = await start([node], await openTestStore())
    const { behave } = node
    let fail = (): void => {}
    node.behave = (_call, response) => {
      node.behave = behave
      fail = () => response.writeHead(500).end('broken')
      return undefined
    }
    const first = started.getLogs(1, 600)
    await expect.poll(() => node.bodies.length).toBe(1)
    const part = started.getLogs(100, 200)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(node.bodies.length).toBe(1)
    fail()
    expect(await part).toBe(logsOf(chain, 100, 200))
    await first
  })

  test('of a filter that nodes read differently are not stored', async () => {
    const node = await startChainNode(createChain(), { finalized: 900 })
    const started = await start([node], await openTestStore())
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
  const started = await start([node, other], await openTestStore())
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
    const started = await start([node], await openTestStore())
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

  test('by number are not those of a hash with the same digits', async () => {
    const node = await startChainNode(createChain(), { finalized: 900 })
    const started = await start([node], await openTestStore())
    const { behave } = node
    node.behave = (call, response) =>
      call.method === 'eth_getBalance'
        ? result(call, (call.params as string[])[1] === '0x0' ? '"0x1"' : 'null')
        : behave(call, response)
    await expect
      .poll(async () => {
        await started.call('eth_getBalance', busy, '0x0')
        return started.getUses().get('eth_getBalance')?.hit
      })
      .toBe(1)
    expect(await started.call('eth_getBalance', busy, toWord(0))).toBe('null')
  })

  test.each([
    ['a block above the final one', 'eth_getBlockByNumber', ['0x389', false], undefined],
    ['null', 'eth_getBlockByNumber', ['0x5', false], 'null'],
    ['nothing', 'eth_getCode', [busy, '0x5'], '"0x"'],
    ['an empty list', 'eth_getBlockReceipts', ['0x5'], '[ ]'],
    ['a result by hash that does not say its block', 'eth_getBalance', [busy, { blockHash: toWord(1) }], '"0x1"'],
    ['a receipt of a block above the final one', 'eth_getTransactionReceipt', [toWord(1)], '{"blockNumber":"0x385"}'],
  ])('are queried again if they are %s', async (_, method, params, value) => {
    const node = await startChainNode(createChain(), { finalized: 900 })
    const started = await start([node], await openTestStore())
    const { behave } = node
    node.behave = (call, response) =>
      value === undefined ? behave(call, response) : `{"jsonrpc":"2.0","id":${call.id},"result":${value}}`
    for (const __ of [1, 2, 3]) await started.call(method, ...params)
    expect(node.bodies.length).toBe(3)
  })
})

describe('the slots of a key', () => {
  /** How many slots a key has that is alone. */
  const slots = 64
  const getBlock = (number: number): string =>
    `{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x${number.toString(16)}",false]}`
  const getLogs = (address: unknown): string =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getLogs',
      params: [{ address, fromBlock: '0x1', toBlock: '0x9' }],
    })

  /** Starts a gateway with two keys of two owners, whose look-ups of the store wait after `hold`, and whose node holds each `eth_call`. */
  const startTwoKeys = async () => {
    const node = await startChainNode(createChain(), { finalized: 900 })
    const store = await openTestStore()
    let opened: Promise<void> | undefined
    let open = (): void => {}
    let logReads = 0
    const chainStore: ChainStore = {
      ...store,
      readEntry: async (...given) => {
        await opened
        return store.readEntry(...given)
      },
      readLogs: async (...given) => {
        logReads += 1
        await opened
        return store.readLogs(...given)
      },
    }
    const { gateway, url, testnetKey, keys } = await startGateway(
      { testnet: [node.url] },
      { chainStore, bounds: { maxCacheBytes: 0 } },
    )
    onTestFinished(() => gateway.close({ graceMs: 0 }))
    const otherKey = createApiKey('testnet')
    keys.add(otherKey, { id: 'key-other', kind: 'apiKey', networks: ['testnet'], status: 'active' })
    const [busyUrl, otherUrl] = [testnetKey, otherKey].map((key) => getApiKeyUrl(url, 'testnet', key)) as [
      string,
      string,
    ]
    await expect
      .poll(async () => (await post(busyUrl, getBlock(1))).headers.get('x-keyrail-cache'), { timeout: 5_000 })
      .toBe('store')
    const { behave } = node
    const held: (() => void)[] = []
    node.behave = (call, response) => {
      if (call.method !== 'eth_call') return behave(call, response)
      held.push(() => void response.end(`{"jsonrpc":"2.0","id":${call.id},"result":"0x1"}`))
      return undefined
    }
    return {
      busyUrl,
      otherUrl,
      held,
      getLogReads: () => logReads,
      hold: () => void (opened = new Promise((resolve) => (open = resolve))),
      open: (): void => {
        open()
        opened = undefined
      },
      /** Sends as many calls of the first key as it has slots. */
      takeSlots: (): Promise<unknown> =>
        Promise.all(
          Array.from({ length: slots }, (_, at) =>
            post(busyUrl, `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"${toAddress(at)}"},"latest"]}`),
          ),
        ),
    }
  }

  test.each([
    ['a block', getBlock(7), slots],
    // It has taken a slot before.
    ['logs', getLogs(busy), slots - 1],
  ])(
    'a read of %s that was looked up while the slots were taken does not delay the same read of another key',
    async (_, body, most) => {
      const { busyUrl, otherUrl, held, hold, open, takeSlots } = await startTwoKeys()
      hold()
      const read = post(busyUrl, body)
      // It is looked up before the slots are taken.
      await post(busyUrl, '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}')
      const calls = takeSlots()
      await expect.poll(() => held.length).toBe(most)
      open()
      expect((await post(otherUrl, body)).text).toContain('"result":')
      if (most === slots) expect(held.length).toBe(slots)
      while (held.length > 0) {
        for (const end of held.splice(0)) end()
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      expect((await read).text).toContain('"result":')
      await calls
    },
  )

  test.each([
    ['alone', getLogs(busy)],
    // Its params are too long for others to share it.
    ['of many addresses', getLogs(Array.from({ length: 200 }, (_, at) => toAddress(at + 1)))],
    ['in a batch', `[${getLogs(busy)},${getLogs(rare)}]`],
  ])('logs %s are not read from the store while they wait for a slot', async (_, body) => {
    const { busyUrl, held, getLogReads, takeSlots } = await startTwoKeys()
    const calls = takeSlots()
    await expect.poll(() => held.length).toBe(slots)
    const read = post(busyUrl, body)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(getLogReads()).toBe(0)
    for (const end of held.splice(0)) end()
    expect((await read).text).not.toContain('"error"')
    expect(getLogReads()).toBeGreaterThan(0)
    await calls
  })
})

test('a call is counted once, whether the store has it or not', async () => {
  const chain = createChain()
  const node = await startChainNode(chain, { finalized: 900 })
  const started = await start([node], await openTestStore())
  const getBlocks = (...numbers: readonly number[]): Promise<unknown> =>
    post(
      started.rpcUrl,
      JSON.stringify(
        numbers.map((number) => ({
          jsonrpc: '2.0',
          id: number,
          method: 'eth_getBlockByNumber',
          params: [`0x${number.toString(16)}`, false],
        })),
      ),
    )
  const count = async (method: string, work: () => Promise<unknown>): Promise<Record<string, number>> => {
    const get = () => ({ hit: 0, part: 0, miss: 0, ...started.getUses().get(method) })
    const before = get()
    await work()
    const after = get()
    return { hit: after.hit - before.hit, part: after.part - before.part, miss: after.miss - before.miss }
  }
  const blocks = 'eth_getBlockByNumber'
  // The first is stored. The second is then sent alone.
  expect(await count(blocks, () => getBlocks(1, 20))).toEqual({ hit: 1, part: 0, miss: 1 })
  // Their batch is rejected, and then each is sent alone.
  const { behave } = node
  node.behave = (call, response) => {
    if (node.bodies.at(-1)?.startsWith('[') !== true) return behave(call, response)
    if (!response.headersSent) response.writeHead(413).end()
    return undefined
  }
  expect(await count(blocks, () => getBlocks(30, 31))).toEqual({ hit: 0, part: 0, miss: 2 })
  expect(await count('eth_getLogs', () => started.getLogs(1, 9))).toEqual({ hit: 0, part: 0, miss: 1 })
})

describe('traces', () => {
  const services = { trace: true, debug: true }
  const traced = `{"type":"call","blockNumber":5}`
  const hash = toWord(7)

  /** Starts a node that traces, and says which client it is. */
  const startTracingNode = async (client: string): Promise<ChainNode> => {
    const node = await startChainNode(createChain(), { finalized: 900 })
    const { behave, behaveForQueries } = node
    node.behaveForQueries = (call, response) =>
      call.method === 'web3_clientVersion' ? result(call, `"${client}"`) : behaveForQueries?.(call, response)
    node.behave = (call, response) => {
      if (call.method === 'eth_getTransactionReceipt')
        return result(call, `{"transactionHash":"${hash}","blockNumber":"0x5"}`)
      if (call.method === 'trace_transaction') return result(call, '[{"blockNumber":5,"type":"call"}]')
      return call.method.includes('trace') ? result(call, traced) : behave(call, response)
    }
    return node
  }
  const startTraces = (node: ChainNode, store: ChainStore, cacheTraces = true, bounds = { maxCacheBytes: 0 }) => {
    const networks = { testnet: { chainId: node.chainId, upstreams: [{ url: node.url }], cacheTraces } }
    return start([node], store, { services, networks, bounds })
  }
  const isAsked = async (
    { call }: Started,
    node: ChainNode,
    ...given: Parameters<Started['call']>
  ): Promise<boolean> => {
    const before = node.bodies.length
    await call(...given)
    return node.bodies.length > before
  }
  const untilOnce = (...given: Parameters<typeof isAsked>): Promise<void> =>
    expect.poll(() => isAsked(...given)).toBe(false)

  test.each([
    ['trace_block', ['0x5']],
    ['trace_replayBlockTransactions', ['0x5', ['trace']]],
    ['debug_traceBlockByNumber', ['0x5', { tracer: 'callTracer' }]],
    ['trace_transaction', [hash]],
  ])('%s of a final block is queried once, also after a restart, and never from memory', async (method, params) => {
    const file = join(createTestFolder(), 'cache.db')
    const node = await startTracingNode('Geth/v1')
    const store = await openTestStore(file)
    const before = await startTraces(node, store, true, { maxCacheBytes: 1_000_000 })
    await untilOnce(before, node, method, ...params)
    expect(before.getUses().get(method)?.hit).toBe(1)
    await before.close()
    await store.close()
    const after = await startTraces(node, await openTestStore(file))
    expect(await isAsked(after, node, method, ...params)).toBe(false)
  })

  test('are not stored without the option, above the final block, and of a range', async () => {
    const node = await startTracingNode('Geth/v1')
    const started = await startTraces(node, await openTestStore())
    for (const [method, params] of [
      ['trace_block', ['0x389']],
      ['trace_filter', [{ fromBlock: '0x1', toBlock: '0x5' }]],
    ] as const)
      for (const _ of [1, 2, 3]) expect(await isAsked(started, node, method, ...params)).toBe(true)
    await started.close()
    const off = await startTraces(node, await openTestStore(), false)
    for (const _ of [1, 2, 3]) expect(await isAsked(off, node, 'trace_block', '0x5')).toBe(true)
  })

  test('that do not say their block are stored once something else of their transaction is', async () => {
    const node = await startTracingNode('Geth/v1')
    const started = await startTraces(node, await openTestStore())
    // What a tracer of a caller says is not believed.
    for (const _ of [1, 2, 3]) expect(await isAsked(started, node, 'debug_traceTransaction', hash, {})).toBe(true)
    await untilOnce(started, node, 'eth_getTransactionReceipt', hash)
    await untilOnce(started, node, 'debug_traceTransaction', hash, {})
    expect(await isAsked(started, node, 'debug_traceTransaction', hash, { tracer: 'callTracer' })).toBe(true)
  })

  test('are those of the client and the version of the nodes', async () => {
    const file = join(createTestFolder(), 'cache.db')
    for (const [round, client] of ['Geth/v1', 'Geth/v2', 'Geth/v1'].entries()) {
      const node = await startTracingNode(client)
      const store = await openTestStore(file)
      const started = await startTraces(node, store)
      // The third node has the client of the first.
      expect(await isAsked(started, node, 'trace_block', '0x5')).toBe(round < 2)
      await untilOnce(started, node, 'trace_block', '0x5')
      await started.close()
      await store.close()
    }
  })

  test('that are streamed to the caller are stored too', async () => {
    const node = await startTracingNode('Geth/v1')
    const started = await startTraces(node, await openTestStore())
    const { behave } = node
    const large = `[${Array.from({ length: 40_000 }, () => traced.padEnd(100)).join()}]`
    node.behave = (call, response) => (call.method === 'trace_block' ? result(call, large) : behave(call, response))
    expect(await started.call('trace_block', '0x5')).toBe(large)
    await untilOnce(started, node, 'trace_block', '0x5')
    expect(await started.call('trace_block', '0x5')).toBe(large)
  })
})

test('an empty result is served once a second node has sent it too, and not from memory before', async () => {
  const chain = createChain()
  const nodes = await Promise.all([1, 2].map(() => startChainNode(chain, { finalized: 900 })))
  const [one, two] = nodes as [ChainNode, ChainNode]
  for (const node of nodes) {
    const { behave } = node
    node.behave = (call, response) =>
      call.method === 'eth_getCode' ? `{"jsonrpc":"2.0","id":${call.id},"result":"0x"}` : behave(call, response)
  }
  const started = await start(nodes, await openTestStore(), { bounds: {} })
  const bodies = (): number => one.bodies.length + two.bodies.length
  const first = bodies()
  for (const _ of [1, 2]) expect(await started.call('eth_getCode', busy, '0x5')).toBe('"0x"')
  expect(bodies()).toBe(first + 2)
  await one.stop()
  await started.call('eth_getCode', busy, '0x5')
  await expect
    .poll(async () => {
      const before = bodies()
      await started.call('eth_getCode', busy, '0x5')
      return bodies() - before
    })
    .toBe(0)
})

test('the header that says where a result was can be switched off', async () => {
  const node = await startChainNode(createChain(), { finalized: 900 })
  const store = await openTestStore()
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x5",false]}'
  const getHeader = async ({ rpcUrl }: Started): Promise<string | null> =>
    (await post(rpcUrl, body)).headers.get('x-keyrail-cache')
  const on = await start([node], store)
  await expect.poll(() => getHeader(on)).toBe('store')
  await on.close()
  expect(await getHeader(await start([node], store, { cacheHeader: false }))).toBeNull()
})

describe('a chain that starts again', () => {
  test('deletes what is stored of it', async () => {
    const file = join(createTestFolder(), 'cache.db')
    const node = await startChainNode(createChain(), { finalized: 900 })
    const store = await openTestStore(file)
    const before = await start([node], store)
    await untilStored(before, node, 1, 300)
    await before.close()
    await store.close()
    // With other hashes: the blocks of the first chain were removed.
    node.chain.rollBack(1_001)
    for (let number = 0; number <= 1_000; number += 1)
      node.chain.mine([{ address: busy, topics: [transfer], data: '0x99' }])
    const after = await start([node], await openTestStore(file))
    expect(await after.getLogs(1, 300)).toBe(logsOf(node.chain, 1, 300))
  })

  test('is not used from the first call whose logs of a node are of another chain than the stored ones', async () => {
    const node = await startChainNode(createChain(), { finalized: 900 })
    const started = await start([node], await openTestStore())
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
  const store = await openTestStore()
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
  const store = await openTestStore()
  const networks = { testnet: { chainId: node.chainId, upstreams: [{ url: node.url }], cache: false } }
  const { gateway, url, testnetKey } = await startGateway({ testnet: [node.url] }, { chainStore: store, networks })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  await post(
    getApiKeyUrl(url, 'testnet', testnetKey),
    '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x1",false]}',
  )
  expect((await store.getStats()).chains).toEqual([])
})
