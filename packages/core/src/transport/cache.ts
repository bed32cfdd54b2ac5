import { check, checkNames, checkRange } from '../failure/check.ts'
import type { Call, Layer, Complete } from './call/call.ts'
import { createCacheMemory } from './cacheMemory.ts'
import { blockNumber, cacheKind, cacheRule, namesTag } from './cacheRule.ts'
import type { CacheRule } from './cacheRule.ts'
import { boundStore } from './cacheStore.ts'
import type { CacheStore } from './cacheStore.ts'
import { onCancel } from './call/onCancel.ts'

export type { CacheStore } from './cacheStore.ts'

/** Options of {@link cache}. */
export interface CacheOptions {
  /** The size of the cache in memory, in bytes. The least recently used results are removed first. @default 16_777_216 (16 MiB) */
  readonly maxBytes?: number | undefined
  /**
   * How many blocks below the highest block seen count as final, for a chain without a `finalized` block. Choose a depth below which the chain
   * never reorganises. @default none: only blocks up to the `finalized` block are final
   */
  readonly finalityDepth?: number | undefined
  /** Stores results beyond the life of the process. Needs `chainId`. @default none */
  readonly store?: CacheStore | undefined
}

/**
 * Creates a cache of results that never change: results for a block hash, for the number of a final block, or for the hash of a transaction in such a
 * block, and the chain id. It never caches results for a tag, null, empty lists, pending data, or failures. Results are stored as JSON text, and
 * each caller gets its own copy.
 *
 * The cache learns which blocks are final from the responses for `finalized` that pass through it. It sends no requests of its own.
 *
 * @param options - The size of the cache, and where it stores results.
 * @throws {KeyrailError} kind `invalidRequest` if an option is wrong.
 * @example
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', cache: cache({ maxBytes: 2 ** 26 }) })
 * @see https://ethereum.org/developers/docs/consensus-mechanisms/pos/#finality
 */
export function cache(options: CacheOptions = {}): Layer {
  checkNames('cache', options, ['maxBytes', 'finalityDepth', 'store'])
  const { maxBytes = 2 ** 24, finalityDepth, store } = options
  checkRange('maxBytes', maxBytes, 1, 2 ** 40)
  checkRange('finalityDepth', finalityDepth, 1, 2 ** 32)
  check(
    store === undefined || [store?.get, store?.set].every((method) => typeof method === 'function'),
    'store must be an object with the functions get(key) and set(key, text)',
  )
  return (next, { chainId }) => {
    check(
      !store || chainId !== undefined,
      'the store of cache works only with chainId, so that responses of two chains never mix: set chainId',
    )
    const memory = createCacheMemory(maxBytes)
    const boundedStore = store && boundStore(store, `keyrail:${chainId}:`)
    let finalBlock = -1

    /** How many blocks below the block of this call's result are final; undefined if the result does not show that. */
    const getFinalityDepth = ({ method, params }: Call): number | undefined => {
      if (method === 'eth_blockNumber') return finalityDepth
      if (method !== 'eth_getBlockByNumber' && method !== 'eth_getHeaderByNumber') return undefined
      return params.startsWith('["finalized"') ? 0 : params.startsWith('["latest"') ? finalityDepth : undefined
    }

    const save = (key: string, value: unknown, persist: boolean): void => {
      let text
      try {
        text = JSON.stringify(value)
      } catch {
        // A user's layer below returned something that is not JSON.
        return
      }
      memory.set(key, text)
      if (persist) boundedStore?.set(key, text)
    }

    /** Sends the call, caches the result if the rule allows it, and learns which block is final. */
    const request = (call: Call, complete: Complete, key: string, rule: CacheRule | undefined): void => {
      const depth = getFinalityDepth(call)
      if (!rule && depth === undefined) return next(call, complete)
      // The value at the time of the request: a result from before its block became final may be from another fork.
      const finalAtRequest = finalBlock
      next(call, (ok, value) => {
        if (ok && rule?.(value, finalAtRequest)) save(key, value, cacheKind(call.method) !== 'chain')
        if (ok && depth !== undefined) {
          const number = blockNumber(typeof value === 'string' ? value : Object(value).number) - depth
          if (number > finalBlock) finalBlock = number
        }
        complete(ok, value)
      })
    }

    return (call: Call, complete) => {
      const { method, params } = call
      const kind = cacheKind(method)
      if (!kind || (kind === 'block' && namesTag(method, params))) return request(call, complete, '', undefined)
      const key = method + params
      const hit = memory.get(key)
      if (hit !== undefined) {
        call.emit?.({ type: 'cached' })
        return complete(true, JSON.parse(hit))
      }
      const rule = cacheRule(method, params)
      // Each process requests the chain id again, so that it notices a URL of another chain.
      if (!boundedStore || !rule || kind === 'chain') return request(call, complete, key, rule)
      let stop = (): void => {}
      onCancel(call, (reason) => {
        stop()
        complete(false, reason)
      })
      stop = boundedStore.get(key, (text) => {
        // A store that responds at once may have ended the call.
        if (call.ended) return
        const value = text === undefined ? undefined : parse(text)
        // A stored text is checked like a response, except that its block is known to be final.
        if (text === undefined || !rule(value, Infinity)) return request(call, complete, key, rule)
        memory.set(key, text)
        call.emit?.({ type: 'cached' })
        complete(true, value)
      })
    }
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
