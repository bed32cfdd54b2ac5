import { result } from '@keyrail/gateway/test/fakeUpstream.ts'
import type { SeenCall } from '@keyrail/gateway/test/fakeUpstream.ts'
import { startChainNode } from '@keyrail/gateway/test/chainStore/startChainNode.ts'
import type { ChainNode } from '@keyrail/gateway/test/chainStore/startChainNode.ts'
import type { TokenChain } from './createTokenChain.ts'

/** A node of a token chain. */
export interface TokenNode extends ChainNode<TokenChain> {
  /** The calls of others than the gateway itself, in their order. */
  readonly calls: SeenCall[]
}

/** How many blocks of a chain are not final, and the most blocks of a query. */
export const [tailBlocks, maxBlocks] = [64, 10_000] as const

/** Gets the block that a call names by its number or its hash; `undefined` if it names none, or a tag. */
export const getNamedBlock = (chain: TokenChain, { method, params }: SeenCall): number | undefined => {
  const [first] = (params ?? []) as readonly (string | Readonly<Record<string, string>> | undefined)[]
  const named = typeof first === 'object' ? (first['blockHash'] ?? first['toBlock']) : first
  if (typeof named !== 'string' || !/^eth_get(Block|Logs)/.test(method) || !named.startsWith('0x')) return undefined
  return named.length === 66 ? chain.getNumber(named) : Number(named)
}

/** Starts a node. */
export const startTokenNode = async (chain: TokenChain): Promise<TokenNode> => {
  const own = { finalized: chain.blocks - tailBlocks, head: chain.blocks, maxBlocks, calls: [] as SeenCall[] }
  const started = await startChainNode(chain, own)
  const node = Object.assign(started, own)
  const { behave } = started
  node.behave = (call, response) => {
    const { method, params } = call
    const [first] = (params ?? ['']) as readonly [string]
    node.calls.push(call)
    if (method === 'eth_getBlockByHash') return result(call, chain.getBlock(chain.getNumber(first) ?? -1))
    if (method === 'eth_getBlockReceipts')
      return result(call, chain.getReceipts(chain.getNumber(first) ?? Number(first)))
    // By hash, as Ponder reads the newest blocks.
    const [filter] = (params ?? [{}]) as readonly [Readonly<Record<string, string>>]
    const number = method === 'eth_getLogs' ? chain.getNumber(filter['blockHash'] ?? '') : undefined
    return behave(
      number === undefined ? call : { ...call, params: [{ ...filter, fromBlock: number, toBlock: number }] },
      response,
    )
  }
  return node
}
