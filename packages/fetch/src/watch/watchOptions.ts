import { checkNames } from '@keyrail/core/internal'
import type { CallOptions, KeyrailError } from '@keyrail/core'
import type { MinedBlockNumberInput } from '../encode/blockInput.ts'
import { checkType } from '../encode/checkType.ts'
import { checkInteger } from '../logs/checkInteger.ts'
import { checkRangeEnd } from '../logs/resolveRange.ts'
import type { ReadClient } from '../read/readClient.ts'

/** What the watchers of a chain need of a client. */
export interface WatchClient {
  readonly with: (options: CallOptions) => ReadClient<'eth_getBlockByNumber' | 'eth_getBlockByHash'>
}

/** A failure that a watcher survived. */
export interface WatchFailure {
  readonly error: KeyrailError
  /** How many polls failed in a row, this one included. */
  readonly failures: number
  /** When it looks again, in milliseconds. */
  readonly waitMs: number
}

/** Options of every watcher. */
export interface WatchOptions {
  /** The first block, which may lie in the past or in the future. @default 'latest': the head as it stands at the start */
  readonly fromBlock?: MinedBlockNumberInput | undefined
  /**
   * A fixed time between two looks, in milliseconds, from 10.
   * @default adaptive: the chain's block time is learned, so that a block costs about two looks; from 250 ms to 12 s
   */
  readonly pollingIntervalMs?: number | undefined
  /** Reorganizations of up to so many blocks are followed, from 1 to 1024. So many are kept in memory. @default 64 */
  readonly reorgDepth?: number | undefined
  /** Ends the watch, which then rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined
  /** Told of each failure that was survived: a retryable one. What it throws ends the watch. */
  readonly onError?: ((trouble: WatchFailure) => void) | undefined
}

const names: readonly (keyof WatchOptions)[] = ['fromBlock', 'pollingIntervalMs', 'reorgDepth', 'signal', 'onError']

/**
 * Refuses what cannot be right, before anything is sent.
 *
 * @param of - Whose options they are, for the failure's message.
 * @param options - What was given.
 * @param own - Names of options that only this watcher has.
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and its range.
 */
export function checkWatchOptions(of: string, options: WatchOptions, own: readonly string[]): void {
  checkNames(of, options, [...own, ...names])
  const { fromBlock, pollingIntervalMs, reorgDepth, onError: onError } = options
  if (fromBlock !== undefined) checkRangeEnd(fromBlock, 'fromBlock')
  checkInteger('pollingIntervalMs', pollingIntervalMs, 10, 2 ** 31 - 1)
  checkInteger('reorgDepth', reorgDepth, 1, 1_024)
  checkType('onError', onError, 'function')
}
