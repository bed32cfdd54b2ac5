import { startTcpProxy } from '@keyrail/gateway/test/startTcpProxy.ts'
import { byDefault, startScriptedNode } from '@keyrail/gateway/test/subscription/scriptedNode.ts'
import { isMatch } from './chaosChain.ts'
import type { ChaosBlock, ChaosFilter } from './chaosChain.ts'

/** A node that serves what it has seen of a chain, over HTTP and WebSocket. */
export interface ChaosNode {
  /** The port of a proxy in front of it, which is closed while the node is killed. */
  readonly port: number
  /** Shows the node a chain. If it is not killed, it announces the new blocks. */
  readonly see: (blocks: readonly ChaosBlock[]) => void
  readonly isKilled: () => boolean
  readonly kill: () => void
  /** Starts it again with the chain that it had. */
  readonly revive: () => void
  readonly stop: () => Promise<void>
}

/** Starts a node with a chain. */
export const startChaosNode = async (first: readonly ChaosBlock[]): Promise<ChaosNode> => {
  let blocks = first
  let isKilled = false
  /** All blocks that it has seen. */
  const known = new Map(first.map((block) => [block.hash, block]))
  const node = await startScriptedNode()
  const proxy = await startTcpProxy(Number(new URL(node.url).port))

  const toNumber = (block: unknown): number => (block === 'latest' ? blocks.length - 1 : Number(block))
  const getLogs = (filter: ChaosFilter & { blockHash?: string; fromBlock?: string; toBlock?: string }): string => {
    const { blockHash, fromBlock = 'latest', toBlock = 'latest' } = filter
    const block = known.get(blockHash ?? '')
    if (blockHash !== undefined && block === undefined) return '"error":{"code":-32000,"message":"unknown block"}'
    const range = block === undefined ? blocks.slice(toNumber(fromBlock), toNumber(toBlock) + 1) : [block]
    const logs = range.flatMap((one) => one.logs.filter((log) => isMatch(log, filter)))
    return `"result":[${logs.map(({ text }) => text).join(',')}]`
  }
  const respond = (method: string, param: unknown): string | undefined => {
    if (method === 'eth_blockNumber') return `"result":"0x${(blocks.length - 1).toString(16)}"`
    if (method === 'eth_getBlockByNumber') return `"result":${blocks[toNumber(param)]?.text ?? 'null'}`
    if (method === 'eth_getBlockByHash') return `"result":${known.get(String(param))?.text ?? 'null'}`
    if (method === 'eth_getLogs') return getLogs(param as ChaosFilter)
    return undefined
  }
  node.respond = ({ id, method, params }) => {
    const response = respond(method, params[0])
    // The calls are not examined, and there are many.
    node.calls.length = 0
    return response === undefined ? byDefault : { text: `{"jsonrpc":"2.0","id":${id},${response}}` }
  }
  return {
    port: proxy.port,
    see: (seen) => {
      const added: ChaosBlock[] = []
      // A branch that it has left is announced again when it comes back to it.
      for (let at = seen.length - 1; at >= 0 && blocks[at]?.hash !== seen[at]?.hash; at -= 1)
        added.unshift(seen[at] as ChaosBlock)
      blocks = seen
      for (const block of added) known.set(block.hash, block)
      if (isKilled) return
      for (const { text } of added) {
        const { transactions: _, size: __, uncles: ___, ...header } = JSON.parse(text) as Record<string, unknown>
        node.notify('newHeads', header)
      }
    },
    isKilled: () => isKilled,
    kill: () => {
      isKilled = true
      proxy.cut()
    },
    revive: () => {
      isKilled = false
      proxy.fix()
    },
    stop: async () => {
      await proxy.close()
      await node.stop()
    },
  }
}
