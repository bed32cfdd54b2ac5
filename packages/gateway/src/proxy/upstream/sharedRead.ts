import { getMember } from '../../lib/json/scanMembers.ts'
import type { CallResult } from './callResult.ts'
import type { ResponseCache } from './createResponseCache.ts'
import { isEmptyResult } from './emptyResults.ts'
import { isNull } from './getNullMeaning.ts'
import { findPinnedBlock } from './findPinnedBlock.ts'
import type { Pin } from './findPinnedBlock.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { parseQuantity } from '../../lib/rpc/quantity.ts'
import type { NodeResponse } from './readResponse.ts'
import type { NetworkStore } from './store/networkStore.ts'

/** A call with longer params is neither shared nor cached, because they are part of the key. */
export const maxParamsLength = 4_096

/** A read that can be shared with other callers, and cached if it is pinned. */
export interface SharedRead {
  /** Identical reads have the same key. */
  readonly key: string
  readonly pin: Pin | undefined
  /** By `performance.now`, if it is pinned. */
  readonly startedAt: number
  /** Whether its result depends on the node's client: then only the chain store, which knows the client, may store it. */
  readonly isTrace: boolean
  /** Whether its key has the hash of the newest block, so that nobody asks for it any more once it has changed. @default false */
  readonly isOfLatest?: boolean
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
export const getCachedResult = (read: SharedRead, { cache }: ResultStores): NodeResponse | undefined => {
  const value = read.pin === undefined && read.isOfLatest !== true ? undefined : cache.get(read.key)
  return value === undefined ? undefined : { member: 'result', value, cachedIn: 'memory' }
}

/** Caches a result if it cannot change any more, as far as the node that sent it knows. */
export const cacheResult = (read: SharedRead, result: CallResult, { group, member }: ResultSource): void => {
  if (read.isOfLatest === true) {
    if ('value' in result && result.member === 'result' && group.cache.on && !isNull(result.value))
      group.cache.set(read.key, result.value)
    return
  }
  if (read.pin === undefined || read.isTrace || member === undefined || !group.cache.on || !('value' in result)) return
  // The chain store has an empty result confirmed before it is served again.
  if (group.store !== undefined && isEmptyResult(result.value)) return
  if (result.member === 'result' && isFinal(read, result.value, member)) group.cache.set(read.key, result.value)
}

/** Where the results of a network are kept. */
interface ResultStores {
  readonly cache: ResponseCache
  readonly store: NetworkStore | undefined
}

interface ResultSource {
  readonly group: ResultStores
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
