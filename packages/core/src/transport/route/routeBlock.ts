import { createFailure } from '../../failure/createFailure.ts'
import type { KeyrailError } from '../../failure/keyrailError.ts'
import { toMethodMap } from '../../schema/methodGroups.ts'
import { blockMethods, nullMethods } from '../../schema/methodSlice.ts'
import { blockNumber } from './heads.ts'
import { areByName } from '../call/writeParams.ts'

/** The block at which a call reads. */
export interface BlockRead {
  /** Whether the call reads at the head or up to it, so that the response of a node that is behind would be out of date. */
  readonly atHead: boolean
  /** The number of the block in the params; undefined if they hold no number. */
  readonly number: number | undefined
  /** Returns the params as JSON text, with the tag of the head replaced by a block number. */
  readonly pin: (head: number) => string
}

/** The position of the block in the params of a read, or `range` and the position of an object with both ends of a range. */
const blockPositions = /* @__PURE__ */ toMethodMap(blockMethods)

/** Methods that return null at blocks that the node has: for an index without a transaction or uncle, for an account that does not exist. */
const nullable = /* @__PURE__ */ toMethodMap(nullMethods)

/** Where the block is in the params of a method, or `range` and where an object with both ends of a range is; undefined for neither. */
export const getBlockPosition = (method: string): string | undefined => blockPositions.get(method)

const latest = (block: unknown): boolean => block === 'latest' || block == null

/**
 * Finds out at which block a call reads.
 *
 * @param method - The method.
 * @param params - Its params as JSON text.
 * @returns Undefined if the method reads at no block, or the params are by name.
 * @example
 * readBlock('eth_getBalance', '["0xabc","latest"]')?.pin(16) // '["0xabc","0x10"]'
 * @see The Ethereum JSON-RPC specification, "The default block parameter"
 */
export function readBlock(method: string, params: string): BlockRead | undefined {
  const position = blockPositions.get(method)
  if (position === undefined || areByName(params)) return undefined
  const range = position.startsWith('range')
  const place = Number(position.replace('range', ''))
  const values = JSON.parse(params) as unknown[]
  // With too few params, the node reports the error.
  if (values.length < place || (range && !values[place])) return undefined
  const block = values[place]
  const write = (value: unknown): string => {
    values[place] = value
    return JSON.stringify(values)
  }
  if (range) {
    const filter = block as { readonly blockHash?: unknown; readonly fromBlock?: unknown; readonly toBlock?: unknown }
    if (filter.blockHash) return undefined
    const { fromBlock, toBlock } = filter
    return {
      // Even if both ends are numbers: for blocks that a node does not have yet, it returns an empty list.
      atHead: true,
      number: undefined,
      pin: (head) => {
        const number = hex(head)
        return write({
          ...filter,
          // Without `fromBlock`, `eth_getLogs` starts at the latest block. For traces, nodes differ.
          ...(latest(fromBlock) && (fromBlock || method === 'eth_getLogs') && { fromBlock: number }),
          ...(latest(toBlock) && { toBlock: number }),
        })
      },
    }
  }
  // The pending block has no number yet.
  return {
    atHead: latest(block) || block === 'pending',
    number: blockNumber(block) || undefined,
    pin: (head) => (latest(block) ? write(hex(head)) : params),
  }
}

const hex = (number: number): string => `0x${number.toString(16)}`

/**
 * Checks whether a result shows that the node has not reached a block.
 *
 * @param method - The method of the call.
 * @param block - The block at which the call reads, if any.
 * @param minBlock - The block that the node must have reached.
 * @param result - The result of the call.
 */
export function isBehind(method: string, block: BlockRead | undefined, minBlock: number, result: unknown): boolean {
  if (method === 'eth_blockNumber') return blockNumber(result) < minBlock
  if (result !== null || !block || nullable.has(method)) return false
  return block.atHead || (block.number ?? Infinity) <= minBlock
}

/** Creates the failure of a call at a node that has not reached a block. */
export function createLaggingFailure(method: string, minBlock: number, redactedUrl: string): KeyrailError {
  return createFailure({ kind: 'lagging', text: `the node has not reached block ${minBlock}` }, { method, redactedUrl })
}
