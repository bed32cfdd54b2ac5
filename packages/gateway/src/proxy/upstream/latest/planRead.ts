import { methods } from '../../../lib/methods.ts'
import { toHex } from '../../../lib/rpc/quantity.ts'
import { findTags, writeTags } from '../confirm/findTags.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { NodeResponse } from '../readResponse.ts'
import { maxParamsLength } from '../sharedRead.ts'
import type { SharedRead } from '../sharedRead.ts'
import { toBlockObject } from './createHashSupport.ts'
import type { LatestBlock } from './followLatest.ts'

/**
 * How a read at `latest` is sent for a block. `state`: with the object of EIP-1898. `block`: as `eth_getBlockByHash`. `number`: not at all. `gas`: as it
 * is, and its result is shared although it may be of another block.
 */
export type ReadPlan = 'state' | 'block' | 'number' | 'gas'

/** A read at `latest`, as it is sent for a block. */
export interface PlannedRead {
  readonly plan: ReadPlan
  readonly block: LatestBlock
  readonly call: ForwardedCall
  readonly read: SharedRead | undefined
  /** Its result, if no node is needed. */
  readonly result: NodeResponse | undefined
}

const plansOfMethods: ReadonlyMap<string, ReadPlan> = new Map([
  ['eth_blockNumber', 'number'],
  ['eth_getBlockByNumber', 'block'],
  ['eth_gasPrice', 'gas'],
  ['eth_maxPriorityFeePerGas', 'gas'],
  ['eth_blobBaseFee', 'gas'],
  ['eth_baseFee', 'gas'],
])

const latestBlock = /^\s*\[\s*"latest"\s*,\s*(true|false)\s*\]\s*$/
const byHash = 'eth_getBlockByHash'
const byHashRow = methods.get(byHash)
const byHashTraits = { pin: undefined, ...(byHashRow && { row: byHashRow }) }

/** Gets how a call is shared; `undefined` if it is no read at `latest`, or one that cannot be shared. */
export const getPlan = (call: ForwardedCall): ReadPlan | undefined => {
  const { method, params = '[]', traits } = call
  const { idempotent, filter, confirm, pin, row } = traits
  if (row === undefined || !idempotent || filter !== undefined || confirm !== undefined) return undefined
  const plan = plansOfMethods.get(method)
  if (plan === 'block') return latestBlock.test(params) ? plan : undefined
  if (plan !== undefined) return plan
  // The methods of EIP-1898: others that read the state accept the object at some nodes only, or no cache has them.
  if (pin?.by !== 'block' || pin.isTrace === true || row.state !== true) return undefined
  return findTags(call).some(({ tag }) => tag === 'latest') ? 'state' : undefined
}

/** Writes a call for a block. */
export const planRead = (call: ForwardedCall, plan: ReadPlan, block: LatestBlock): PlannedRead => {
  const { method, params = '[]' } = call
  const sent = toSent(call, plan, block)
  const isShared = params.length <= maxParamsLength
  const key = `${block.hash} ${method}${params}`
  return {
    plan,
    block,
    call: sent,
    read: isShared ? { key, pin: undefined, startedAt: 0, isTrace: false, isOfLatest: true } : undefined,
    result: plan === 'number' ? { member: 'result', value: `"${toHex(block.number)}"` } : undefined,
  }
}

const toSent = (call: ForwardedCall, plan: ReadPlan, { hash }: LatestBlock): ForwardedCall => {
  const { params = '[]', traits } = call
  if (plan === 'state') return { ...writeTags(call, findTags(call), () => toBlockObject(hash)), namesHash: true }
  if (plan !== 'block') return call
  return {
    ...call,
    method: byHash,
    params: params.replace('"latest"', `"${hash}"`),
    traits: { ...traits, ...byHashTraits },
  }
}
