import { setTimeout as pause } from 'node:timers/promises'
import { isKeyrailError, KeyrailError } from '@keyrail/core'
import { isReorgError, iterateLogs } from '@keyrail/fetch'
import type { LogsClient } from '@keyrail/fetch'
import type { LogSink } from './logSink.ts'
import type { ExportSettings } from './checkpoint.ts'

/** Which logs, of which blocks, and how they are read. */
export interface ExportPlan extends Pick<ExportSettings, 'address' | 'topics'> {
  readonly fromBlock: number
  readonly toBlock: number
  readonly concurrency: number | undefined
  readonly maxBlocks: number | undefined
}

/** Who is told what. */
export interface ExportWatch {
  readonly signal: AbortSignal
  readonly onProgress: () => void
  /** A failure that will pass, perhaps: it tries again after so many milliseconds. */
  readonly onWait: (error: KeyrailError, waitMs: number) => void
  /** The chain was reorganized: so many logs were taken back, of this block and of those above it. */
  readonly onReorg: (block: bigint, logs: number) => void
}

/** How long it waits after each failure in a row, in seconds. The transport made each call several times before. */
const waits = [1, 2, 4, 8, 15, 30, 30, 30]
/** A server that asks for a longer wait is not waited for. */
const longestWaitMs = 120_000

/**
 * Brings logs to where they are wanted, each once, in the order of the chain, and does not give up at the first trouble: what the transport's own
 * retries cannot fix is tried again from where it stands, for two minutes without a step forward.
 *
 * @param client - A client.
 * @param plan - Which logs.
 * @param sink - Where they go; it begins from its cursor.
 * @param watch - Who is told what, and by whom it is ended.
 * @throws {KeyrailError} the failure that did not pass, or that cannot.
 * @throws The signal's own reason where it was ended.
 */
export async function exportLogs(
  client: LogsClient,
  plan: ExportPlan,
  sink: LogSink,
  { signal, onProgress, onWait, onReorg }: ExportWatch,
): Promise<void> {
  const { address, topics, fromBlock, toBlock, concurrency, maxBlocks } = plan
  let failures = 0
  let furthest = fromBlock
  for (;;) {
    const begunAt = sink.cursor()
    try {
      const logs = iterateLogs(client, {
        ...(address.length > 0 && { address: address.length === 1 ? address[0] : address }),
        topics,
        fromBlock,
        toBlock,
        concurrency,
        maxBlocks,
        signal,
        cursor: begunAt,
        checkReorg: true,
        onProgress: ({ cursor }) => {
          sink.reach(cursor)
          onProgress()
        },
      })
      for await (const log of logs) {
        const taken = sink.take(log, logs.cursor() ?? begunAt)
        if (taken) await taken
      }
      if (sink.cursor().nextBlock > toBlock) return
      throw behind(sink.cursor().nextBlock - 1, toBlock)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!isKeyrailError(error) || !error.retryable) throw error
      const reached = sink.cursor().nextBlock
      if (reached > furthest) failures = 0
      furthest = Math.max(furthest, reached)
      const seconds = waits[failures++]
      const waitMs = Math.max((seconds ?? 0) * 1_000, error.retryAfterMs ?? 0)
      if (isReorgError(error)) onReorg(error.reorg.fromBlock, sink.takeBack(error.reorg))
      if (seconds === undefined || waitMs > longestWaitMs) throw error
      if (!isReorgError(error)) onWait(error, waitMs)
      await pause(waitMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) throw signal.reason
    }
  }
}

/** Of several nodes behind one address, one may be behind. */
const behind = (head: number, toBlock: number): KeyrailError =>
  new KeyrailError(`the node stands at block ${head} now, below block ${toBlock}.`, {
    kind: 'lagging',
    source: 'node',
    retryable: true,
    method: 'eth_blockNumber',
  })
