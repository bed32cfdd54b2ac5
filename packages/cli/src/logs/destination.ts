import { existsSync, rmSync } from 'node:fs'
import { getChainId } from '@keyrail/fetch'
import type { Client } from '@keyrail/fetch'
import { wrongUsage } from '../cliError.ts'
import { lockFile } from '../lockFile.ts'
import { checkSettings, getSettings, readCheckpoint } from './checkpoint.ts'
import { checkIsFile, openLogFile } from './logFile.ts'
import { getLogFormat } from './decodedFormat.ts'
import type { LogSink } from './logSink.ts'
import type { LogsRequest } from './logsRequest.ts'
import { openLogStream } from './logStream.ts'
import { resolveRange } from './resolveRange.ts'
import { toFileError } from './toFileError.ts'
import { writeParquet } from './writeParquet.ts'
import type { ParquetResult } from './writeParquet.ts'

/** Where an export writes to, and its range. */
export interface Destination {
  readonly sink: LogSink
  readonly chainId: number
  readonly fromBlock: number
  readonly toBlock: number
  /** How many logs earlier runs wrote; undefined for a new export. */
  readonly resumedLogs: number | undefined
  /** The file's size in bytes; undefined for a stream. */
  readonly bytes: () => number | undefined
  /** How many logs are not in a Parquet file, because they are not of the decoded event. */
  readonly skipped: () => number
  /** How many logs in a Parquet file have a parameter that cannot be decoded. */
  readonly undecoded: () => number
  /** Writes the rest and completes the export. @throws The signal's reason if aborted. */
  readonly finish: (signal: AbortSignal) => Promise<void>
  /** Stops before the end. Returns what has been written and how to resume. Never throws. */
  readonly stop: () => Promise<{ readonly status: string; readonly hint: string }>
  /** Releases the lock. */
  readonly release: () => void
}

/** Formats a number of logs: `1,000 logs`. */
export const formatLogCount = (logs: number): string => `${logs.toLocaleString('en-US')} ${logs === 1 ? 'log' : 'logs'}`

function lockOutput(out: string): () => void {
  try {
    return lockFile(`${out}.lock`, (holder) => ({
      message: `process ${holder} is writing to ${out}`,
      fix: 'wait until it finishes, or use another file',
    }))
  } catch (error) {
    throw toFileError(out, error)
  }
}

async function openFile(client: Client, request: LogsRequest, out: string): Promise<Destination> {
  const checkpointFile = `${out}.cursor`
  const release = lockOutput(out)
  try {
    const settings = getSettings(request)
    const checkpoint = request.overwrite ? undefined : readCheckpoint(checkpointFile)
    if (checkpoint) checkSettings(checkpoint, settings, out)
    else if (!request.overwrite && existsSync(out)) {
      throw wrongUsage(
        `${out} already exists and has no export to resume`,
        'use another --out, or replace the file with --overwrite',
      )
    }
    const chainId = await getChainId(client)
    if (checkpoint && checkpoint.chainId !== chainId) {
      throw wrongUsage(
        `${out} is an export of chain ${checkpoint.chainId}, but this endpoint serves chain ${chainId}`,
        'use an endpoint of that chain to resume, --overwrite to start over, or another --out',
      )
    }
    const { fromBlock, toBlock } = checkpoint ?? (await resolveRange(client, request))
    const isParquet = request.format === 'parquet'
    if (isParquet) checkIsFile(out)
    // The lines that a Parquet file is made of when the export is complete.
    const path = isParquet ? `${out}.partial` : out
    let parquet: ParquetResult | undefined
    const file = openLogFile(path, checkpointFile, checkpoint ?? { settings, chainId, fromBlock, toBlock })
    return {
      sink: file,
      chainId,
      fromBlock,
      toBlock,
      resumedLogs: checkpoint?.logs,
      bytes: () => parquet?.bytes ?? file.bytes(),
      skipped: () => parquet?.skipped ?? 0,
      undecoded: () => parquet?.undecoded ?? 0,
      finish: async (signal) => {
        if (isParquet) {
          file.save()
          parquet = await writeParquet(path, out, { decode: request.decode, signal })
        }
        file.finish()
        if (isParquet) rmSync(path, { force: true })
      },
      stop: async () => {
        file.close()
        return {
          status: `wrote ${formatLogCount(file.logs())} to ${path}, next block ${file.cursor().nextBlock}`,
          hint: `run the same command again${request.overwrite ? ' without --overwrite' : ''} to resume`,
        }
      },
      release,
    }
  } catch (error) {
    release()
    throw error
  }
}

async function openStream(client: Client, request: LogsRequest): Promise<Destination> {
  const chainId = await getChainId(client)
  const { fromBlock, toBlock } = await resolveRange(client, request)
  const stream = openLogStream(process.stdout, getLogFormat(request), fromBlock)
  return {
    sink: stream,
    chainId,
    fromBlock,
    toBlock,
    resumedLogs: undefined,
    bytes: () => undefined,
    skipped: () => 0,
    undecoded: () => 0,
    finish: stream.end,
    stop: async () => {
      await stream.end().catch(() => undefined)
      const { nextBlock } = stream.cursor()
      return { status: `wrote all logs before block ${nextBlock}`, hint: `resume with --from ${nextBlock}` }
    },
    release: () => {},
  }
}

/**
 * Opens the destination of an export: a new file, a file to resume, or standard output.
 *
 * @param client - Queries the chain id and, for a new export, the range.
 * @param request - The options of the command.
 * @throws {CliError} if the file cannot be used or belongs to another export. Nothing is changed in that case.
 * @throws {KeyrailError} if a call fails.
 */
export function openDestination(client: Client, request: LogsRequest): Promise<Destination> {
  return request.out === undefined ? openStream(client, request) : openFile(client, request, request.out)
}
