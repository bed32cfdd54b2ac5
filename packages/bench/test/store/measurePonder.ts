import { createRandom } from '@keyrail/gateway/test/chainStore/storeFuzz.ts'
import { toAddress } from '@keyrail/gateway/test/chainStore/modelChain.ts'
import { chainIds } from '@keyrail/gateway/test/startGateway.ts'
import { startRelay } from '../gateway/relay.ts'
import { createTokenChain } from './createTokenChain.ts'
import { runPonder } from './runPonder.ts'
import { getNamedBlock, startTokenNode, tailBlocks } from './startTokenNode.ts'
import type { SyncOptions } from './measuredProxy.ts'

const [lowest, highest] = [0.000_1, 0.01]
const tokens = Array.from({ length: 55 }, (_, at) => toAddress(0x1000 + at))
const densities = tokens.map((_, at) => lowest * (highest / lowest) ** (((at * 21) % tokens.length) / tokens.length))
/** In tokens without and with receipts. */
const split = (own: readonly string[]): { tokens: readonly string[]; withReceipts: readonly string[] } => ({
  tokens: own.filter((_, at) => at % 10 !== 0),
  withReceipts: own.filter((_, at) => at % 10 === 0),
})

/** Syncs a chain several times with Ponder through a proxy, and a subset and a superset of its tokens. @returns How many queries confirmed empty ranges. */
export const measurePonder = async ({ open, blocks, seed, onSync }: SyncOptions): Promise<number> => {
  const chain = createTokenChain(createRandom(seed), { blocks, tokens, densities })
  const nodes = [await startTokenNode(chain), await startTokenNode(chain)]
  const proxy = await open(nodes)
  const { port, pathname } = new URL(proxy.rpcUrl)
  const finalized = blocks - tailBlocks
  const isNamed = (block: number | undefined): boolean => block !== undefined
  const isFinal = (block: number | undefined): boolean => block !== undefined && block <= finalized
  const sync = async (name: string, own: readonly string[]): Promise<void> => {
    const relay = await startRelay(Number(port))
    for (const node of nodes) {
      node.calls.length = 0
      node.sentLogs = 0
    }
    const startedAt = performance.now()
    const expected = chain.count(own)
    const counted = await runPonder({
      rpcUrl: `${relay.url}${pathname}`,
      chainId: chainIds.testnet,
      logs: expected.logs,
      ...split(own),
    })
    const seconds = (performance.now() - startedAt) / 1_000
    await relay.close()
    const called = relay.requests.map(({ body }) => getNamedBlock(chain, JSON.parse(body)))
    const queried = nodes.flatMap(({ calls }) => calls).map((call) => getNamedBlock(chain, call))
    onSync({
      name,
      calls: called.filter(isNamed).length,
      finalCalls: called.filter(isFinal).length,
      queries: queried.filter(isNamed).length,
      finalQueries: queried.filter(isFinal).length,
      logs: nodes.reduce((sum, { sentLogs }) => sum + sentLogs, 0),
      seconds,
      wrong: counted.logs === expected.logs && counted.amount === expected.amount ? 0 : 1,
    })
  }
  try {
    const fifty = tokens.slice(0, 50)
    await sync('first sync', fifty)
    await proxy.finishSync()
    const confirmations = nodes.reduce((sum, node) => sum + node.confirmations.length, 0)
    await sync('second sync', fifty)
    await sync(
      'a subset',
      fifty.filter((_, at) => at % 3 === 0),
    )
    await sync('five more', tokens)
    return confirmations
  } finally {
    await proxy.close()
    for (const node of nodes) await node.stop()
  }
}
