import { setTimeout as pause } from 'node:timers/promises'
import { isKeyrailError, KeyrailError } from '@keyrail/core'
import { isReorgError, iterateLogs } from '@keyrail/fetch'
import type { LogsClient } from '@keyrail/fetch'
import type { ExportSettings } from './checkpoint.ts'
import type { LogSink } from './logSink.ts'

/** Which logs to export, and how to read them. */
export interface ExportPlan extends Pick<ExportSettings, 'address' | 'topics'> {
  readonly fromBlock: number
  readonly toBlock: number
  readonly concurrency: number | undefined
  readonly maxBlocks: number | undefined
}

/** Callbacks of an export, and the signal that aborts it. */
export interface ExportHooks {
  readonly signal: AbortSignal
  readonly onProgress: () => void
  /** Called before a retry, which follows after `delayMs`. */
  readonly onRetry: (error: KeyrailError, delayMs: number) => void
  /** Called after a reorg removed this many logs, from `block` up. */
  readonly onReorg: (block: bigint, logs: number) => void
}

/** The delay after each consecutive failure, in seconds. The transport has already retried each call several times. */
const retryDelays = [1, 2, 4, 8, 15, 30, 30, 30]
/** The export fails if the server requests a longer delay. */
const maxRetryDelayMs = 120_000

/**
 * Exports logs to a sink: each log once, in chain order. A failure that outlasts the transport's own retries is retried from the sink's cursor
 * for two minutes without progress.
 *
 * @param client - A client.
 * @param plan - Which logs.
 * @param sink - Where to write them. The export starts at its cursor.
 * @param hooks - Callbacks and the abort signal.
 * @throws {KeyrailError} if a failure persists or is not retryable.
 * @throws The signal's reason if aborted.
 */
export async function exportLogs(
  client: LogsClient,
  plan: ExportPlan,
  sink: LogSink,
  { signal, onProgress, onRetry, onReorg }: ExportHooks,
): Promise<void> {
  const { address, topics, fromBlock, toBlock, concurrency, maxBlocks } = plan
  let failures = 0
  let furthest = fromBlock
  for (;;) {
    const start = sink.cursor()
    try {
      const logs = iterateLogs(client, {
        ...(address.length > 0 && { address: address.length === 1 ? address[0] : address }),
        topics,
        fromBlock,
        toBlock,
        concurrency,
        maxBlocks,
        signal,
        cursor: start,
        checkReorg: true,
        onProgress: ({ cursor }) => {
          sink.advance(cursor)
          onProgress()
        },
      })
      for await (const log of logs) {
        const written = sink.write(log, logs.cursor() ?? start)
        if (written) await written
      }
      if (sink.cursor().nextBlock > toBlock) return
      throw createLaggingError(sink.cursor().nextBlock - 1, toBlock)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!isKeyrailError(error) || !error.retryable) throw error
      const reached = sink.cursor().nextBlock
      if (reached > furthest) failures = 0
      furthest = Math.max(furthest, reached)
      const seconds = retryDelays[failures++]
      const delayMs = Math.max((seconds ?? 0) * 1_000, error.retryAfterMs ?? 0)
      if (isReorgError(error)) onReorg(error.reorg.fromBlock, sink.rollBack(error.reorg))
      if (seconds === undefined || delayMs > maxRetryDelayMs) throw error
      if (!isReorgError(error)) onRetry(error, delayMs)
      await pause(delayMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) throw signal.reason
    }
  }
}

/** One of several nodes behind an endpoint may lag. */
const createLaggingError = (head: number, toBlock: number): KeyrailError =>
  new KeyrailError(`the node is at block ${head}, below block ${toBlock}.`, {
    kind: 'lagging',
    source: 'node',
    retryable: true,
    method: 'eth_blockNumber',
  })
