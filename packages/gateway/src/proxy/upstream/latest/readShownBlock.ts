import type { CallResult } from '../callResult.ts'
import type { ForwardedCall } from '../forwardedCall.ts'

/** A larger result is not searched. */
const maxBytes = 256 * 1024
const numbers = /"(?:blockNumber|number)"\s*:\s*"0x([0-9a-fA-F]{1,13})"/g

/** Whether the result of a call can show the number of a block. */
const showsBlocks = ({ traits: { idempotent, filter, row } }: ForwardedCall): boolean =>
  !idempotent || filter !== undefined || row?.head !== undefined || row?.shows !== undefined || row?.range !== undefined

/** Reads the highest number of a block that a result shows; 0 if it shows none, `unread` if it is too large to search. */
export const readShownBlock = (call: ForwardedCall, result: CallResult): number | 'unread' => {
  if (!showsBlocks(call) || 'reason' in result) return 0
  if ('stream' in result || result.value.length > maxBytes) return 'unread'
  let highest = 0
  for (const [, digits = '0'] of result.value.toString('latin1').matchAll(numbers))
    highest = Math.max(highest, Number.parseInt(digits, 16))
  return highest
}
