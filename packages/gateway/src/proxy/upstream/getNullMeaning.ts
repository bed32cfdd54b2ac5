import { isWeightedMethod } from '../method/weights.ts'
import { replayMethods } from './replayMethods.ts'

/** Methods with which a node responds `null` for a block, transaction or receipt that it does not have, although another node may. */
const nullMethods: ReadonlySet<string> = new Set([
  'debug_getRawTransaction',
  'eth_getBlockByHash',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByHash',
  'eth_getHeaderByHash',
  'eth_getRawTransactionByBlockHashAndIndex',
  'eth_getRawTransactionByHash',
  'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByHash',
  'eth_getTransactionBySenderAndNonce',
  'eth_getTransactionReceipt',
  'eth_getTransactionReceiptsByBlock',
  'eth_getUncleByBlockHashAndIndex',
  'eth_getUncleCountByBlockHash',
])

/** The same for methods whose first param is a block's number or tag. */
export const numberMethods: ReadonlySet<string> = new Set([
  'eth_getBlockAccessList',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByNumber',
  'eth_getHeaderByNumber',
  'eth_getRawTransactionByBlockNumberAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getUncleByBlockNumberAndIndex',
  'eth_getUncleCountByBlockNumber',
])

/**
 * Methods with which a node that has everything may respond `null`: what a tracer returns, a fee of a chain that has none, an account that does not
 * exist, an empty list of some nodes, and writes, which must not be sent to another node.
 */
const otherNullMethods: ReadonlySet<string> = new Set([
  'debug_getBadBlocks',
  'debug_getRawBlockAccessList',
  'debug_traceCall',
  'eth_baseFee',
  'eth_blobBaseFee',
  'eth_getAccount',
  'eth_sendRawTransaction',
  'eth_sendRawTransactionSync',
  'eth_subscribe',
  'eth_unsubscribe',
])

/**
 * Gets what a `null` means. `unconfirmed`: another node should confirm it. `impossible`: the method never returns it, so the node lacks something.
 * `valid`: it is the result.
 * @see https://github.com/ethereum/execution-apis
 */
export const getNullMeaning = (method: string): 'unconfirmed' | 'impossible' | 'valid' => {
  if (nullMethods.has(method) || numberMethods.has(method) || replayMethods.has(method)) return 'unconfirmed'
  return isWeightedMethod(method) && !otherNullMethods.has(method) ? 'impossible' : 'valid'
}

/** Checks whether a result is `null`. */
export const isNull = (value: Buffer | string): boolean => value.length === 4 && value.toString('latin1') === 'null'
