import { isKeyrailError } from '../failure/keyrailError.ts'
import type { BlockSpan } from './blockSpan.ts'

/** Filecoin has no block in a round without a miner. Some of its nodes respond with an error to a request for it, and others with null. */
const isNullRound = (error: unknown): boolean =>
  isKeyrailError(error) && /null round/i.test(error.rpcError?.message ?? '')

/** Converts the error for such a round to null, and throws any other error. */
export const toMissing = (error: unknown): null => {
  if (isNullRound(error)) return null
  throw error
}

/**
 * Makes a function that reads logs skip the rounds without a block at the ends of a range: nodes of Filecoin reject a range that starts or ends at one.
 *
 * @param read - Reads the logs of a range.
 */
export const skipNullRounds =
  <L>(read: (span: BlockSpan) => Promise<readonly L[]>) =>
  async (span: BlockSpan): Promise<readonly L[]> => {
    let { from, to } = span
    while (from <= to)
      try {
        return await read({ ...span, from, to })
      } catch (error) {
        if (!isNullRound(error)) throw error
        // The message names the round.
        if (new RegExp(`\\b(${from}|0x${from.toString(16)})\\b`, 'i').test((error as Error).message)) from++
        else to--
      }
    return []
  }
