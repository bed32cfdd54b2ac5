import { KeyrailError } from '@keyrail/core'
import {
  checkCallOptions,
  checkInteger,
  checkNames,
  createLogWindows,
  createWindowSize,
  now,
  runAbortable,
} from '@keyrail/core/internal'
import type { BlockSpan } from '@keyrail/core/internal'
import type { CallOptions } from '@keyrail/core'
import { getClientTransport } from '../client/clientTransport.ts'
import type { Log } from '../decode/log.ts'
import type { MinedBlockNumberInput } from '../encode/blockInput.ts'
import { checkType } from '../encode/checkType.ts'
import { encodeQuantity } from '../encode/encodeQuantity.ts'
import { invalidOption } from '../encode/invalidOption.ts'
import { callOptionNames, pickCallOptions } from '../read/bindCallOptions.ts'
import { getBlockNumber } from '../read/getBlockNumber.ts'
import type { ReadClient } from '../read/readClient.ts'
import { createChainEdges } from './chainEdges.ts'
import { encodeLogQuery } from './encodeLogQuery.ts'
import type { LogQuery } from './logQuery.ts'
import { checkLogCursor } from './logCursor.ts'
import type { LogCursor } from './logCursor.ts'
import { readLogs } from './readLogs.ts'
import { isReorgError } from './reorgError.ts'
import { checkRangeEnd, resolveBlock } from './resolveRange.ts'

/** The methods that {@link iterateLogs} needs of a client. */
export interface LogsClient {
  readonly with: (options: CallOptions) => ReadClient<'eth_getLogs' | 'eth_blockNumber' | 'eth_getBlockByNumber'>
}

/** The progress of an iteration. */
export interface LogsProgress {
  /** The first block of this run. */
  readonly fromBlock: bigint
  /** The last block, resolved when the run started. */
  readonly toBlock: bigint
  readonly blocksDone: number
  readonly blocksTotal: number
  /** How many logs the loop has received. */
  readonly logs: number
  /** The average since this run started. */
  readonly blocksPerSecond: number
  /** Resumes after these logs: the loop has processed every log before it. */
  readonly cursor: LogCursor
}

/** Options of {@link iterateLogs}. The call options, such as `timeoutMs` and `retries`, apply to each of its calls. */
export interface IterateLogsOptions extends LogQuery, CallOptions {
  /** The first block. Ignored if you pass a cursor. */
  readonly fromBlock: MinedBlockNumberInput
  /** The last block, resolved once at the start and never above the head at that time. @default 'latest' */
  readonly toBlock?: MinedBlockNumberInput | undefined
  /** The most blocks to request at once. The provider's own limit is detected without it. @default 100_000 */
  readonly maxBlocks?: number | undefined
  /** How many windows to read in parallel, from 1 to 64. Prefetches at most twice as many. @default 4 */
  readonly concurrency?: number | undefined
  /** Ends the iteration, which then rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined
  /** How long each call may take, retries included, in milliseconds. The iteration as a whole has no limit. @default that of the client */
  readonly timeoutMs?: number | undefined
  /** Resumes an earlier iteration over the same logs. */
  readonly cursor?: LogCursor | undefined
  /** Called after each window whose logs the loop has processed. If it throws, the iteration ends with that error. */
  readonly onProgress?: ((progress: LogsProgress) => void) | undefined
  /** Whether to detect reorganizations that affect logs the loop has received: see {@link isReorgError}. @default false */
  readonly checkReorg?: boolean | undefined
}

const ownNames: readonly (keyof IterateLogsOptions)[] = [
  'address',
  'topics',
  'fromBlock',
  'toBlock',
  'maxBlocks',
  'concurrency',
  'cursor',
  'onProgress',
  'checkReorg',
]

/** An async iterator of logs that also reports its position. */
export interface LogIterator extends AsyncGenerator<Log, void, undefined> {
  /** The position after the last log received; undefined before the first block is known. */
  readonly cursor: () => LogCursor | undefined
}

/** Blocks this far below the head are treated as final. */
const finalDepth = 64
/** Each reread means that the chain changed while a window was being read. */
const mostRereads = 10

/**
 * Iterates over the decoded logs of any range of blocks, strictly in chain order.
 *
 * The range is read in windows, several in parallel. If the provider rejects a window for its size (kind `range`, or a timeout), the size
 * that it accepts is parsed from the error, or else the window is halved. All clients of one transport share the learned limits. Slow
 * consumers apply back-pressure: at most `2 * concurrency` windows are prefetched. Leaving the loop aborts the requests in flight.
 *
 * `toBlock: 'latest'` is the head when the iteration starts. For the logs of later blocks, resume from the cursor or use `subscribe`.
 * A signal that is bound to the client is replaced by `signal`.
 *
 * @param client - A client.
 * @param options - Which logs, of which blocks, and call options that apply to each call.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, at once. During the iteration: `range`, with the block, if a single block
 *   is too large; `badResponse` for a malformed response and, with `checkReorg`, after a reorganization; otherwise the failure of a call.
 *   `cursor()` still returns where to resume.
 * @throws The signal's own reason if you abort it.
 * @example
 * const logs = iterateLogs(client, { address: account, fromBlock: 17_000_000n, toBlock: 'finalized' })
 * for await (const log of logs) console.log(log.blockNumber, log.logIndex, JSON.stringify(logs.cursor()))
 */
