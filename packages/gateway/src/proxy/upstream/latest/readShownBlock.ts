import type { CallResult } from '../callResult.ts'
import type { ForwardedCall } from '../forwardedCall.ts'

/** Of a larger result, only the end is searched: logs and receipts are in the order of their blocks. */
const maxBytes = 256 * 1024
/** Traces have decimal numbers. */
const numbers = /"(?:(?:blockNumber|number)"\s*:\s*"0x([0-9a-fA-F]{1,13})"|blockNumber"\s*:\s*(\d{1,15})\b)/g
const noHash = /"(?:hash|blockHash)"\s*:\s*null/
const pendingTag = /"pending"/

/** Whether the result of a call can show the number of a block. */
const showsBlocks = ({ traits: { idempotent, filter, row } }: ForwardedCall): boolean =>
  !idempotent || filter !== undefined || row?.head !== undefined || row?.shows !== undefined || row?.range !== undefined

/**
 * Reads the highest number of a block that a result shows. A block that is not mined yet does not count.
 * @returns 0 if it shows none, `unread` if it could not be searched.
 */
export const readShownBlock = (call: ForwardedCall, result: CallResult): number | 'unread' => {
  if (!showsBlocks(call) || 'reason' in result || pendingTag.test(call.params ?? '')) return 0
  if ('stream' in result) return 'unread'
  const { length } = result.value
  const text = result.value.slice(Math.max(0, length - maxBytes)).toString('latin1')
  if (noHash.test(text)) return length > maxBytes ? 'unread' : findMined(JSON.parse(result.value.toString()))
  let highest = 0
  for (const [, hex, decimal] of text.matchAll(numbers))
    highest = Math.max(highest, hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  return highest === 0 && length > maxBytes ? 'unread' : highest
}

/** In a result, objects with a block number are no deeper. */
const maxDepth = 6

/** Finds the highest number in the objects that do not lack their block's hash. */
const findMined = (value: unknown, depth = 0): number => {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return 0
  const { hash, blockHash, number, blockNumber } = value as { readonly [name: string]: unknown }
  if (hash === null || blockHash === null) return 0
  let highest = 0
  for (const one of [number, blockNumber])
    if (typeof one === 'string' && Number.isSafeInteger(Number(one))) highest = Math.max(highest, Number(one))
  for (const each of Object.values(value)) highest = Math.max(highest, findMined(each, depth + 1))
  return highest
}
