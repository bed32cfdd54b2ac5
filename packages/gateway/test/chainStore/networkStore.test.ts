import { describe, expect, test } from 'vitest'
import { createResponseCache } from '../../src/proxy/upstream/createResponseCache.ts'
import type { UpstreamGroup } from '../../src/proxy/upstream/createUpstreamGroup.ts'
import type { ForwardedCall } from '../../src/proxy/upstream/forwardedCall.ts'
import type { GroupMember } from '../../src/proxy/upstream/groupMember.ts'
import { createBackoff } from '../../src/proxy/upstream/health/createBackoff.ts'
import { confirmEmptyLogs } from '../../src/proxy/upstream/store/confirmEmptyLogs.ts'
import { createNetworkStore } from '../../src/proxy/upstream/store/createNetworkStore.ts'
import type { NetworkStore } from '../../src/proxy/upstream/store/createNetworkStore.ts'
import { readStored } from '../../src/proxy/upstream/store/forwardStored.ts'
import type { ChainStore } from '../../src/storage/chainStore/openChainStore.ts'
import type { SeenCall } from '../fakeUpstream.ts'
import { createModelChain, toAddress } from './modelChain.ts'
import type { ModelChain } from './modelChain.ts'
import { openTestFile } from './openTestFile.ts'
import type { TestFile } from './openTestFile.ts'

/** A node whose chain a test changes. */
interface TestNode {
  chain: ModelChain
  /** -1: it does not know which blocks are final. */
  finalized: number
  isUsable: boolean
  /** The most blocks of a query of logs. */
  maxBlocks: number
  status: number
  /** What its responses wait for, after it has read its chain. */
  gate: Promise<unknown> | undefined
  /** The ranges of its queries of logs. */
  readonly queries: string[]
  readonly member: GroupMember
}

const silent = toAddress(3)

const createChain = (blocks = 100): ModelChain => {
  const chain = createModelChain()
  for (let number = 1; number <= blocks; number += 1) chain.mine([])
  return chain
}

/** Replaces all blocks but the first: with as many others, or fewer. */
const restart = ({ chain }: TestNode, blocks: number): void => {
  chain.rollBack(chain.blocks.length - 1)
  for (let number = 1; number <= blocks; number += 1) chain.mine([])
}

const createNode = (name: string, chain: ModelChain, own: Partial<TestNode> = {}): TestNode => {
  const backoff = createBackoff()
  const respond = ({ method, params }: SeenCall): string => {
    if (method === 'eth_getBlockByNumber') {
      const [block] = params as [string]
      const number = block === 'finalized' ? node.finalized : Number(block)
      return number < 0 ? '"result":null' : `"result":${node.chain.getBlock(number)}`
    }
    const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
    node.queries.push(`${Number(fromBlock)}-${Number(toBlock)}`)
    return Number(toBlock) - Number(fromBlock) >= node.maxBlocks
      ? '"error":{"code":-32005,"message":"query returned more than 10000 results"}'
      : '"result":[]'
  }
  const post: GroupMember['upstream']['post'] = ({ body, done }) => {
    const text = `{"jsonrpc":"2.0","id":1,${respond(JSON.parse(String(body)) as SeenCall)}}`
    void Promise.resolve(node.gate).then(() => done(undefined, { status: node.status, body: Buffer.from(text) }))
    return () => {}
  }
  const member = {
    name,
    urlHash: `hash of ${name}`,
    backoff,
    upstream: { post, backoff, hasRoomForQuery: () => true, inFlight: () => 0 },
    health: { isUsable: () => node.isUsable, isHealthy: () => node.isUsable },
    finality: { finalizedBefore: () => node.finalized },
    capabilities: { offers: () => true },
  } as unknown as GroupMember
  const defaults = { finalized: 90, isUsable: true, maxBlocks: Infinity, status: 200, gate: undefined, queries: [] }
  const node: TestNode = { chain, ...defaults, ...own, member }
  return node
}

/** The functions of both threads in this one. */
const toStore = ({ reader, writer }: TestFile): ChainStore =>
  ({
    call: async (name: keyof typeof writer, ...args: never[]) => (writer[name] as (...a: never[]) => unknown)(...args),
    purge: async (chain: string) => {
      while (writer.purge(chain, undefined) > 0);
    },
    readEntry: async (text: string) => reader.readEntry(text),
  }) as unknown as ChainStore

