import { getNamedBlock } from './heads/getNamedBlock.ts'

/** The methods that read the state of a block. */
const stateMethods: ReadonlySet<string> = new Set([
  'debug_executionWitness',
  'debug_storageRangeAt',
  'debug_traceBlockByNumber',
  'debug_traceCall',
  'eth_call',
  'eth_createAccessList',
  'eth_estimateGas',
  'eth_getAccount',
  'eth_getAccountInfo',
  'eth_getBalance',
  'eth_getCode',
  'eth_getProof',
  'eth_getStorageAt',
  'eth_getStorageValues',
  'eth_getTransactionCount',
  'eth_simulateV1',
  'trace_block',
  'trace_call',
  'trace_callMany',
  'trace_replayBlockTransactions',
])

/**
 * Gets the number of the block whose state a call reads.
 * @param params - Source text.
 * @returns `undefined` if the call reads no state, or names its block by a tag or a hash.
 * @example
 * getStateBlock('eth_getBalance', '["0x00", "0x10"]') // 16
 */
export const getStateBlock = (method: string, params: string | undefined): number | undefined => {
  const named = stateMethods.has(method) ? getNamedBlock(method, params) : undefined
  return typeof named === 'object' ? named.number : undefined
}
