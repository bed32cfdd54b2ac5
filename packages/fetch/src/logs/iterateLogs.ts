import { KeyrailError } from '@keyrail/core'
import { checkNames, now } from '@keyrail/core/internal'
import type { CallOptions } from '@keyrail/core'
import { getClientTransport } from '../client/clientTransport.ts'
import type { Log } from '../decode/log.ts'
import type { MinedBlockNumberInput } from '../encode/blockInput.ts'
import { checkType } from '../encode/checkType.ts'
import { encodeQuantity } from '../encode/encodeQuantity.ts'
import { invalidOption } from '../encode/invalidOption.ts'
import { getBlockNumber } from '../read/getBlockNumber.ts'
import type { ReadClient } from '../read/readClient.ts'
import { createChainEdges } from './chainEdges.ts'
import { checkInteger } from './checkInteger.ts'
import { encodeLogQuery } from './encodeLogQuery.ts'
import type { LogQuery } from './logQuery.ts'
import { checkLogCursor } from './logCursor.ts'
import type { LogCursor } from './logCursor.ts'
import { createLogWindows } from './logWindows.ts'
import type { BlockSpan } from './logWindows.ts'
import { readLogs } from './readLogs.ts'
import { isReorgError } from './reorgError.ts'
import { checkRangeEnd, resolveBlock } from './resolveRange.ts'
import { runAbortable } from './runAbortable.ts'
import { createWindowSize } from './windowSize.ts'

/** What {@link iterateLogs} needs of a client. */
export interface LogsClient {
  readonly with: (options: CallOptions) => ReadClient<'eth_getLogs' | 'eth_blockNumber' | 'eth_getBlockByNumber'>
}

/** How far an iteration has come. */
export interface LogsProgress {
  /** The first block of this run. */
  readonly fromBlock: bigint
  /** The last block, as it was found at the start. */
  readonly toBlock: bigint
  readonly blocksDone: number
  readonly blocksTotal: number
  /** How many logs were given. */
  readonly logs: number
  /** Since this run began. */
  readonly blocksPerSecond: number
  /** Goes on from here: all logs before it were given, and taken. */
  readonly cursor: LogCursor
}

/** Options of {@link iterateLogs}. */
export interface IterateLogsOptions extends LogQuery {
  /** The first block. Not looked at where a cursor is given. */
  readonly fromBlock: MinedBlockNumberInput
  /** The last block, found once, at the start; never above the head as it stood then. @default 'latest' */
  readonly toBlock?: MinedBlockNumberInput | undefined
  /** The most blocks to ask for at once. A limit of the provider is found without it. @default 100_000 */
  readonly maxBlocks?: number | undefined
  /** How many windows are read at a time, from 1 to 64. At most twice as many wait to be taken. @default 4 */
  readonly concurrency?: number | undefined
  /** Ends the iteration, which then rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined
  /** Goes on where an earlier iteration over the same logs stood. */
  readonly cursor?: LogCursor | undefined
  /** Told after each window whose logs were all taken. What it throws ends the iteration. */
  readonly onProgress?: ((progress: LogsProgress) => void) | undefined
  /** Whether to find out that the chain was reorganized under what was given: see {@link isReorgError}. @default false */
  readonly checkReorg?: boolean | undefined
}

const names: readonly (keyof IterateLogsOptions)[] = [
  'address',
  'topics',
  'fromBlock',
  'toBlock',
  'maxBlocks',
  'concurrency',
  'signal',
  'cursor',
  'onProgress',
  'checkReorg',
]

/** Logs, one at a time, and where the iteration stands. */
export interface LogIterator extends AsyncGenerator<Log, void, undefined> {
  /** Where to go on after the log that was given last; undefined before the first block is known. */
  readonly cursor: () => LogCursor | undefined
}

/** Blocks so far below the head are taken for settled. */
const settledDepth = 64
/** Each reread means that the chain changed while a window was read. */
const mostRereads = 10

