import { getApiKeyUrl } from '../../src/index.ts'
import { post, startGateway } from '../startGateway.ts'
import { createModelChain, toAddress, toWord } from './modelChain.ts'
import type { ModelChain } from './modelChain.ts'
import { openMeasuredStore } from './openFuzzedStores.ts'
import { startChainNode } from './startChainNode.ts'
import { createRandom } from './storeFuzz.ts'
import type { Random } from './storeFuzz.ts'

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

/** What one sync cost. */
export interface SyncCost {
  readonly name: string
  readonly calls: number
  /** Queries of the node for these calls. */
  readonly queries: number
  readonly seconds: number
  /** The calls that end above the final block, which always need a node. */
  readonly tail: number
}

/** What the syncs of an indexer cost. */
export interface SyncResult {
  readonly syncs: readonly SyncCost[]
  /** Queries of the node that confirmed empty ranges. */
  readonly confirmations: number
  readonly wrong: number
  readonly storedBytes: number
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

/** Syncs a chain several times through a service with a chain store, and a subset and a superset of its contracts. */
export const measureSync = async (
  indexer: Indexer,
  { file, blocks, seed }: { readonly file: string; readonly blocks: number; readonly seed: number },
): Promise<SyncResult> => {
  const chain = createChain(blocks, createRandom(seed))
  const options = { finalized: blocks - 64, head: blocks, maxBlocks: 10_000 }
  const [node, other] = [await startChainNode(chain, options), await startChainNode(chain, options)]
  const chainStore = await openMeasuredStore(file, 1e11)
  const { gateway, url, testnetKey } = await startGateway({ testnet: [node.url, other.url] }, { chainStore })
  const rpcUrl = getApiKeyUrl(url, 'testnet', testnetKey)
  let wrong = 0
  const send = async ({ first, last, addresses }: IndexerCall): Promise<void> => {
    const filter = { address: addresses, fromBlock: `0x${first.toString(16)}`, toBlock: `0x${last.toString(16)}` }
    const { text } = await post(
      rpcUrl,
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] }),
    )
    if (text !== `{"jsonrpc":"2.0","id":1,"result":${chain.getLogs({ first, last, addresses, topics: [] })}}`)
      wrong += 1
  }
  const sync = async (name: string, addresses: readonly string[], own: number): Promise<SyncCost> => {
    const calls = indexer(addresses, blocks, createRandom(own))
    const waiting = [...calls]
    const before = node.queries.length + other.queries.length
    const startedAt = performance.now()
    const work = async (): Promise<void> => {
      for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) await send(call)
    }
    await Promise.all(Array.from({ length: 8 }, work))
    const queries = node.queries.length + other.queries.length - before
    const seconds = (performance.now() - startedAt) / 1_000
    const tail = calls.filter(({ last }) => last > options.finalized).length
    return { name, calls: calls.length, queries, seconds, tail }
  }
  const untilConfirmed = async (): Promise<void> => {
    const count = async (): Promise<number> =>
      (await chainStore.getStats()).chains.reduce((sum, { unconfirmed }) => sum + unconfirmed, 0)
    // What is above the final block is never stored, so the count ends at 0.
    while ((await count()) > 0) await new Promise((resolve) => setTimeout(resolve, 500))
  }
  // Until the chain is verified.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  await send({ first: 0, last: 0, addresses: contracts.slice(0, 1) })
  await new Promise((resolve) => setTimeout(resolve, 500))
  const fifty = contracts.slice(0, 50)
  const syncs = [await sync('first sync', fifty, 1)]
  await untilConfirmed()
  const confirmations = node.confirmations.length + other.confirmations.length
  syncs.push(
    await sync('second sync', fifty, 2),
    await sync(
      'a subset',
      fifty.filter((_, at) => at % 3 === 0),
      3,
    ),
  )
  syncs.push(await sync('five more', contracts, 4))
  const { bytes } = await chainStore.getStats()
  await gateway.close({ graceMs: 0 })
  await chainStore.close()
  await Promise.all([node.stop(), other.stop()])
  const logs = chain.blocks.reduce((sum, block) => sum + block.logs.length, 0)
  return { syncs, confirmations, wrong, storedBytes: bytes, logs }
}
