import { toMethodMap } from '../schema/methodGroups.ts'
import { cachedMethods } from '../schema/methodSlice.ts'
import { areByName } from './call/writeParams.ts'

/** Decides whether a result never changes. `finalBlock` is the highest block that was known to be final when the request was sent. */
export type CacheRule = (value: unknown, finalBlock: number) => boolean

/** The position of the block in the params, `transaction` for methods that take its hash and return its block, or `chain`. */
const cached = /* @__PURE__ */ toMethodMap(cachedMethods)

const hash = /^0x[\da-f]{64}$/i

/** The fields of a result that show its block or transaction. */
interface Located {
  readonly blockHash?: unknown
  readonly blockNumber?: unknown
  readonly hash?: unknown
  readonly number?: unknown
  readonly transactionHash?: unknown
  readonly error?: unknown
}

/** Parses a block number; NaN for any other value. Nodes return it as a hex quantity, traces as a number. */
export function blockNumber(value: unknown): number {
  return typeof value === 'number' || (typeof value === 'string' && /^0x[\da-f]{1,13}$/i.test(value))
    ? Number(value)
    : NaN
}

/** A block tag as the first or last param: the position of the block in all methods that take one, unless it is in an object. */
const tagFirst = /^\["[a-z]+"[,\]]/
const tagLast = /"[a-z]+"\]$/

/** Checks whether params, as JSON text, contain a block tag. Most calls do, and their results are not cached. */
export function namesTag(method: string, params: string): boolean {
  const position = cached.get(method)
  return position === '0' ? tagFirst.test(params) : Number(position) > 0 && tagLast.test(params)
}

/** Returns what the result of a method depends on, if it can be immutable at all. */
export function cacheKind(method: string): 'block' | 'transaction' | 'chain' | undefined {
  const kind = cached.get(method)
  return kind === undefined || kind === 'transaction' || kind === 'chain' ? kind : 'block'
}

/**
 * Returns the rule that decides whether the result of a call may be cached forever; undefined if no result of it may. Results for a tag never are,
 * because tags move. Null and empty lists never are, because a node that is behind returns them too.
 *
 * - A block by hash: always. The result stays true if the block is reorganised away. Not with `requireCanonical`, because the call fails then.
 * - A block by number: if it was final before the call was sent.
 * - A transaction by hash: if its block was final before the call was sent.
 *
 * A result for another block or transaction than the requested one is not cached. Neither is the result of a call with params by name.
 *
 * @see EIP-1898
 */
export function cacheRule(method: string, params: string): CacheRule | undefined {
  if (areByName(params)) return undefined
  const kind = cacheKind(method)
  if (kind === 'chain') return (value) => typeof value === 'string'
  const requested = (JSON.parse(params) as unknown[])[Number(cached.get(method)) || 0]
  if (kind === 'transaction')
    return (value, finalBlock) =>
      every(value, (item) => {
        const named = item.transactionHash ?? item.hash
        return same(named, requested) && blockNumber(item.blockNumber) <= finalBlock
      })
  const {
    blockHash,
    blockNumber: height,
    requireCanonical,
  } = Object(requested) as Located & { requireCanonical?: unknown }
  const block = blockHash ?? height ?? requested
  const byHash = hash.test(String(block))
  if (requireCanonical || (!byHash && Number.isNaN(blockNumber(block)))) return undefined
  // A filter has no blockNumber, and a node that ignores it returns logs of the latest block.
  if (method === 'eth_getLogs' && !byHash) return undefined
  return (value, finalBlock) =>
    (byHash || blockNumber(block) <= finalBlock) &&
    every(value, (item) => {
      // A tracer that gave up returns an error in place of a transaction's trace.
      if (method.startsWith('debug_')) return !item.error
      // An uncle has its own hash and number, not those of the block.
      if (method.startsWith('eth_getUncle')) return true
      const named = byHash ? (item.blockHash ?? item.hash) : (item.blockNumber ?? item.number)
      return named == null || (byHash ? same(named, block) : blockNumber(named) === blockNumber(block))
    })
}

const same = (a: unknown, b: unknown): boolean => String(a).toLowerCase() === String(b).toLowerCase()

/** Whether the result is not empty, and all of its entries fit. */
const every = (value: unknown, fits: (item: Located) => boolean): boolean =>
  Array.isArray(value)
    ? value.length > 0 && value.every((item) => fits(Object(item) as Located))
    : value != null && fits(Object(value) as Located)
