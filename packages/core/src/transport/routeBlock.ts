import { blockNumber } from './heads.ts'
import { areByName } from './writeParams.ts'

/** At which block a call reads. */
export interface BlockRead {
  /** It reads at the head, or looks up to it: an answer from a node behind is an answer about the past. */
  readonly atHead: boolean
  /** The number of the block that it names; undefined where it names none. */
  readonly number: number | undefined
  /** The same params, as JSON text, with the head named by its number. */
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
  // Too few params: the node will say so.
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
      // Also where both ends are numbers: of blocks that it does not have yet, a node says that they hold no logs.
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
  // What is pending is not in a block yet, so it cannot be named by one.
  return {
    atHead: latest(block) || block === 'pending',
    number: blockNumber(block) || undefined,
    pin: (head) => (latest(block) ? write(hex(head)) : params),
  }
}

const hex = (number: number): string => `0x${number.toString(16)}`
