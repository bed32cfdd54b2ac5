import { findPinnedBlock } from './findPinnedBlock.ts'

/** The methods that read the state of a block, and the index of the param that names the block. */
const stateParams: ReadonlyMap<string, number> = new Map([
  ['eth_call', 1],
  ['eth_estimateGas', 1],
  ['eth_createAccessList', 1],
  ['eth_simulateV1', 1],
  ['eth_getBalance', 1],
  ['eth_getCode', 1],
  ['eth_getTransactionCount', 1],
  ['eth_getStorageAt', 2],
  ['eth_getProof', 2],
  ['debug_traceCall', 1],
  ['debug_traceBlockByNumber', 0],
  ['trace_call', 2],
  ['trace_callMany', 1],
  ['trace_block', 0],
  ['trace_replayBlockTransactions', 0],
])

/**
 * Gets the number of the block whose state a call reads.
 * @param params - Source text.
 * @returns `undefined` if the call reads no state, or names its block by a tag or a hash.
 * @example
 * getStateBlock('eth_getBalance', '["0x00", "0x10"]') // 16
 */
export const getStateBlock = (method: string, params: string | undefined): number | undefined => {
  const at = stateParams.get(method)
  if (at === undefined || params === undefined) return undefined
  const pin = findPinnedBlock({ by: 'block', at }, params)
  return typeof pin === 'number' ? pin : undefined
}