interface Started {
  readonly file: TestFile
  readonly store: NetworkStore
  /** Verifies the chain. @returns The time until the next verification. */
  readonly verify: () => Promise<number>
  /** Has run as often as the chain was replaced. */
  readonly replaced: () => number
}

const start = (nodes: readonly TestNode[], file = openTestFile()): Started => {
  let verify: Started['verify'] = () => Promise.reject(new Error('not created'))
  let replaced = 0
  const store = createNetworkStore({
    store: toStore(file),
    network: 'testnet',
    chainId: 1,
    members: nodes.map(({ member }) => member),
    logRanges: undefined,
    timeoutMs: 1_000,
    warn: () => {},
    onReplaced: () => void (replaced += 1),
    polls: {
      markUsed: () => {},
      create: (task, getWaitMs) => {
        verify = async () => {
          await task()
          return getWaitMs()
        }
        return { run: async () => {}, reschedule: () => {}, postpone: () => {}, stop: () => {} }
      },
    },
  })
  return { file, store, verify, replaced: () => replaced }
}

const now = (): number => performance.now()

describe('the chain is verified', () => {
  test('a chain with the same first block that is shorter than the stored one is not used, and nothing is deleted', async () => {
    const node = createNode('one', createChain())
    const { file, store, verify, replaced } = start([node])
    await verify()
    const chain = store.getChain()
    expect(chain).toMatch(/^testnet 1 ./)
    node.chain.rollBack(50)
    node.finalized = 40
    for (let round = 0; round < 4; round += 1) await verify()
    expect([store.getChain(), replaced()]).toEqual([undefined, 0])
    expect(`testnet 1 ${file.writer.getCheckpoint('testnet 1')?.epoch}`).toBe(chain)
  })

  test('results of a node with another chain are not stored, although other nodes have the stored one', async () => {
    const [one, two] = [createNode('one', createChain()), createNode('two', createChain())]
    restart(two, 100)
    const { store, verify } = start([one, two])
    expect(await verify()).toBe(600_000)
    expect(store.getChain()).toBeDefined()
    expect(store.getChainOf(one.member, now())).toBe(store.getChain())
    expect(store.getChainOf(two.member, now())).toBeUndefined()
  })

  test('a node that does not respond keeps its chain, and one that never did has none', async () => {
    const chain = createChain()
    const [one, two, three] = ['one', 'two', 'three'].map((name) => createNode(name, chain)) as [
      TestNode,
      TestNode,
      TestNode,
    ]
    three.status = 500
    const { store, verify } = start([one, two, three])
    await verify()
    two.status = 500
    // Not all have said which chain they have.
    expect(await verify()).toBe(2_000)
    expect([one, two, three].map(({ member }) => store.getChainOf(member, now()) !== undefined)).toEqual([
      true,
      true,
      false,
    ])
  })

  test('a chain that starts again has a new epoch, in which nothing of the old one is found, also not what another instance still stores', async () => {
    const node = createNode('one', createChain())
    const { file, store, verify, replaced } = start([node])
    const other = start([createNode('one', createChain())], file)
    await verify()
    const before = store.getChain()
    restart(node, 100)
    for (let round = 0; round < 3; round += 1) await verify()
    expect(replaced()).toBe(1)
    expect(store.getChain()).toMatch(/^testnet 1 ./)
    expect(store.getChain()).not.toBe(before)
    // It has the old chain, and does not take the new one for it.
    await other.verify()
    expect(other.store.getChain()).toBeUndefined()
  })

  test('two instances that start at once on an empty file use the same epoch', async () => {
    const chain = createChain()
    const file = openTestFile()
    const [one, two] = [start([createNode('one', chain)], file), start([createNode('one', chain)], file)]
    await Promise.all([one.verify(), two.verify()])
    expect(one.store.getChain()).toBe(two.store.getChain())
    expect(one.store.getChain()).toBeDefined()
  })

  test('a node that goes back while the chain is verified makes the verification start again', async () => {
    const node = createNode('one', createChain())
    const { store, verify } = start([node])
    await verify()
    let open = (): void => {}
    node.gate = new Promise<void>((resolve) => (open = resolve))
    const verified = verify()
    await new Promise((resolve) => setImmediate(resolve))
    // Its responses about the old chain are on their way.
    restart(node, 100)
    store.verifyAgain()
    node.gate = undefined
    open()
    await verified
    expect(store.getChain()).toBeUndefined()
  })

  test('each usable node is asked which block is final, and the time until the next try doubles', async () => {
    const chain = createChain()
    const [one, two] = [createNode('one', chain, { finalized: -1 }), createNode('two', chain, { finalized: -1 })]
    const { store, verify } = start([one, two])
    const waits: number[] = []
    for (let round = 0; round < 12; round += 1) waits.push(await verify())
    expect(waits.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000])
    expect(waits.at(-1)).toBe(600_000)
    two.finalized = 90
    expect(await verify()).toBe(600_000)
    expect(store.getChain()).toBeDefined()
  })

  test('the result of a call that was sent before is not stored', async () => {
    const node = createNode('one', createChain())
    const { store, verify } = start([node])
    const sentAt = now()
    await new Promise((resolve) => setTimeout(resolve, 2))
    await verify()
    expect(store.getChainOf(node.member, sentAt)).toBeUndefined()
    expect(store.getChainOf(node.member, now())).toBe(store.getChain())
  })
})

