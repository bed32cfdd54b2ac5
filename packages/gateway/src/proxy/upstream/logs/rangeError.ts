import { classify, parseRangeHint } from '@keyrail/core/internal'
import type { RangeHint } from '@keyrail/core/internal'
import type { CallResult } from '../callResult.ts'

/** A node's rejection of `eth_getLogs` for its range. */
export interface RangeError {
  readonly hint: RangeHint
  /** Whether the node limits the blocks of a query, and not what it returns: then the limit is the same for each query. */
  readonly limitsBlocks: boolean
}

/** No node's error that matters is longer. */
const maxErrorBytes = 16 * 1024

const aboutResponse = /results?\b|\blogs count|response|size|time[d ]?-?out|addresses/i

/** Reads the result of `eth_getLogs`. @returns `undefined` if the node did not reject its range. */
export const readRangeError = (result: CallResult): RangeError | undefined => {
  if (!('value' in result) || result.member === 'result' || result.value.length > maxErrorBytes) return undefined
  // The response was valid JSON, and masking keeps it an object.
  const rpcError = JSON.parse(result.value.toString()) as { code?: unknown; message?: unknown; data?: unknown }
  const message = typeof rpcError.message === 'string' ? rpcError.message : ''
  const code = typeof rpcError.code === 'number' ? rpcError.code : 0
  const facts = { text: message, rpcError: { code, message, data: rpcError.data } }
  if (classify(facts, 'eth_getLogs')?.kind !== 'range') return undefined
  const hint = parseRangeHint(facts.rpcError)
  return { hint, limitsBlocks: hint.maxBlocks !== undefined || !aboutResponse.test(message) }
}
