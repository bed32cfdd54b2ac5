import { getMember } from '../../../lib/json/scanMembers.ts'
import type { CallResult } from '../callResult.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import { toHex, parseQuantity } from '../../../lib/rpc/quantity.ts'
import type { BlockRef } from './parseLogFilter.ts'

/** A block of a node's chain. */
export interface BlockId {
  readonly number: number
  /** The source text of its hash, in lower case. */
  readonly hash: string
}

const traits = { idempotent: true, expensive: false, weight: 1, label: 'eth_getBlockByNumber' } as const

/** Creates the gateway's own call for a block's number and hash. */
export const toBlockCall = (block: BlockRef): ForwardedCall => ({
  method: 'eth_getBlockByNumber',
  params: `["${typeof block === 'number' ? toHex(block) : block}",false]`,
  traits,
})

/** Reads the result of a block call: the block, `null` if the node does not have it, or `undefined` if the call failed. */
export const readBlock = (result: CallResult): BlockId | null | undefined => {
  if (!('value' in result) || result.member === 'error') return undefined
  const text = result.value.toString('latin1')
  if (text === 'null') return null
  const number = parseQuantity(getMember(text, 'number'))
  const hash = getMember(text, 'hash')?.toLowerCase()
  return number === undefined || hash === undefined ? undefined : { number, hash }
}
