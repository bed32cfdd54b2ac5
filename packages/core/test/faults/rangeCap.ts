import { answering, echoItem } from './answering.ts'
import type { ItemOf } from './answering.ts'
import { callsOf } from './callsOf.ts'
import type { Script } from '../faultServer.ts'

/** How a provider refuses a range of blocks, as a case of `rangeHints.json` has it. */
export interface RangeRefusal {
  readonly status: number
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** How many blocks a filter of logs spans, both ends counted. */
const spanOf = (filter: unknown): number => {
  const { fromBlock, toBlock } = Object(filter) as { readonly fromBlock?: string; readonly toBlock?: string }
  return Number(toBlock) - Number(fromBlock) + 1
}

/** Takes `eth_getLogs` over so many blocks, and refuses wider ones in a provider's own words; all else it answers. */
export function rangeCap(cap: number, { status, error }: RangeRefusal, itemOf: ItemOf = echoItem): Script {
  const tooWide = ({ method, params }: { readonly method: string; readonly params: readonly unknown[] }): boolean =>
    method === 'eth_getLogs' && spanOf(params[0]) > cap
  return (seen, response, socket) => {
    // A batch is answered with a good status whatever its items say.
    if (!Array.isArray(seen.json) && callsOf(seen).some(tooWide)) response.statusCode = status
    answering((call) => (tooWide(call) ? { error } : itemOf(call)))(seen, response, socket)
  }
}
