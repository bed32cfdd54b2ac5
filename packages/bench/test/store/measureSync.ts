import { post } from '@keyrail/gateway/test/startGateway.ts'
import { createModelChain, toAddress, toWord } from '@keyrail/gateway/test/chainStore/modelChain.ts'
import type { ModelChain } from '@keyrail/gateway/test/chainStore/modelChain.ts'
import { startChainNode } from '@keyrail/gateway/test/chainStore/startChainNode.ts'
import { createRandom } from '@keyrail/gateway/test/chainStore/storeFuzz.ts'
import type { Random } from '@keyrail/gateway/test/chainStore/storeFuzz.ts'
import type { OpenProxy, SyncCost } from './measuredProxy.ts'

/** A call of an indexer. */
interface IndexerCall {
  readonly first: number
  readonly last: number
  readonly addresses: readonly string[]
}

/** How an indexer splits its contracts and the chain into calls. */
export type Indexer = (addresses: readonly string[], head: number, random: Random) => readonly IndexerCall[]

/** Ponder: ranges of about 500 blocks, whose length depends on measured times; 50 addresses a call. */
const ponder: Indexer = (addresses, head, random) => {
  const calls: IndexerCall[] = []
  let size = 500
  for (let first = 0; first <= head;) {
    const last = Math.min(head, first + size - 1)
    for (let at = 0; at < addresses.length; at += 50)
      calls.push({ first, last, addresses: addresses.slice(at, at + 50) })
    first = last + 1
    size = Math.round(Math.min(2_000, Math.max(100, size * (0.9 + random(20) / 100))))
  }
  return calls
}

/** Graph Node: ranges that grow tenfold up to 2,000 blocks, and shrink where there are many logs. */
const graphNode: Indexer = (addresses, head, random) => {
  const calls: IndexerCall[] = []
  let size = 1
  for (let first = 0; first <= head;) {
    const last = Math.min(head, first + size - 1)
    calls.push({ first, last, addresses })
    first = last + 1
    size = Math.min(2_000, random(8) === 0 ? Math.max(1, Math.round(size * 0.9)) : size * 10)
  }
  return calls
}

/** The indexers, by name. */
export const indexers: Readonly<Record<string, Indexer>> = { ponder, graphNode }

/** What the syncs of an indexer cost. */
export interface SyncResult {
  readonly syncs: readonly SyncCost[]
  /** Queries of the node that confirmed empty ranges. */
  readonly confirmations: number
  readonly storedBytes: number
  /** The logs of the chain. */
  readonly logs: number
}

const contracts = Array.from({ length: 55 }, (_, at) => toAddress(at + 1))

/** A chain of contracts with logs in 0.1 to 50 % of the blocks. */
const createChain = (blocks: number, random: Random): ModelChain => {
  const chain = createModelChain()
  for (let number = 1; number <= blocks; number += 1)
    chain.mine(
      contracts.flatMap((address, at) =>
        random(2_000) < 2 * 500 ** (at / contracts.length)
          ? [{ address, topics: [toWord(1), toWord(random(1_000))], data: `0x${'00'.repeat(32)}` }]
          : [],
      ),
    )
  return chain
}

/** Syncs a chain several times through a proxy, and a subset and a superset of its contracts. */
export const measureSync = async (
  indexer: Indexer,
  { open, blocks, seed, onSync }: { open: OpenProxy; blocks: number; seed: number; onSync: (sync: SyncCost) => void },
): Promise<SyncResult> => {
  const chain = createChain(blocks, createRandom(seed))
  const options = { finalized: blocks - 64, head: blocks, maxBlocks: 10_000 }
  const nodes = [await startChainNode(chain, options), await startChainNode(chain, options)]
  const proxy = await open(nodes)
  const send = async ({ first, last, addresses }: IndexerCall): Promise<boolean> => {
    const filter = { address: addresses, fromBlock: `0x${first.toString(16)}`, toBlock: `0x${last.toString(16)}` }
    const { text } = await post(
      proxy.rpcUrl,
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] }),
    )
    return text === `{"jsonrpc":"2.0","id":1,"result":${chain.getLogs({ first, last, addresses, topics: [] })}}`
  }
  const sync = async (name: string, addresses: readonly string[], own: number): Promise<SyncCost> => {
    const calls = indexer(addresses, blocks, createRandom(own))
    const waiting = [...calls]
    for (const node of nodes) {
      node.queries.length = 0
      node.sentLogs = 0
    }
    let wrong = 0
    const startedAt = performance.now()
    const work = async (): Promise<void> => {
      for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) if (!(await send(call))) wrong += 1
    }
    await Promise.all(Array.from({ length: 8 }, work))
    const queried = nodes.flatMap(({ queries }) => queries)
    const cost: SyncCost = {
      name,
      calls: calls.length,
      finalCalls: calls.filter(({ last }) => last <= options.finalized).length,
      queries: queried.length,
      // As in `5-9 0x01`.
      finalQueries: queried.filter((query) => parseInt(query.split('-')[1] ?? '', 10) <= options.finalized).length,
      logs: nodes.reduce((sum, { sentLogs }) => sum + sentLogs, 0),
      seconds: (performance.now() - startedAt) / 1_000,
      wrong,
    }
    onSync(cost)
    return cost
  }
  try {
    await send({ first: 0, last: 0, addresses: contracts.slice(0, 1) })
    await new Promise((resolve) => setTimeout(resolve, 500))
    const fifty = contracts.filter((_, at) => at % 11 > 0)
    const first = await sync('first sync', fifty, 1)
    await proxy.finishSync()
    const confirmations = nodes.reduce((sum, node) => sum + node.confirmations.length, 0)
    const second = await sync('second sync', fifty, 2)
    const subset = await sync(
      'a subset',
      fifty.filter((_, at) => at % 3 === 0),
      3,
    )
    const more = await sync('five more', contracts, 4)
    const logs = chain.blocks.reduce((sum, block) => sum + block.logs.length, 0)
    return { syncs: [first, second, subset, more], confirmations, storedBytes: await proxy.getStoredBytes(), logs }
  } finally {
    await proxy.close()
    for (const node of nodes) await node.stop()
  }
}
