import { toHex } from '../../../lib/rpc/quantity.ts'
import { ChainReadError } from './chainNodes.ts'
import type { ChainNode } from './chainNodes.ts'
import { parseBlock } from './parseBlock.ts'
import type { ChainBlock } from './parseBlock.ts'

/**
 * Reads the block with a number that is not above a node's head.
 * @returns `undefined` if there is none: numbers of some chains have no block. Only the parent hash of the next one shows that none is missing.
 * @throws {ChainReadError} If the node failed, or sent something else.
 */
export const readNumberedBlock = async (
  node: ChainNode | undefined,
  number: number,
): Promise<ChainBlock | undefined> => {
  try {
    return await readChainBlock(node, number)
  } catch (error) {
    if (error instanceof ChainReadError && !error.isNodeFailure) return undefined
    throw error
  }
}

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
  // Some nodes send the block before a number that has none.
  if (typeof block === 'number' && read.number < block) throw new ChainReadError(`the node has no block ${block}`)
  if ((isHash && read.hash !== block) || (typeof block === 'number' && read.number !== block))
    throw new ChainReadError(`the node sent another block than ${block}`, true)
  return read
}
