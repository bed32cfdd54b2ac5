import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createResponseCache } from '../../src/proxy/upstream/createResponseCache.ts'
import type { CallScope } from '../../src/proxy/upstream/callScope.ts'
import type { ForwardedCall } from '../../src/proxy/upstream/forwardedCall.ts'
import type { GroupMember } from '../../src/proxy/upstream/groupMember.ts'
import { createBackoff } from '../../src/proxy/upstream/health/createBackoff.ts'
import { confirmStored } from '../../src/proxy/upstream/store/confirmStored.ts'
import { createNetworkStore } from '../../src/proxy/upstream/store/createNetworkStore.ts'
import type { NetworkStore } from '../../src/proxy/upstream/store/networkStore.ts'
import { readStored } from '../../src/proxy/upstream/store/forwardStored.ts'
import type { EntryAnswer } from '../../src/storage/chainStore/createChainWriter.ts'
import { toEntryText } from '../../src/storage/chainStore/storedCall.ts'
import type { StoredCall } from '../../src/storage/chainStore/storedCall.ts'
import type { ChainStore } from '../../src/storage/chainStore/chainStore.ts'
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
  /** What is left of its daily limit of 1,000 requests. */
  left: number
  /** The result of its queries of logs. */
  logs: string
  /** What it responds to other calls. */
  response: string
  /** What its responses wait for, after it has read its chain. */
  gate: Promise<unknown> | undefined
  /** The ranges of its queries of logs, and the methods of other ones. */
  readonly queries: string[]
  readonly member: GroupMember
}

const silent = toAddress(3)
const realNow = performance.now.bind(performance)

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

const createNode = (
  name: string,
  chain: ModelChain,
  { group = name, ...own }: Partial<TestNode> & { readonly group?: string } = {},
): TestNode => {
  const backoff = createBackoff()
  const respond = ({ method, params }: SeenCall): string => {
    if (method === 'eth_getBlockByNumber') {
      const [block] = params as [string]
      const number = block === 'finalized' ? node.finalized : Number(block)
      return number < 0 ? '"result":null' : `"result":${node.chain.getBlock(number)}`
    }
    if (method !== 'eth_getLogs') {
      node.queries.push(method)
      return node.response
    }
    const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
    node.queries.push(`${Number(fromBlock)}-${Number(toBlock)}`)
    return Number(toBlock) - Number(fromBlock) >= node.maxBlocks
      ? '"error":{"code":-32005,"message":"query returned more than 10000 results"}'
      : `"result":${node.logs}`
  }
  const post: GroupMember['upstream']['post'] = ({ body, done }) => {
    const text = `{"jsonrpc":"2.0","id":1,${respond(JSON.parse(String(body)) as SeenCall)}}`
    void Promise.resolve(node.gate).then(() => done(undefined, { status: node.status, body: Buffer.from(text) }))
    return () => {}
  }
  const member = {
    name,
    urlHash: `hash of ${name}`,
    group,
    backoff,
    upstream: {
      post,
      backoff,
      getQueryUnits: () => 1,
      hasRoomForQuery: () => true,
      drawForQuery: () => true,
      inFlight: () => 0,
    },
    health: { isUsable: () => node.isUsable, isHealthy: () => node.isUsable },
    finality: { finalizedBefore: () => node.finalized },
    capabilities: { offers: () => true },
    budget: {
      states: () => [
        { name: 'maxRequestsPerSecond', limit: 10, left: 0 },
        { name: 'maxRequestsPerDay', limit: 1_000, left: node.left },
      ],
    },
  } as unknown as GroupMember
  const defaults = {
    logs: '[]',
    response: '"result":"0x1"',
    finalized: 90,
    isUsable: true,
    maxBlocks: Infinity,
    status: 200,
    left: 1_000,
    gate: undefined,
    queries: [],
  }
  const node: TestNode = { chain, ...defaults, ...own, member }
  return node
}

/** The functions of both threads in this one. */
const toStore = ({ reader, writer }: TestFile, confirm = false): ChainStore =>
  ({
    confirm,
    call: async (name: keyof typeof writer, ...args: never[]) => (writer[name] as (...a: never[]) => unknown)(...args),
    purge: async (chain: string, upstream: string | undefined) => {
      while (writer.purge(chain, upstream) > 0);
    },
    readEntry: async (text: string) => reader.readEntry(text),
    addEntry: async (answer: EntryAnswer) => writer.addEntry(answer),
  }) as unknown as ChainStore

