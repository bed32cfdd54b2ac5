import { checkNames } from '@keyrail/core/internal'
import type { CallOptions, KeyrailError } from '@keyrail/core'
import type { MinedBlockNumberInput } from '../encode/blockInput.ts'
import { checkType } from '../encode/checkType.ts'
import { checkInteger } from '../logs/checkInteger.ts'
import { checkRangeEnd } from '../logs/resolveRange.ts'
import type { ReadClient } from '../read/readClient.ts'

/** What `watchBlocks` needs from a client. */
export interface WatchClient {
  readonly with: (options: CallOptions) => ReadClient<'eth_getBlockByNumber' | 'eth_getBlockByHash'>
}

/** A failed poll after which the watch continues. */
export interface WatchFailure {
  readonly error: KeyrailError
  /** How many polls failed in a row, this one included. */
  readonly failures: number
  /** The delay before the next poll, in milliseconds. */
  readonly waitMs: number
}

/** Options of `watchBlocks` and `watchLogs`. */
export interface WatchOptions {
  /** The first block, in the past or in the future. @default 'latest': the head when the watch starts */
  readonly fromBlock?: MinedBlockNumberInput | undefined
  /**
   * A fixed interval between polls, in milliseconds, at least 10.
   * @default adaptive: follows the chain's block time at about two polls a block, from 250 ms to 12 s
   */
  readonly pollingIntervalMs?: number | undefined
  /** The deepest reorganization that is followed, in blocks, from 1 to 1024. This many blocks are held in memory. @default 64 */
  readonly reorgDepth?: number | undefined
  /** Ends the watch, which then rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined
  /** Called for each failed poll after which the watch continues. If it throws, the watch ends with that error. */
  readonly onError?: ((failure: WatchFailure) => void) | undefined
}

const names: readonly (keyof WatchOptions)[] = ['fromBlock', 'pollingIntervalMs', 'reorgDepth', 'signal', 'onError']

/**
 * Checks the options before anything is sent.
 *
 * @param of - The function that takes the options, for error messages.
 * @param options - The options.
 * @param own - The names of the options that only this function has.
 * @throws {KeyrailError} kind `invalidRequest`, with the option and its range.
 */
export function checkWatchOptions(of: string, options: WatchOptions, own: readonly string[]): void {
  checkNames(of, options, [...own, ...names])
  const { fromBlock, pollingIntervalMs, reorgDepth, onError } = options
  if (fromBlock !== undefined) checkRangeEnd(fromBlock, 'fromBlock')
  checkInteger('pollingIntervalMs', pollingIntervalMs, 10, 2 ** 31 - 1)
  checkInteger('reorgDepth', reorgDepth, 1, 1_024)
  checkType('onError', onError, 'function')
}
