import { existsSync } from 'node:fs'
import { getChainId } from '@keyrail/fetch'
import type { Client } from '@keyrail/fetch'
import { wrongUsage } from '../cliError.ts'
import { toFileError } from './toFileError.ts'
import { lockFile } from '../lockFile.ts'
import { openLogFile } from './logFile.ts'
import { logFormats } from './logFormat.ts'
import type { LogSink } from './logSink.ts'
import type { LogsRequest } from './logsRequest.ts'
import { openLogStream } from './logStream.ts'
import { resolveRange } from './resolveRange.ts'
import { checkSettings, readCheckpoint, getSettings } from './checkpoint.ts'

/** Where an export goes, and what it is of. */
export interface Destination {
  readonly sink: LogSink
  readonly chainId: number
  readonly fromBlock: number
  readonly toBlock: number
  /** How many logs were there before this run; undefined for a new export. */
  readonly before: number | undefined
  /** How long the file is; undefined for a stream. */
  readonly bytes: () => number | undefined
  /** Writes what is left: the export is whole. */
  readonly finish: () => Promise<void>
  /** Stops half-way. Gives what is there, and how to go on. Never throws. */
  readonly leave: () => Promise<{ readonly told: string; readonly hint: string }>
  /** Lets go of it, whatever happened. */
  readonly release: () => void
}

/** How a number of logs is told. */
export const formatLogCount = (logs: number): string => `${logs.toLocaleString('en-US')} ${logs === 1 ? 'log' : 'logs'}`

function lockOf(out: string): () => void {
  try {
    return lockFile(`${out}.lock`, (holder) => ({
      message: `${out} is being written by process ${holder}`,
      fix: 'wait for that one, or name another file',
    }))
  } catch (error) {
    throw toFileError(out, error)
  }
}

async function openFile(client: Client, request: LogsRequest, out: string): Promise<Destination> {
  const cursorFile = `${out}.cursor`
  const release = lockOf(out)
  try {
    const settings = getSettings(request)
    const saved = request.overwrite ? undefined : readCheckpoint(cursorFile)
    if (saved) checkSettings(saved, settings, out)
    else if (!request.overwrite && existsSync(out)) {
      throw wrongUsage(
        `${out} is there already, and no export that could be gone on with`,
        'name another file by --out; or --overwrite puts a new export in its place',
      )
    }
    const chainId = await getChainId(client)
    if (saved && saved.chainId !== chainId) {
      throw wrongUsage(
        `${out} is an export of chain ${saved.chainId}, and this address is of chain ${chainId}`,
        'give an address of that chain to go on with it; or --overwrite to begin anew; or another --out',
      )
    }
    const { fromBlock, toBlock } = saved ?? (await resolveRange(client, request))
    const file = openLogFile(out, cursorFile, saved ?? { settings, chainId, fromBlock, toBlock })
    return {
      sink: file,
      chainId,
      fromBlock,
      toBlock,
      before: saved?.logs,
      bytes: file.bytes,
      finish: async () => file.finish(),
      leave: async () => {
        file.leave()
        return {
          told: `${formatLogCount(file.logs())} are in ${out}; block ${file.cursor().nextBlock} is next`,
          hint: `the same command${request.overwrite ? ' without --overwrite' : ''} goes on from there`,
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
  const stream = openLogStream(process.stdout, logFormats[request.format], fromBlock)
  return {
    sink: stream,
    chainId,
    fromBlock,
    toBlock,
    before: undefined,
    bytes: () => undefined,
    finish: stream.end,
    leave: async () => {
      await stream.end().catch(() => undefined)
      const { nextBlock } = stream.cursor()
      return { told: `all logs below block ${nextBlock} were written`, hint: `--from ${nextBlock} goes on from there` }
    },
    release: () => {},
  }
}

/**
 * Opens what an export goes to: a file, new or as an earlier run left it, or standard output.
 *
 * @param client - Asked for the chain, and for the ends of the range where they are not known yet.
 * @param request - What is asked for.
 * @throws {CliError} where the file cannot be used, or is of another export. Nothing is changed then.
 * @throws {KeyrailError} as the calls.
 */
export function openDestination(client: Client, request: LogsRequest): Promise<Destination> {
  return request.out === undefined ? openStream(client, request) : openFile(client, request, request.out)
}
