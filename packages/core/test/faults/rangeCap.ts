import { respondWith, echoItem } from './respondWith.ts'
import type { GetItem } from './respondWith.ts'
import { getCalls } from './getCalls.ts'
import type { Script } from '../faultServer.ts'

/** A provider's error for a block range that is too large, from a case of `rangeHints.json`. */
export interface RangeRejection {
  readonly status: number
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** The number of blocks in the range of a log filter, both ends included. */
const countBlocks = (filter: unknown): number => {
  const { fromBlock, toBlock } = Object(filter) as { readonly fromBlock?: string; readonly toBlock?: string }
  return Number(toBlock) - Number(fromBlock) + 1
}

/** Accepts `eth_getLogs` over at most `cap` blocks, and rejects larger ranges with a provider's error. Other calls succeed. */
export function rangeCap(cap: number, { status, error }: RangeRejection, getItem: GetItem = echoItem): Script {
  const tooWide = ({ method, params }: { readonly method: string; readonly params: readonly unknown[] }): boolean =>
    method === 'eth_getLogs' && countBlocks(params[0]) > cap
  return (seen, response, socket) => {
    // A batch has a success status even if all its calls fail.
    if (!Array.isArray(seen.json) && getCalls(seen).some(tooWide)) response.statusCode = status
    respondWith((call) => (tooWide(call) ? { error } : getItem(call)))(seen, response, socket)
  }
}
