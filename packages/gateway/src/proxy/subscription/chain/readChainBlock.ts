import { toHex } from '../../upstream/logs/parseLogFilter.ts'
import { ChainReadError } from './chainNodes.ts'
import type { ChainNode } from './chainNodes.ts'
import { parseBlock } from './parseBlock.ts'
import type { ChainBlock } from './parseBlock.ts'

/**
 * Reads a block from a node.
 * @param block - Its number, its hash or `latest`.
 * @throws {ChainReadError} If the node does not have it, or sent something else.
 */
export const readChainBlock = async (node: ChainNode | undefined, block: number | string): Promise<ChainBlock> => {
  if (node === undefined) throw new ChainReadError('no node is usable', true)
  const isHash = typeof block === 'string' && block !== 'latest'
  const method = isHash ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
  const text = await node.call(method, `["${typeof block === 'number' ? toHex(block) : block}",false]`)
  const read = parseBlock(text)
  if (read === null) throw new ChainReadError(`the node does not have block ${block}`)
  if (read === undefined) throw new ChainReadError(`the node sent no valid block ${block}`, true)
  if ((isHash && read.hash !== block) || (typeof block === 'number' && read.number !== block))
    throw new ChainReadError(`the node sent another block than ${block}`, true)
  return read
}
