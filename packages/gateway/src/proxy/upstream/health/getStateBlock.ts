import { methods } from '../../../lib/methods.ts'
import { getNamedBlock } from '../heads/getNamedBlock.ts'

/**
 * Gets the number of the block whose state a call reads.
 * @param params - Source text.
 * @returns `undefined` if the call reads no state, or names its block by a tag or a hash.
 * @example
 * getStateBlock('eth_getBalance', '["0x00", "0x10"]') // 16
 */
export const getStateBlock = (method: string, params: string | undefined): number | undefined => {
  const { state, replays } = methods.get(method) ?? {}
  const named = state || replays ? getNamedBlock(method, params) : undefined
  return typeof named === 'object' ? named.number : undefined
}
