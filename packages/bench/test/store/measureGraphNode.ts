import { post } from '@keyrail/gateway/test/startGateway.ts'
import { createModelChain, toAddress, toWord } from '@keyrail/gateway/test/chainStore/modelChain.ts'
import type { ModelChain } from '@keyrail/gateway/test/chainStore/modelChain.ts'
import { startChainNode } from '@keyrail/gateway/test/chainStore/startChainNode.ts'
import { createRandom } from '@keyrail/gateway/test/chainStore/storeFuzz.ts'
import type { Random } from '@keyrail/gateway/test/chainStore/storeFuzz.ts'
import type { SyncOptions } from './measuredProxy.ts'

/** A call of an indexer. */
interface IndexerCall {
  readonly first: number
  readonly last: number
  readonly addresses: readonly string[]
}

/** The calls of Graph Node: ranges that grow tenfold up to 2,000 blocks, and shrink where there are many logs. */
const toCalls = (addresses: readonly string[], head: number, random: Random): readonly IndexerCall[] => {
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

const contracts = Array.from({ length: 55 }, (_, at) => toAddress(at + 1))

/** A chain of contracts with logs in 0.01 to 5 % of the blocks. */
const createChain = (blocks: number, random: Random): ModelChain => {
  const chain = createModelChain()
  for (let number = 1; number <= blocks; number += 1)
    chain.mine(
      contracts.flatMap((address, at) =>
        random(20_000) < 2 * 500 ** (at / contracts.length)
          ? [{ address, topics: [toWord(1), toWord(random(1_000))], data: `0x${'00'.repeat(32)}` }]
          : [],
      ),
    )
  return chain
}

/** Syncs a chain several times through a proxy, as Graph Node would, and a subset and a superset of its contracts. @returns How many queries confirmed empty ranges. */
export const measureGraphNode = async ({ open, blocks, seed, onSync }: SyncOptions): Promise<number> => {
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
  const sync = async (name: string, addresses: readonly string[], own: number): Promise<void> => {
    const calls = toCalls(addresses, blocks, createRandom(own))
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
    onSync({
      name,
      calls: calls.length,
      finalCalls: calls.filter(({ last }) => last <= options.finalized).length,
      queries: queried.length,
      // As in `5-9 0x01`.
      finalQueries: queried.filter((query) => parseInt(query.split('-')[1] ?? '', 10) <= options.finalized).length,
      logs: nodes.reduce((sum, { sentLogs }) => sum + sentLogs, 0),
      seconds: (performance.now() - startedAt) / 1_000,
      wrong,
    })
  }
  try {
    await send({ first: 0, last: 0, addresses: contracts.slice(0, 1) })
    await new Promise((resolve) => setTimeout(resolve, 500))
    const fifty = contracts.filter((_, at) => at % 11 > 0)
    await sync('first sync', fifty, 1)
    await proxy.finishSync()
    const confirmations = nodes.reduce((sum, node) => sum + node.confirmations.length, 0)
    await sync('second sync', fifty, 2)
    await sync(
      'a subset',
      fifty.filter((_, at) => at % 3 === 0),
      3,
    )
    await sync('five more', contracts, 4)
    return confirmations
  } finally {
    await proxy.close()
    for (const node of nodes) await node.stop()
  }
}
