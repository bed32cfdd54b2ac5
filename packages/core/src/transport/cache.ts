import { check, checkNames, checkRange } from '../failure/check.ts'
import type { Call, Layer, Settle } from './call.ts'
import { createCacheMemory } from './cacheMemory.ts'
import { blockNumber, cacheKind, cacheRule, namesTag } from './cacheRule.ts'
import type { Keeps } from './cacheRule.ts'
import { boundStore } from './cacheStore.ts'
import type { CacheStore } from './cacheStore.ts'
import { onCancel } from './onCancel.ts'

export type { CacheStore } from './cacheStore.ts'

/** Options of {@link cache}. */
export interface CacheOptions {
  /** How much is kept in memory, in bytes; what was not asked for lately goes first. @default 16_777_216 (16 MiB) */
  readonly maxBytes?: number | undefined
  /**
   * How many blocks below the highest one seen a block is taken as final, for a chain that has no `finalized` block. Choose it deeper than any
   * reorganisation of that chain. @default none: only what answers about the `finalized` block show
   */
  readonly finalityDepth?: number | undefined
  /** Keeps answers beyond the process. Needs `chainId`. @default none */
  readonly store?: CacheStore | undefined
}

/**
 * Keeps answers that will never change, as text, and parses one for each caller: what is asked by block hash, by the number of a block that
 * is final, or by the hash of a transaction in such a block; and the chain id. Never a tag, null, an empty list, what is pending, or a failure.
 *
 * Which block is final it learns from answers about `finalized` that pass through. It never asks for anything itself.
 *
 * @param options - How much is kept, and where.
 * @throws {KeyrailError} kind `invalidRequest` where an option is wrong.
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
    const kept = store && boundStore(store, `keyrail:${chainId}:`)
    let finalBlock = -1

    /** How far below the block that this call asks about blocks are final; undefined where it tells nothing of that. */
    const depthOf = ({ method, params }: Call): number | undefined => {
      if (method === 'eth_blockNumber') return finalityDepth
      if (method !== 'eth_getBlockByNumber' && method !== 'eth_getHeaderByNumber') return undefined
      return params.startsWith('["finalized"') ? 0 : params.startsWith('["latest"') ? finalityDepth : undefined
    }

    const keep = (key: string, value: unknown, lasting: boolean): void => {
      let text
      try {
        text = JSON.stringify(value)
      } catch {
        // A layer below made more of it than JSON.
        return
      }
      memory.set(key, text)
      if (lasting) kept?.set(key, text)
    }

    /** Asks the network, and keeps and learns what can be. */
    const ask = (call: Call, settle: Settle, key: string, keeps: Keeps | undefined): void => {
      const depth = depthOf(call)
      if (!keeps && depth === undefined) return next(call, settle)
      // As it is now: an answer that was made before its block became final may be of another fork.
      const finalWhenAsked = finalBlock
      next(call, (ok, value) => {
        if (ok && keeps?.(value, finalWhenAsked)) keep(key, value, cacheKind(call.method) !== 'chain')
        if (ok && depth !== undefined) {
          const number = blockNumber(typeof value === 'string' ? value : Object(value).number) - depth
          if (number > finalBlock) finalBlock = number
        }
        settle(ok, value)
      })
    }

    return (call: Call, settle) => {
      const { method, params } = call
      const kind = cacheKind(method)
      if (!kind || (kind === 'block' && namesTag(method, params))) return ask(call, settle, '', undefined)
      const key = method + params
      const hit = memory.get(key)
      if (hit !== undefined) {
        call.note?.({ type: 'cached' })
        return settle(true, JSON.parse(hit))
      }
      const keeps = cacheRule(method, params)
      // The chain id is asked anew by each process: that is how an address of another chain is found out.
      if (!kept || !keeps || kind === 'chain') return ask(call, settle, key, keeps)
      let stop = (): void => {}
      onCancel(call, (reason) => {
        stop()
        settle(false, reason)
      })
      stop = kept.get(key, (text) => {
        // A store that answers at once may have ended the call first.
        if (call.ended) return
        const value = text === undefined ? undefined : parse(text)
        // A store is no more trusted than a node; but that the block is final was known when it was kept.
        if (text === undefined || !keeps(value, Infinity)) return ask(call, settle, key, keeps)
        memory.set(key, text)
        call.note?.({ type: 'cached' })
        settle(true, value)
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
