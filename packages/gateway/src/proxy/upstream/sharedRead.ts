import { getMember } from '../../lib/json/scanMembers.ts'
import type { CallResult } from './callResult.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'
import { isEmptyResult } from './emptyResults.ts'
import { findPinnedBlock } from './findPinnedBlock.ts'
import type { Pin } from './findPinnedBlock.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { parseQuantity } from '../../lib/rpc/quantity.ts'
import type { NodeResponse } from './readResponse.ts'

/** A call with longer params is neither shared nor cached, because they are part of the key. */
const maxParamsLength = 4_096

/** A read that can be shared with other callers, and cached if it is pinned. */
export interface SharedRead {
  /** Identical reads have the same key. */
  readonly key: string
  readonly pin: Pin | undefined
  /** By `performance.now`, if it is pinned. */
  readonly startedAt: number
  /** Whether its result depends on the node's client: then only the chain store, which knows the client, may store it. */
  readonly isTrace: boolean
}

/** Gets how a call can be shared; `undefined` if it cannot. */
export const toSharedRead = ({ method, params = '[]', traits }: ForwardedCall): SharedRead | undefined => {
  if (!traits.idempotent || traits.filter !== undefined || traits.confirm !== undefined) return undefined
  if (params.length > maxParamsLength) return undefined
  const pin = traits.pin === undefined ? undefined : findPinnedBlock(traits.pin, params)
  const isTrace = traits.pin?.isTrace === true
  return { key: method + params, pin, startedAt: pin === undefined ? 0 : performance.now(), isTrace }
}

/** Gets a read's result from the cache. */
export const getCachedResult = (read: SharedRead, group: UpstreamGroup): NodeResponse | undefined => {
  const value = read.pin === undefined ? undefined : group.cache.get(read.key)
  return value === undefined ? undefined : { member: 'result', value, cachedIn: 'memory' }
}

/** Caches a result if it cannot change any more, as far as the node that sent it knows. */
export const cacheResult = (read: SharedRead, result: CallResult, { group, member }: ResultSource): void => {
  if (read.pin === undefined || read.isTrace || member === undefined || !group.cache.on || !('value' in result)) return
  // The chain store has an empty result confirmed before it is served again.
  if (group.store !== undefined && isEmptyResult(result.value)) return
  if (result.member === 'result' && isFinal(read, result.value, member)) group.cache.set(read.key, result.value)
}

interface ResultSource {
  readonly group: UpstreamGroup
  readonly member: GroupMember | undefined
}

/** The results of a node that does not have the data (yet): nothing, or an empty list. */
const emptyResults: ReadonlySet<string> = new Set(['null', '[]'])

const isFinal = ({ pin, startedAt }: SharedRead, value: Buffer | string, { finality }: GroupMember): boolean => {
  const short = value.length <= 4 ? value.toString('latin1') : ''
  if (short === 'null') return false
  if (pin === 'hash') return !emptyResults.has(short)
  const block = typeof pin === 'number' ? pin : getBlockNumber(value)
  return block !== undefined && block <= finality.finalizedBefore(startedAt)
}

const maxTransactionBytes = 256 * 1024

/** Gets the block number from a transaction or its receipt. */
const getBlockNumber = (value: Buffer | string): number | undefined =>
  value.length > maxTransactionBytes ? undefined : parseQuantity(getMember(value.toString('latin1'), 'blockNumber'))