interface Started {
  readonly file: TestFile
  readonly store: NetworkStore
  /** Verifies the chain. @returns The time until the next verification. */
  readonly verify: () => Promise<number>
  /** Has run as often as the chain was replaced. */
  readonly replaced: () => number
  /** How often a verification was asked for. */
  readonly runs: () => number
  /** Moves the clock of `performance.now`. */
  readonly pass: (ms: number) => void
}

const start = (
  nodes: readonly TestNode[],
  file = openTestFile(),
  { confirm = false, traces = false }: { readonly confirm?: boolean; readonly traces?: boolean } = {},
): Started => {
  let verify: Started['verify'] = () => Promise.reject(new Error('not created'))
  let replaced = 0
  let runs = 0
  let passed = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + passed)
  onTestFinished(() => clock.mockRestore())
  const store = createNetworkStore({
    store: toStore(file, confirm),
    network: 'testnet',
    chainId: 1,
    members: nodes.map(({ member }) => member),
    logRanges: undefined,
    traces,
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
        return { run: async () => void (runs += 1), reschedule: () => {}, postpone: () => {}, stop: () => {} }
      },
    },
  })
  return {
    file,
    store,
    verify,
    replaced: () => replaced,
    runs: () => runs,
    pass: (ms) => void (passed += ms),
  }
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
    expect(store.getStorable(one.member, now())?.source.chain).toBe(store.getChain())
    expect(store.getStorable(two.member, now())).toBeUndefined()
  })

  test('results of a node are stored up to the block at which it was compared, and deleted if it has another chain there', async () => {
    const [one, two] = [createNode('one', createChain(200)), createNode('two', createChain(200))]
    const { file, store, verify } = start([one, two])
    await verify()
    for (const { member } of [one, two]) {
      const { source } = store.getStorable(member, now()) ?? {}
      store.addEntry({
        ...(source as NonNullable<typeof source>),
        text: member.name,
        block: 40,
        value: new Uint8Array([49]),
      })
    }
    const getLast = () => [one, two].map(({ member }) => store.getStorable(member, now())?.last)
    for (const node of [one, two]) node.finalized = 120
    await verify()
    expect([getLast(), store.getVerified()]).toEqual([[120, 90], 120])
    await verify()
    expect(getLast()).toEqual([120, 120])
    const version = store.getVersion()
    // Not known to the one that is first to move the checkpoint.
    two.chain.rollBack(70)
    for (let number = 0; number < 70; number += 1) two.chain.mine([])
    for (const node of [one, two]) node.finalized = 150
    await verify()
    expect(getLast()).toEqual([150, 120])
    two.status = 500
    await verify()
    expect([getLast(), store.getVersion()]).toEqual([[150, 120], version])
    two.status = 200
    await verify()
    expect(getLast()).toEqual([150, undefined])
    expect(store.getVersion()).not.toBe(version)
    expect(['one', 'two'].map((text) => file.reader.readEntry(text) !== undefined)).toEqual([true, false])
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
    expect([one, two, three].map(({ member }) => store.getStorable(member, now()) !== undefined)).toEqual([
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

  test('what nodes send above the block that was last verified is not stored, and makes the chain be verified again a minute later', async () => {
    const node = createNode('one', createChain(200), { finalized: 90 })
    const { store, verify, runs, pass } = start([node])
    await verify()
    node.finalized = 120
    expect(store.getStorable(node.member, now())?.last).toBe(90)
    expect(runs()).toBe(0)
    pass(60_001)
    expect(store.getStorable(node.member, now())?.last).toBe(90)
    expect(runs()).toBe(1)
    await verify()
    expect(store.getStorable(node.member, now())?.last).toBe(120)
  })

  test('a block that was read of a chain which has just replaced the stored one is no checkpoint', async () => {
    const node = createNode('one', createChain(200), { finalized: 90 })
    const { file, store, verify } = start([node])
    await verify()
    node.finalized = 120
    const { getBlock } = node.chain
    let reads = 0
    const chain = {
      ...node.chain,
      getBlock: (number: number) => {
        // After the first comparison.
        if (number === 90 && ++reads === 2) return getBlock(91)
        return getBlock(number)
      },
    }
    node.chain = chain
    await verify()
    expect(file.writer.getCheckpoint('testnet 1')?.number).toBe(90)
    expect(store.getStorable(node.member, now())?.last).toBe(90)
    await verify()
    expect(file.writer.getCheckpoint('testnet 1')?.number).toBe(120)
  })

  test('if final blocks were replaced, only what is stored above the newest common one is deleted, and what was sent before is not stored', async () => {
    const node = createNode('one', createChain(1_000), { finalized: 100 })
    const { file, store, verify, replaced } = start([node])
    for (const finalized of [100, 200, 300, 400, 500]) {
      node.finalized = finalized
      await verify()
    }
    const chain = String(store.getChain())
    const addBlock = (block: number) =>
      file.writer.addEntry({
        ...(store.getStorable(node.member, now())?.source ?? { chain, upstream: 'one' }),
        text: `block ${block}`,
        block,
        value: new Uint8Array(Buffer.from(node.chain.getBlock(block))),
      })
    for (const block of [150, 320, 490]) expect(addBlock(block)).toBe('stored')
    const before = store.getStorable(node.member, now())
    const sentAt = now()
    node.chain.rollBack(650)
    for (let number = 0; number < 700; number += 1) node.chain.mine([])
    for (let round = 0; round < 3; round += 1) await verify()
    expect([store.getChain(), replaced()]).toEqual([chain, 1])
    expect([150, 320, 490].map((block) => file.reader.readEntry(`block ${block}`) !== undefined)).toEqual([
      true,
      false,
      false,
    ])
    expect(store.getStorable(node.member, sentAt)).toBeUndefined()
    expect(store.getStorable(node.member, now())?.source).toEqual({ ...before?.source, revision: 1 })
    expect(addBlock(490)).toBe('stored')
  })

  test('nothing is deleted while a node goes back and forth, or does not respond', async () => {
    const [one, two] = [createNode('one', createChain(200)), createNode('two', createChain(200))]
    const { file, store, verify, replaced } = start([one, two])
    await verify()
    const before = file.writer.getCheckpoint('testnet 1')
    // A load balancer with a node that is late.
    for (let round = 0; round < 6; round += 1) {
      one.finalized = round % 2 === 0 ? 80 : 90
      store.verifyAgain()
      await verify()
      expect(store.getChain()).toBeDefined()
    }
    two.status = 500
    restart(one, 300)
    for (let round = 0; round < 6; round += 1) await verify()
    expect([store.getChain(), replaced()]).toEqual([undefined, 0])
    expect(file.writer.getCheckpoint('testnet 1')).toEqual(before)
    two.status = 200
    await verify()
    expect(store.getChain()).toBe(`testnet 1 ${before?.epoch}`)
  })

  test('another instance that has deleted replaced blocks makes this one verify its chain before it is read again', async () => {
    const node = createNode('one', createChain(200), { finalized: 50 })
    const { file, store, verify, runs } = start([node])
    await verify()
    node.finalized = 90
    await verify()
    file.writer.rollBack('testnet 1', { epoch: file.writer.getCheckpoint('testnet 1')?.epoch ?? '', revision: 0 }, 50)
    const { source } = store.getStorable(node.member, now()) ?? {}
    store.addEntry({ ...(source as NonNullable<typeof source>), text: 'a', block: 40, value: new Uint8Array([49]) })
    await expect.poll(runs).toBe(1)
    expect([store.getChain(), file.reader.readEntry('a')]).toEqual([undefined, undefined])
    await verify()
    expect(store.getStorable(node.member, now())?.source.revision).toBe(1)
  })

  test('a node for private transactions is not asked for blocks', async () => {
    const node = createNode('one', createChain())
    const secret = createNode('secret', createChain(), { status: 500 })
    const { store, verify } = start([node, { ...secret, member: { ...secret.member, privateTransactions: true } }])
    // Otherwise, the next one would follow soon.
    expect(await verify()).toBe(600_000)
    expect(store.getChain()).toBeDefined()
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
    expect(store.getStorable(node.member, sentAt)).toBeUndefined()
    expect(store.getStorable(node.member, now())?.source.chain).toBe(store.getChain())
  })
})

test('what was read while a node went back is not used, and not cached in memory', async () => {
  const node = createNode('one', createChain())
  const { file, store, verify } = start([node])
  await verify()
  const cache = createResponseCache(1_000_000)
  const call = { method: 'eth_getBlockByNumber', params: '["0x5",false]', traits: { pin: { by: 'number', at: 0 } } }
  const read = { key: 'block 5', pin: 5, startedAt: now(), isTrace: false }
  const text = `${store.getChain()} eth_getBlockByNumber ["0x5",false]`
  file.writer.addEntry({
    chain: String(store.getChain()),
    upstream: 'one',
    text,
    block: 5,
    value: new Uint8Array(Buffer.from('{}')),
  })
  const scope = { group: { store, cache }, budget: { left: 1_000 } } as unknown as CallScope
  const found = readStored(call as unknown as ForwardedCall, scope, { read, deadlineMs: 1_000 })
  store.verifyAgain()
  expect([await found, cache.get('block 5')]).toEqual([undefined, undefined])
  await verify()
  expect(await readStored(call as unknown as ForwardedCall, scope, { read, deadlineMs: 1_000 })).toBeDefined()
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
      confirmStored({
        store: toStore(started.file),
        members: nodes.map(({ member }) => member),
        logRanges: undefined,
        timeoutMs: 1_000,
        getStorable: started.store.getStorable,
        limits,
        progress: new Map(),
        turn: { next: 0 },
        clients: started.store.clients,
        addEntry: started.store.addEntry,
        addContradictions: () => {},
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

  test('at idle priority: not at a node that is paused, has no room or less than half of the day in its budget, or has many calls in flight', async () => {
    const chain = createChain(1_000)
    const [one, two] = [createNode('one', chain, { finalized: 900 }), createNode('two', chain, { finalized: 900 })]
    const { confirm } = await startUnconfirmed([one, two], 800)
    const hasRoomForQuery = vi.spyOn(two.member.upstream, 'hasRoomForQuery').mockReturnValue(false)
    expect(await confirm()).toBe('idle')
    hasRoomForQuery.mockRestore()
    two.left = 499
    expect(await confirm()).toBe('idle')
    two.left = 500
    const inFlight = vi.spyOn(two.member.upstream, 'inFlight').mockReturnValue(17)
    expect(await confirm()).toBe('idle')
    inFlight.mockRestore()
    const isPaused = vi.spyOn(two.member.backoff, 'isPaused').mockReturnValue(true)
    expect(await confirm()).toBe('idle')
    expect(two.queries).toEqual([])
    isPaused.mockRestore()
    expect(await confirm()).toBe('more')
    expect(two.queries).toEqual(['1-800'])
  })
})

describe('with `cache.confirm`', () => {
  const startConfirmed = async (nodes: readonly TestNode[], traces = false) => {
    const started = start(nodes, openTestFile(), { confirm: true, traces })
    await started.verify()
    const contradictions: string[] = []
    const options = {
      store: toStore(started.file, true),
      members: nodes.map(({ member }) => member),
      logRanges: undefined,
      timeoutMs: 1_000,
      getStorable: started.store.getStorable,
      limits: new Map(),
      progress: new Map(),
      turn: { next: 0 },
      clients: { get: ({ name }: GroupMember) => `client of ${name.slice(0, 1)}` },
      addEntry: (answer: EntryAnswer) => {
        const stored = started.file.writer.addEntry(answer)
        if (typeof stored === 'object') contradictions.push(stored.contradicted)
      },
      addContradictions: (upstream: string) => void contradictions.push(upstream),
    }
    const chain = String(started.store.getChain())
    const query = { first: 1, last: 80, addresses: [silent], topics: [] }
    const getSource = (at = 0) => {
      const { source } = started.store.getStorable(nodes[at]?.member as GroupMember, now()) ?? {}
      return source as NonNullable<typeof source>
    }
    return {
      ...started,
      contradictions,
      confirm: () => confirmStored(options),
      addLogs: () => {
        started.file.writer.addLogs({ ...getSource(), query, result: new Uint8Array(Buffer.from('[]')) })
        started.file.pass(10_000)
      },
      readLogs: () => started.file.reader.readLogs(chain, query, Infinity)?.missing,
      addEntry: (call: StoredCall, block = 5, at = 0) => {
        const value = new Uint8Array(Buffer.from('"0x1"'))
        started.file.writer.addEntry({ ...getSource(at), text: toEntryText(chain, call), call, block, value })
      },
      readEntry: (call: StoredCall) => started.file.reader.readEntry(toEntryText(chain, call)) !== undefined,
    }
  }
  const balance = { method: 'eth_getBalance', params: '["0x1","0x5"]' }

  test('only a node of another group is asked, also much later, once for each thing', async () => {
    const chain = createChain()
    const same = [createNode('one', chain, { group: 'a' }), createNode('two', chain, { group: 'a' })] as const
    const nobody = await startConfirmed(same)
    nobody.addLogs()
    nobody.addEntry(balance)
    nobody.file.pass(3_600_000)
    nobody.pass(3_600_000)
    expect(await nobody.confirm()).toBe('idle')
    expect(same.map(({ queries }) => queries)).toEqual([[], []])

    const nodes = [...same, createNode('three', chain)] as const
    const { confirm, addLogs, readLogs, addEntry, readEntry } = await startConfirmed(nodes)
    addLogs()
    addEntry(balance)
    expect([readLogs() === undefined, readEntry(balance)]).toEqual([false, false])
    expect(await confirm()).toBe('more')
    expect([readLogs(), readEntry(balance)]).toEqual([undefined, true])
    expect(await confirm()).toBe('idle')
    expect(nodes.map(({ queries }) => queries)).toEqual([[], [], ['1-80', 'eth_getBalance']])
  })

  test('what differs is dropped, and counts for the first node', async () => {
    const chain = createChain()
    const nodes = [createNode('one', chain), createNode('two', chain, { response: '"result":"0x2"' })] as const
    const { confirm, addEntry, readEntry, contradictions, file } = await startConfirmed(nodes)
    addEntry(balance)
    expect(await confirm()).toBe('more')
    expect([readEntry(balance), contradictions, file.writer.getStats().chains.map((one) => one.unconfirmed)]).toEqual([
      false,
      ['one'],
      [0, 0],
    ])
  })

  test('a node that cannot confirm something is not asked again, however late, and does not keep others waiting', async () => {
    const chain = createChain()
    const error = '"error":{"code":-32000,"message":"missing trie node"}'
    const pruned = createNode('pruned', chain, { response: error })
    const nodes = [createNode('one', chain), pruned, createNode('archive', chain)] as const
    nodes[2].isUsable = false
    const { confirm, addEntry, readEntry, pass, verify } = await startConfirmed(nodes)
    addEntry(balance)
    expect([await confirm(), await confirm()]).toEqual(['more', 'idle'])
    pruned.response = '"result":"0x1"'
    addEntry({ ...balance, params: '["0x2","0x5"]' })
    await confirm()
    expect([readEntry(balance), readEntry({ ...balance, params: '["0x2","0x5"]' })]).toEqual([false, true])
    nodes[2].isUsable = true
    await verify()
    await confirm()
    expect([readEntry(balance), nodes[2].queries]).toEqual([true, ['eth_getBalance']])
    addEntry({ ...balance, params: '["0x3","0x5"]' })
    pruned.status = nodes[2].status = 500
    expect(await confirm()).toBe('failed')
    pruned.status = 200
    pruned.response = error
    await confirm()
    pruned.response = '"result":"0x1"'
    nodes[2].isUsable = false
    const asked = pruned.queries.length
    await confirm()
    pass(24 * 3_600_000)
    await verify()
    expect(await confirm()).toBe('idle')
    expect([readEntry({ ...balance, params: '["0x3","0x5"]' }), pruned.queries.length]).toEqual([false, asked])
  })

  /** Balances of so many accounts. */
  const toBalances = (count: number): readonly StoredCall[] =>
    Array.from({ length: count }, (_, at) => ({ ...balance, params: `["0x${at}","0x5"]` }))

  test('results that the other node cannot send are asked for once, and do not keep those after them waiting', async () => {
    const chain = createChain()
    const large = `"result":"0x${'0'.repeat(2 * 1024 * 1024)}"`
    const nodes = [createNode('one', chain), createNode('two', chain, { response: large })] as const
    const { post } = nodes[1].member.upstream
    vi.spyOn(nodes[1].member.upstream, 'post').mockImplementation((sent) =>
      post({
        ...sent,
        done: (fault, response) =>
          (response?.body.length ?? 0) > sent.budget.left ? sent.done('tooLarge') : sent.done(fault, response),
      }),
    )
    const { confirm, addEntry, readEntry } = await startConfirmed(nodes)
    const calls = toBalances(11)
    for (const call of calls) addEntry(call)
    expect(await confirm()).toBe('failed')
    nodes[1].response = '"result":"0x1"'
    expect(await confirm()).toBe('more')
    expect(calls.map(readEntry)).toEqual([...Array(10).fill(false), true])
    expect(nodes[1].queries).toHaveLength(11)
  })

  test('what was not asked because the node does not help now is asked for later', async () => {
    const chain = createChain()
    const nodes = [createNode('one', chain), createNode('two', chain)] as const
    const { confirm, addEntry, readEntry } = await startConfirmed(nodes)
    const calls = toBalances(11)
    for (const call of calls) addEntry(call)
    const draw = vi.spyOn(nodes[1].member.upstream, 'drawForQuery').mockReturnValue(false)
    expect(await confirm()).toBe('failed')
    draw.mockReset().mockReturnValueOnce(true).mockReturnValue(false)
    expect(await confirm()).toBe('more')
    expect(calls.map(readEntry)).toEqual([true, ...Array(10).fill(false)])
    draw.mockRestore()
    expect(await confirm()).toBe('more')
    expect(calls.every(readEntry)).toBe(true)
  })

  test('each node has its turn, while another one sends ever more', async () => {
    const chain = createChain()
    const nodes = [createNode('one', chain), createNode('two', chain)] as const
    const { confirm, addEntry, readEntry } = await startConfirmed(nodes)
    const [own, ...others] = toBalances(4) as [StoredCall, ...StoredCall[]]
    addEntry(own, 5, 1)
    for (const call of others) {
      addEntry(call)
      expect(await confirm()).toBe('more')
    }
    expect(readEntry(own)).toBe(true)
  })

  test('results wait until their block is final at the other node, and traces need one with the same client', async () => {
    const chain = createChain()
    const nodes = [createNode('g1', chain), createNode('r1', chain, { finalized: 50 })] as const
    const { confirm, addEntry, readEntry } = await startConfirmed(nodes)
    const late = { ...balance, params: '["0x1","0x46"]' }
    addEntry(late, 70)
    expect([await confirm(), nodes[1].queries]).toEqual(['idle', []])
    nodes[1].finalized = 90
    expect([await confirm(), readEntry(late)]).toEqual(['more', true])
    const trace = { method: 'trace_block', params: '["0x5"]', client: 'client of g' }
    addEntry(trace)
    await confirm()
    expect([readEntry(trace), nodes[1].queries]).toEqual([false, ['eth_getBalance']])
    const three = [nodes[0], createNode('g2', chain)] as const
    const both = await startConfirmed(three)
    both.addEntry(trace)
    await both.confirm()
    expect([both.readEntry(trace), three[1].queries]).toEqual([true, ['trace_block']])
  })

  test('what was stored without it is not found, and without it nothing that was stored with it', async () => {
    const node = createNode('one', createChain())
    const file = openTestFile()
    const names: unknown[] = []
    for (const confirm of [false, true, false]) {
      const { store, verify } = start([node], file, { confirm })
      await verify()
      names.push(store.getChain())
    }
    expect(names).toEqual([
      expect.stringMatching(/^testnet 1 [\da-f-]+$/),
      expect.stringMatching(/^testnet 1 confirmed [\da-f-]+$/),
      names[0],
    ])
    while (file.writer.purge('testnet 1', undefined) > 0);
    expect(file.writer.getCheckpoint('testnet 1 confirmed')).toBeUndefined()
  })
})