test('what was read while a node went back is not used, and not cached in memory', async () => {
  const node = createNode('one', createChain())
  const { file, store, verify } = start([node])
  await verify()
  const cache = createResponseCache(1_000_000)
  const call = { method: 'eth_getBlockByNumber', params: '["0x5",false]', traits: { pin: { by: 'number', at: 0 } } }
  const read = { key: 'block 5', pin: 5, startedAt: now() }
  const text = `${store.getChain()} eth_getBlockByNumber ["0x5",false]`
  file.writer.addEntry({
    chain: String(store.getChain()),
    upstream: 'one',
    text,
    value: new Uint8Array(Buffer.from('{}')),
  })
  const group = { store, cache } as unknown as UpstreamGroup
  const found = readStored(group, call as unknown as ForwardedCall, { read, deadlineMs: 1_000 })
  store.verifyAgain()
  expect([await found, cache.get('block 5')]).toEqual([undefined, undefined])
  await verify()
  expect(await readStored(group, call as unknown as ForwardedCall, { read, deadlineMs: 1_000 })).toBeDefined()
  expect(cache.get('block 5')).toBeDefined()
})

describe('empty ranges are confirmed', () => {
  const startUnconfirmed = async (nodes: readonly TestNode[], last: number) => {
    const started = start(nodes)
    await started.verify()
    const chain = String(started.store.getChain())
    const query = { first: 1, last, addresses: [silent], topics: [] }
    started.file.writer.addLogs({
      chain,
      upstream: 'one',
      node: 'hash of one',
      query,
      result: new Uint8Array(Buffer.from('[]')),
    })
    started.file.pass(10_000)
    const limits = new Map<GroupMember, number>()
    const confirm = () =>
      confirmEmptyLogs({
        store: toStore(started.file),
        members: nodes.map(({ member }) => member),
        logRanges: undefined,
        timeoutMs: 1_000,
        getChainOf: started.store.getChainOf,
        limits,
        contradictions: new Map(),
      })
    return { confirm, limits }
  }

  test('by fewer blocks after a rejected range, by more again after success, and not by fewer after a failure', async () => {
    const chain = createChain(1_000)
    const [one, two] = [createNode('one', chain, { finalized: 900 }), createNode('two', chain, { finalized: 900 })]
    const { confirm, limits } = await startUnconfirmed([one, two], 800)
    two.maxBlocks = 200
    for (let round = 0; round < 3; round += 1) expect(await confirm()).toBe('more')
    expect(two.queries).toEqual(['1-800', '1-400', '1-200'])
    expect(limits.get(two.member)).toBe(400)
    two.status = 500
    expect(await confirm()).toBe('failed')
    expect(limits.get(two.member)).toBe(400)
  })

  test('at a node for which they are final, and not at one with another chain', async () => {
    const chain = createChain(1_000)
    const nodes = [
      createNode('one', chain, { finalized: 900 }),
      createNode('other', createChain(1_000), { finalized: 900 }),
      createNode('late', chain, { finalized: 0 }),
      createNode('two', chain, { finalized: 900 }),
    ] as const
    restart(nodes[1], 1_000)
    const { confirm } = await startUnconfirmed(nodes, 800)
    expect(await confirm()).toBe('more')
    expect(nodes.map(({ queries }) => queries)).toEqual([[], [], [], ['1-800']])
  })
})
