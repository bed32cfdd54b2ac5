import { rejections } from '../../errors/rejections.ts'
import { holdBytes } from '../../lib/memoryBudget.ts'
import type { CallResult } from './callResult.ts'
import type { ByteBudget } from './postRequest.ts'

/**
 * Counts the bytes of a result that this request did not read from a node itself. If its caller does not read, they take memory once more.
 * @returns The result, or why the caller does not get it.
 */
export const payForResult = (
  result: CallResult,
  { budget, maxResponseBytes }: { readonly budget: ByteBudget; readonly maxResponseBytes: number },
): CallResult => {
  if (!('value' in result)) return result
  const bytes = result.value.length
  if (bytes > budget.left) return rejections.responseTooLarge(maxResponseBytes)
  if (!holdBytes(budget.buffered, bytes)) return rejections.upstreamBusy()
  budget.left -= bytes
  return result
}
