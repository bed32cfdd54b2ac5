import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream, SeenCall } from './fakeUpstream.ts'
import { chainIds } from './startGateway.ts'

/** A node with a log in every third block, and a limit on the range of `eth_getLogs`. */
export interface LogNode extends FakeUpstream {
  /** The most blocks of a query. */
  maxBlocks: number
  /** The message with which it rejects more. */
  message: string
  /** Part of each block's hash: another one is another chain. */
  fork: string
  /** Numbers without a block. */
  readonly withoutBlock: Set<number>
  /** Responds for one of these. */
  respondWithout: (call: SeenCall) => string
  /** The ranges that were queried, as in `0-9`, and `block 9` for a block. */
  readonly queries: string[]
  /** Called before it responds to a query for logs. It may respond itself: then it returns true. */
  onLogs: (...args: Parameters<Behaviour>) => boolean | undefined
}

const toHex = (block: number): string => `0x${block.toString(16)}`

/** The logs of a range as the source text of a node's result. */
export const toLogs = (from: number, to: number, fork = 'aa'): string => {
  const logs: string[] = []
  for (let block = from; block <= to; block += 1)
    if (block % 3 === 0) logs.push(`{"blockNumber":"${toHex(block)}","blockHash":"0x${fork}${block}","data":"0x"}`)
  return `[${logs.join(',')}]`
}

/** Starts a log node. Its head is block 1000. */
export const startLogNode = async (): Promise<LogNode> => {
  const upstream = await startFakeUpstream(chainIds.testnet)
  const node: LogNode = Object.assign(upstream, {
    maxBlocks: Infinity,
    message: 'block range too large',
    fork: 'aa',
    withoutBlock: new Set<number>(),
    respondWithout: (call: SeenCall) => result(call, 'null'),
    queries: [],
    onLogs: () => undefined,
    head: 1_000,
    finalized: 0,
  })
  const resolve = (block: unknown): number => {
    const tags: Record<string, number> = { earliest: 0, latest: node.head, finalized: node.finalized }
    return tags[String(block)] ?? Number(block)
  }
  const respondWithBlock = (call: SeenCall): string => {
    const number = resolve((call.params as [string])[0])
    node.queries.push(`block ${number}`)
    if (node.withoutBlock.has(number)) return node.respondWithout(call)
    return result(
      call,
      number > node.head ? 'null' : `{"number":"${toHex(number)}","hash":"0x${node.fork}${number}","transactions":[]}`,
    )
  }
  node.behave = (call, response) => {
    if (call.method === 'eth_getBlockByNumber') return respondWithBlock(call)
    if (call.method !== 'eth_getLogs') return result(call, '"0x1"')
    const [{ fromBlock, toBlock }] = call.params as [{ fromBlock: unknown; toBlock: unknown }]
    const [from, to] = [resolve(fromBlock), resolve(toBlock)]
    node.queries.push(`${from}-${to}`)
    if (node.onLogs(call, response) === true) return undefined
    if (to - from >= node.maxBlocks)
      return `{"jsonrpc":"2.0","id":${call.id},"error":{"code":-32602,"message":"${node.message}"}}`
    return result(call, toLogs(from, Math.min(to, node.head), node.fork))
  }
  return node
}
