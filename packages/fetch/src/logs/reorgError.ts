import { isKeyrailError, KeyrailError } from '@keyrail/core'
import type { LogCursor } from './logCursor.ts'

/** The error of an iteration with `checkReorg` after a reorganization of the chain. */
export interface ReorgError extends KeyrailError {
  readonly reorg: {
    /** Logs of this block and later ones may no longer be in the chain: drop the ones you have. */
    readonly fromBlock: bigint
    /** Resumes the iteration from that block. */
    readonly cursor: LogCursor
  }
}

/**
 * Creates the error. Its kind is `badResponse`, because the responses contradict each other. You can retry from its cursor.
 *
 * @param cursor - Where to resume.
 */
export function createReorgError(cursor: LogCursor): ReorgError {
  const { nextBlock } = cursor
  const error = new KeyrailError(
    `the chain was reorganized at or above block ${nextBlock}: drop the logs from that block on and resume from error.reorg.cursor`,
    { kind: 'badResponse', source: 'node', retryable: true, method: 'eth_getLogs', hint: 'resume from the cursor' },
  )
  return Object.assign(error, { reorg: { fromBlock: BigInt(nextBlock), cursor } })
}

/**
 * Returns whether a caught value is the error of an iteration with `checkReorg` after a reorganization.
 *
 * @param error - Any value.
 * @example
 * const logs = iterateLogs(client, { fromBlock: 21_000_000n, checkReorg: true })
 * try {
 *   for await (const log of logs) console.log(log.blockNumber)
 * } catch (error) {
 *   if (isReorgError(error)) console.log('drop all from block', error.reorg.fromBlock, 'and resume from', error.reorg.cursor)
 * }
 */
export function isReorgError(error: unknown): error is ReorgError {
  return isKeyrailError(error) && 'reorg' in error
}
