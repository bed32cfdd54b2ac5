import { createFailure } from '../failure/createFailure.ts'
import type { KeyrailError } from '../failure/keyrailError.ts'
import { blockNumber } from './heads.ts'
import { areByName } from './writeParams.ts'

/** The block at which a call reads. */
export interface BlockRead {
  /** Whether the call reads at the head or up to it, so that the response of a node that is behind would be out of date. */
  readonly atHead: boolean
  /** The number of the block in the params; undefined if they hold no number. */
  readonly number: number | undefined
  /** Returns the params as JSON text, with the tag of the head replaced by a block number. */
  readonly pin: (head: number) => string
}

/** The methods whose params name a block by number or tag, and the position of that param. */
const blockParam: ReadonlyMap<string, number> = new Map([
  ['debug_getRawBlock', 0],
  ['debug_getRawBlockAccessList', 0],
  ['debug_getRawHeader', 0],
  ['debug_getRawReceipts', 0],
  ['debug_traceBlockByNumber', 0],
  ['eth_getBlockAccessList', 0],
  ['eth_getBlockByNumber', 0],
  ['eth_getBlockReceipts', 0],
  ['eth_getBlockTransactionCountByNumber', 0],
  ['eth_getHeaderByNumber', 0],
  ['eth_getLogs', 0],
  ['eth_getRawTransactionByBlockNumberAndIndex', 0],
  ['eth_getTransactionByBlockNumberAndIndex', 0],
  ['eth_getUncleByBlockNumberAndIndex', 0],
  ['eth_getUncleCountByBlockNumber', 0],
  ['trace_block', 0],
  ['trace_replayBlockTransactions', 0],
  ['debug_traceCall', 1],
  ['eth_call', 1],
  ['eth_createAccessList', 1],
  ['eth_estimateGas', 1],
  ['eth_feeHistory', 1],
  ['eth_getAccount', 1],
  ['eth_getAccountInfo', 1],
  ['eth_getBalance', 1],
  ['eth_getCode', 1],
  ['eth_getStorageValues', 1],
  ['eth_getTransactionCount', 1],
  ['eth_simulateV1', 1],
  ['trace_callMany', 1],
  ['eth_getProof', 2],
  ['eth_getStorageAt', 2],
  ['trace_call', 2],
])

/** The methods of this table that take the index of a transaction or uncle in the block. */
const methodsWithIndex: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'eth_getRawTransactionByBlockNumberAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getUncleByBlockNumberAndIndex',
])

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
  const logs = method === 'eth_getLogs'
  const place = blockParam.get(method)
  if (place === undefined || areByName(params)) return undefined
  const values = JSON.parse(params) as unknown[]
  // With too few params, the node reports the error.
  if (values.length < place || (logs && !values[0])) return undefined
  const block = values[place]
  const write = (value: unknown): string => {
    values[place] = value
    return JSON.stringify(values)
  }
  if (logs) {
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
          ...(latest(fromBlock) && { fromBlock: number }),
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
  // The result for an index is also null if the block has no transaction or uncle at that index.
  if (result !== null || !block || methodsWithIndex.has(method)) return false
  return block.atHead || (block.number ?? Infinity) <= minBlock
}

/** Creates the failure of a call at a node that has not reached a block. */
export function createLaggingFailure(method: string, minBlock: number, redactedUrl: string): KeyrailError {
  return createFailure({ kind: 'lagging', text: `the node has not reached block ${minBlock}` }, { method, redactedUrl })
}