/**
 * The logs of any range of blocks, decoded, strictly in the order of the chain.
 *
 * The range is read in windows, several at a time. Where the provider refuses one for its size (kind `range`, or a timeout), its words
 * are read for the size it would take, else the window is halved; what is learned holds for everything on the same transport. A consumer
 * that is slow holds the reading up: it is never more than `2 * concurrency` windows ahead. Leaving the loop ends the requests under way.
 *
 * `toBlock: 'latest'` is the head as it stands at the start; logs of later blocks are for the next run, from the cursor, or for `watchLogs`.
 * A signal that is bound to the client is replaced by the one given here.
 *
 * @param client - A client.
 * @param options - Which logs, of which blocks.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, at once. While it runs: `range`, naming the block, where one block alone
 *   is too large; `badResponse` where an answer is broken or, with `checkReorg`, the chain was reorganized; else as the calls.
 *   `cursor()` still tells where to go on.
 * @throws The signal's own reason where the caller aborted.
 * @example
 * const logs = iterateLogs(client, { address: account, fromBlock: 17_000_000n, toBlock: 'finalized' })
 * for await (const log of logs) console.log(log.blockNumber, log.logIndex, JSON.stringify(logs.cursor()))
 */
export function iterateLogs(client: LogsClient, options: IterateLogsOptions): LogIterator {
  checkNames('iterateLogs', options, names)
  const { fromBlock, toBlock = 'latest', maxBlocks, concurrency = 4, onProgress, checkReorg = false } = options
  const condition = encodeLogQuery(options)
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
    const reader = client.with({ signal })
    const head = Number(await getBlockNumber(reader))
    const last = Math.min(await resolveBlock(reader, toBlock, head), head)
    cursor ??= { nextBlock: await resolveBlock(reader, fromBlock, head), nextLogIndex: 0 }
    const { nextBlock: first, nextLogIndex: firstIndex } = cursor
    const edges = createChainEdges(reader, (checkReorg && cursor.edges) || [])
    const size = createWindowSize(getClientTransport(client), maxBlocks)

    const readSpan = ({ from, to }: BlockSpan): Promise<Log[]> =>
      readLogs(
        reader,
        { ...condition, fromBlock: encodeQuantity(from, 'fromBlock'), toBlock: encodeQuantity(to, 'toBlock') },
        ({ blockNumber }) => blockNumber >= from && blockNumber <= to,
      )

    /**
     * Reads a window near the head between two looks at the hash of its last block, with a look at the edge before it in between: where
     * both looks agree, that hash fixes every block of the window, and the chain below it down to the edge.
     */
    const readSurely = async (span: BlockSpan): Promise<Log[]> => {
      await edges.reach(Math.max(span.from - 1, 0))
      for (let rereads = 0; rereads < mostRereads; rereads++) {
        const hash = await edges.hashOf(span.to)
        const logs = await readSpan(span)
        await edges.verify()
        if ((await edges.hashOf(span.to)) !== hash) continue
        edges.add(span.to, hash)
        return logs
      }
      const text = `the chain changes faster than blocks ${span.from} to ${span.to} can be read`
      throw new KeyrailError(text, { kind: 'unavailable', source: 'node', retryable: true, method: 'eth_getLogs' })
    }

    await edges.verify()
    const settled = checkReorg ? Math.min(Math.max(head - settledDepth, first - 1), last) : last
    const spans = [
      { from: first, to: settled, alone: false },
      { from: settled + 1, to: last, alone: true },
    ].filter(({ from, to }) => from <= to)
    const read = (span: BlockSpan): Promise<Log[]> => (span.alone ? readSurely(span) : readSpan(span))
    const windows = createLogWindows({ spans, read, size, concurrency })

    const startedAt = now()
    let given = 0
    for (let window = await windows.next(); window; window = await windows.next()) {
      for (const log of window.logs) {
        const number = Number(log.blockNumber)
        if (number === first && log.logIndex < firstIndex) continue
        cursor = {
          nextBlock: number,
          nextLogIndex: log.logIndex + 1,
          ...(window.alone && { edges: [...edges.below(number), [number, log.blockHash]] }),
        }
        given++
        yield log
      }
      const nextBlock = window.to + 1
      cursor = { nextBlock, nextLogIndex: 0, ...(window.alone && { edges: edges.below(nextBlock) }) }
      const blocksDone = nextBlock - first
      onProgress?.({
        fromBlock: BigInt(first),
        toBlock: BigInt(last),
        blocksDone,
        blocksTotal: last - first + 1,
        logs: given,
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
