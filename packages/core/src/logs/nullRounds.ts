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

/** A node that names more rounds in a row is not one of Filecoin, where almost every round has a block. */
const MAX_SKIPPED = 100

/** Whether the node's message names a round, in decimal or hex. */
const namesRound = (error: unknown, round: number): boolean =>
  isKeyrailError(error) &&
  new RegExp(`\\b(${round}|0x0*${round.toString(16)})\\b`, 'i').test(error.rpcError?.message ?? '')

/**
 * Makes a function that reads logs skip the rounds without a block at the ends of a range: nodes of Filecoin reject a range that starts or ends at one, and name it.
 *
 * @param read - Reads the logs of a range.
 */
export const skipNullRounds =
  <L>(read: (span: BlockSpan) => Promise<readonly L[]>) =>
  async (span: BlockSpan): Promise<readonly L[]> => {
    let { from, to } = span
    for (let skipped = 0; from <= to; skipped++)
      try {
        return await read({ ...span, from, to })
      } catch (error) {
        if (!isNullRound(error) || skipped === MAX_SKIPPED) throw error
        if (namesRound(error, from)) from++
        else if (namesRound(error, to)) to--
        else throw error
      }
    return []
  }
