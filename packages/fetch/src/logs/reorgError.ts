import { isKeyrailError, KeyrailError } from '@keyrail/core'
import type { LogCursor } from './logCursor.ts'

/** The failure of an iteration under which the chain was reorganized. */
export interface ReorgError extends KeyrailError {
  readonly reorg: {
    /** Logs that were given of this block and of those above it may be gone: drop them. */
    readonly fromBlock: bigint
    /** Goes on from there. */
    readonly cursor: LogCursor
  }
}

/**
 * Makes one. Of kind `badResponse`, because the answers do not fit together any more; retryable, by its cursor.
 *
 * @param cursor - Where to go on.
 */
export function createReorgError(cursor: LogCursor): ReorgError {
  const { nextBlock } = cursor
  const error = new KeyrailError(
    `the chain was reorganized at or above block ${nextBlock}: drop the logs from that block on, and resume with the failure's cursor`,
    { kind: 'badResponse', source: 'node', retryable: true, method: 'eth_getLogs', hint: 'Resume from the cursor.' },
  )
  return Object.assign(error, { reorg: { fromBlock: BigInt(nextBlock), cursor } })
}

/**
 * Tells whether something caught is the failure of an iteration with `checkReorg` under which the chain was reorganized.
 *
 * @param error - Anything.
 * @example
 * const logs = iterateLogs(client, { fromBlock: 21_000_000n, checkReorg: true })
 * try {
 *   for await (const log of logs) console.log(log.blockNumber)
 * } catch (error) {
 *   if (isReorgError(error)) console.log('drop all from block', error.reorg.fromBlock, 'and go on with', error.reorg.cursor)
 * }
 */
export function isReorgError(error: unknown): error is ReorgError {
  return isKeyrailError(error) && 'reorg' in error
}