export function iterateLogs(client: LogsClient, options: IterateLogsOptions): LogIterator {
  checkNames('iterateLogs', options, [...ownNames, ...callOptionNames])
  const { fromBlock, toBlock = 'latest', maxBlocks, concurrency = 4, onProgress, checkReorg = false } = options
  const callOptions = pickCallOptions(options)
  checkCallOptions(callOptions)
  const query = encodeLogQuery(options)
  checkRangeEnd(fromBlock, 'fromBlock')
  checkRangeEnd(toBlock, 'toBlock')
  if (typeof fromBlock !== 'string' && typeof toBlock !== 'string' && fromBlock > toBlock)
    throw invalidOption(`fromBlock (${fromBlock}) must not be above toBlock (${toBlock})`)
  checkInteger('maxBlocks', maxBlocks, 1, 2 ** 31)
  checkInteger('concurrency', concurrency, 1, 64)
  if (options.cursor !== undefined) checkLogCursor(options.cursor)
  checkType('onProgress', onProgress, 'function')
  checkType('checkReorg', checkReorg, 'boolean')
  let cursor =
    options.cursor ?? (typeof fromBlock === 'string' ? undefined : { nextBlock: Number(fromBlock), nextLogIndex: 0 })

  async function* run(signal: AbortSignal): AsyncGenerator<Log, void, undefined> {
    const reader = client.with({ ...callOptions, signal })
    const head = Number(await getBlockNumber(reader))
    const last = Math.min(await resolveBlock(reader, toBlock, head), head)
    cursor ??= { nextBlock: await resolveBlock(reader, fromBlock, head), nextLogIndex: 0 }
    const { nextBlock: first, nextLogIndex: firstIndex } = cursor
    const edges = createChainEdges(reader, head, (checkReorg && cursor.edges) || [])
    const size = createWindowSize(getClientTransport(client), maxBlocks)

    const readSpan = ({ from, to }: BlockSpan): Promise<Log[]> =>
      readLogs(
        reader,
        { ...query, fromBlock: encodeQuantity(from, 'fromBlock'), toBlock: encodeQuantity(to, 'toBlock') },
        ({ blockNumber }) => blockNumber >= from && blockNumber <= to,
      )

    /**
     * Reads a window near the head. Compares the hash of its last block before and after, and checks the edge below it in between: if both
     * hashes are equal, they determine every block of the window and the chain down to that edge.
     */
    const readVerified = async (span: BlockSpan): Promise<Log[]> => {
      await edges.ensure(Math.max(span.from - 1, 0))
      for (let rereads = 0; rereads < mostRereads; rereads++) {
        const hash = await edges.getHash(span.to)
        const logs = await readSpan(span)
        await edges.verify()
        if ((await edges.getHash(span.to)) !== hash) continue
        edges.add(span.to, hash)
        return logs
      }
      const text = `the chain changed ${mostRereads} times while blocks ${span.from} to ${span.to} were read: try again later, or read up to 'finalized'`
      throw new KeyrailError(text, { kind: 'unavailable', source: 'node', retryable: true, method: 'eth_getLogs' })
    }

    await edges.verify()
    const finalBlock = checkReorg ? Math.min(Math.max(head - finalDepth, first - 1), last) : last
    const spans = [
      { from: first, to: finalBlock, exclusive: false },
      { from: finalBlock + 1, to: last, exclusive: true },
    ].filter(({ from, to }) => from <= to)
    const read = (span: BlockSpan): Promise<Log[]> => (span.exclusive ? readVerified(span) : readSpan(span))
    const windows = createLogWindows({ spans, read, size, concurrency })

    const startedAt = now()
    let received = 0
    for (let window = await windows.next(); window; window = await windows.next()) {
      for (const log of window.logs) {
        const number = Number(log.blockNumber)
        if (number === first && log.logIndex < firstIndex) continue
        cursor = {
          nextBlock: number,
          nextLogIndex: log.logIndex + 1,
          ...(window.exclusive && { edges: [...edges.below(number), [number, log.blockHash]] }),
        }
        received++
        yield log
      }
      const nextBlock = window.to + 1
      cursor = { nextBlock, nextLogIndex: 0, ...(window.exclusive && { edges: edges.below(nextBlock) }) }
      const blocksDone = nextBlock - first
      onProgress?.({
        fromBlock: BigInt(first),
        toBlock: BigInt(last),
        blocksDone,
        blocksTotal: last - first + 1,
        logs: received,
        blocksPerSecond: blocksDone / Math.max((now() - startedAt) / 1_000, 0.001),
        cursor,
      })
    }
  }

  async function* runToCursor(signal: AbortSignal): AsyncGenerator<Log, void, undefined> {
    try {
      yield* run(signal)
    } catch (error) {
      if (isReorgError(error)) cursor = error.reorg.cursor
      throw error
    }
  }

  return Object.assign(runAbortable(options.signal, runToCursor), { cursor: () => cursor })
}
