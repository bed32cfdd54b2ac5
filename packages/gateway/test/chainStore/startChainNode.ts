import { anyAddress } from '../../src/storage/chainStore/logQuery.ts'
import type { LogQuery, Topics } from '../../src/storage/chainStore/logQuery.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream, SeenCall } from '../fakeUpstream.ts'
import { chainIds } from '../startGateway.ts'
import type { LogStyle, ModelChain } from './modelChain.ts'

/** What a node reads of its chain. */
type NodeChain = Pick<ModelChain, 'getLogs' | 'getBlock'>

/** A node of a model chain. */
export interface ChainNode<Chain extends NodeChain = ModelChain> extends FakeUpstream {
  chain: Chain
  /** The last block that it has indexed: it finds no logs of later ones. */
  indexedTo: number
  /** The most blocks of a query of logs. */
  maxBlocks: number
  style: LogStyle
  /** The queries of logs by callers, as in `5-9 0x01,0x02`. */
  readonly queries: string[]
  /** The queries of logs that confirm. */
  readonly confirmations: string[]
  /** How many logs it has sent to callers. */
  sentLogs: number
}

const toList = (value: unknown): readonly string[] => (Array.isArray(value) ? (value as string[]) : [String(value)])

const toQuery = ([filter]: readonly Record<string, unknown>[]): LogQuery => {
  const { address, topics = [], fromBlock, toBlock } = filter ?? {}
  return {
    first: Number(fromBlock),
    last: Number(toBlock),
    addresses: address === undefined ? [anyAddress] : toList(address).map((one) => one.toLowerCase()),
    topics: (topics as unknown[]).map((one) => (one === null ? null : toList(one))) as Topics,
  }
}

/** Starts a node of a chain. */
export const startChainNode = async <Chain extends NodeChain>(
  chain: Chain,
  own: Partial<ChainNode<Chain>> = {},
): Promise<ChainNode<Chain>> => {
  const upstream = await startFakeUpstream(chainIds.testnet)
  const node: ChainNode<Chain> = Object.assign(
    upstream,
    {
      chain,
      indexedTo: Infinity,
      maxBlocks: Infinity,
      style: 'plain' as const,
      queries: [],
      confirmations: [],
      sentLogs: 0,
      head: 1_000,
    },
    own,
  )
  const respond = (call: SeenCall, seen: string[]): string => {
    if (call.method === 'eth_getBlockByNumber') {
      const [block] = call.params as [string]
      const tags: Readonly<Record<string, number>> = { latest: node.head, finalized: node.finalized }
      return result(call, node.chain.getBlock(tags[block] ?? Number(block)))
    }
    // Other proxies than the gateway ask for these as callers do.
    if (call.method === 'eth_blockNumber') return result(call, `"0x${node.head.toString(16)}"`)
    if (call.method === 'eth_syncing') return result(call, 'false')
    if (call.method !== 'eth_getLogs') return result(call, '"0x1"')
    const query = toQuery(call.params as Record<string, unknown>[])
    seen.push(`${query.first}-${query.last} ${query.addresses.map((one) => one.replace(/^0x0*/, '')).join()}`)
    if (query.last - query.first >= node.maxBlocks)
      return `{"jsonrpc":"2.0","id":${call.id},"error":{"code":-32602,"message":"block range too large, max range: ${node.maxBlocks}"}}`
    const logs = node.chain.getLogs({ ...query, last: Math.min(query.last, node.indexedTo) }, node.style)
    if (seen === node.queries) node.sentLogs += logs.split('"logIndex"').length - 1
    return result(call, logs)
  }
  node.behave = (call) => respond(call, node.queries)
  node.behaveForQueries = (call) =>
    call.method === 'eth_getLogs' || call.method === 'eth_getBlockByNumber'
      ? respond(call, node.confirmations)
      : undefined
  return node
}
