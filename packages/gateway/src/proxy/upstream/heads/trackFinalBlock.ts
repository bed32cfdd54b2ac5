import type { CallScope } from '../callScope.ts'
import type { CallResult } from '../callResult.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import { toHex } from '../../../lib/rpc/quantity.ts'
import { readHead } from './trackHead.ts'

const tagged = /^(\s*\[\s*")(safe|finalized)"/

/** Whether a call reads the safe or the finalized block. */
export const readsFinalBlock = ({ method, params = '' }: ForwardedCall): boolean =>
  (method === 'eth_getBlockByNumber' || method === 'eth_getHeaderByNumber') && tagged.test(params)

/**
 * Records the safe or finalized block in a result, as one that the caller has seen.
 * @returns If the caller has seen a later one, the call that reads that one by its number: nodes differ by minutes in which block is final.
 */
export const trackFinalBlock = (
  call: ForwardedCall,
  result: CallResult,
  { group: { several, finalViews, isCredibleHead }, keyId }: CallScope,
): ForwardedCall | undefined => {
  const { params = '' } = call
  const [, start = '', tag] = (several && readsFinalBlock(call) && tagged.exec(params)) || []
  const number = tag === undefined ? undefined : readHead(call, result)
  if (number === undefined || (tag !== 'safe' && tag !== 'finalized') || !isCredibleHead(number)) return undefined
  const seen = finalViews[tag].recordHead(keyId, number) ?? number
  return seen > number ? { ...call, params: params.replace(tagged, `${start}${toHex(seen)}"`) } : undefined
}

/**
 * Chooses the result of the call that `trackFinalBlock` returned, or the one before it if no node has the block any more.
 * @param first - The call by the tag, and its result.
 */
export const chooseFinalBlock = <Sent extends { readonly result: CallResult }>(
  first: Sent & { readonly call: ForwardedCall },
  again: Sent,
  options: CallScope,
): Sent => {
  const number = readHead(first.call, again.result)
  if (number === undefined) return first
  // The block is still there, so it is not forgotten.
  trackFinalBlock(first.call, again.result, options)
  return again
}
