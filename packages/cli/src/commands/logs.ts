import { setFlagsFromString } from 'node:v8'
import { createTransport } from '@keyrail/core'
import { createClient } from '@keyrail/fetch'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, exitCodes } from '../cliError.ts'
import { formatLogCount, openDestination } from '../logs/destination.ts'
import type { Destination } from '../logs/destination.ts'
import { exportLogs } from '../logs/exportLogs.ts'
import { limitResponseSize } from '../logs/limitResponseSize.ts'
import { readLogsRequest } from '../logs/logsRequest.ts'
import type { LogsRequest } from '../logs/logsRequest.ts'
import { noteUndecoded } from '../logs/noteUndecoded.ts'
import { readerClosed } from '../logs/logStream.ts'
import { createProgressBar } from '../logs/progressBar.ts'
import { formatFailure } from '../output/formatFailure.ts'
import { print, printData, printNote } from '../output/print.ts'
import { plain } from '../output/style.ts'
import { readEndpointOrPrompt, warnAboutKeyInUrl } from './endpoint.ts'
import { listenForStop } from './listenForStop.ts'

/**
 * Limits the memory of a process that creates much garbage and needs little of it. Call it before the work starts.
 *
 * By default, V8 grows the space for new objects to more than 100 MB, and on a busy machine the space for old ones to several times what is in
 * use. These flags halve the memory for 25 % more CPU time.
 */
function limitHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=30')
}

/** Formats the result of an export for `--json`. */
function formatJsonSummary(
  request: LogsRequest,
  destination: Destination,
  { seconds, finished }: { readonly seconds: number; readonly finished: boolean },
): string {
  const { sink, chainId, fromBlock, toBlock, resumedLogs, bytes, skipped, undecoded } = destination
  const { nextBlock } = sink.cursor()
  return JSON.stringify({
    finished,
    out: request.out ?? null,
    format: request.format,
    chainId,
    fromBlock,
    toBlock,
    nextBlock,
    logs: sink.logs() - skipped(),
    skipped: skipped(),
    undecoded: undecoded(),
    bytes: bytes() ?? null,
    resumed: resumedLogs !== undefined,
    seconds: Number(seconds.toFixed(3)),
  })
}

/** Formats the result of an export for people. */
function formatSummary(request: LogsRequest, destination: Destination, seconds: number): string {
  const { sink, fromBlock, toBlock, resumedLogs, skipped, undecoded } = destination
  const perSecond = Math.round((sink.logs() - (resumedLogs ?? 0)) / Math.max(seconds, 0.001)).toLocaleString('en-US')
  const target = request.out === undefined ? '' : ` to ${request.out}`
  const others = skipped() === 0 ? '' : `, and skipped ${formatLogCount(skipped())} with other indexed parameters`
  const broken = undecoded() === 0 ? '' : `, ${formatLogCount(undecoded())} with parameters that cannot be decoded`
  const written = formatLogCount(sink.logs() - skipped())
  return `wrote ${written} of blocks ${fromBlock} to ${toBlock}${target}${broken}${others} (${seconds.toFixed(1)} s, ${perSecond}/s)`
}

/**
 * `keyrail logs`: exports the logs of a block range to a file or to standard output.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0 if every log was written, or if the reader closed the stream.
 * @throws {CliError} exit code 2 for invalid usage; 130 if interrupted, with how to resume.
 * @throws {KeyrailError} if a call fails.
 */
export async function logs(given: ReadArguments): Promise<number> {
  const request = readLogsRequest(given)
  const json = given.flag('json')
  limitHeapGrowth()
  await warnAboutKeyInUrl(given)
  // More retries than for a single call: a failure stops the whole export.
  const transport = createTransport({ ...(await readEndpointOrPrompt(given, process.env)), retry: { retries: 6 } })
  const interrupt = new AbortController()
  const { signal } = interrupt
  const stop = listenForStop()
  void stop.requested.then(() => interrupt.abort(new CliError('interrupted', { exitCode: exitCodes.interrupted })))
  // If logs go to standard output, everything else goes to standard error.
  const toFile = request.out !== undefined
  const printJson = (line: string): Promise<void> => (toFile ? printData(line) : printNote(line))
  try {
    const client = createClient(transport).with({ signal })
    const destination = await openDestination(client, request)
    const { sink, fromBlock, toBlock, resumedLogs } = destination
    const startedAt = performance.now()
    const getSeconds = (): number => (performance.now() - startedAt) / 1_000
    const bar = createProgressBar(process.stderr, {
      getProgress: () => ({
        blocksDone: sink.cursor().nextBlock - fromBlock,
        blocksTotal: toBlock - fromBlock + 1,
        logs: sink.logs(),
      }),
      drawn: process.stderr.isTTY && !json && (toFile || !process.stdout.isTTY),
      quiet: json,
    })
    try {
      if (resumedLogs !== undefined) {
        bar.note(`keyrail: resuming at block ${sink.cursor().nextBlock}, after ${formatLogCount(resumedLogs)}`)
      }
      const checked = noteUndecoded(sink, request.decode, bar.note)
      await exportLogs(limitResponseSize(client), { ...request, fromBlock, toBlock }, checked, {
        signal,
        onProgress: bar.update,
        onRetry: (error, delayMs) => {
          bar.note(`${formatFailure(error, plain).lines[0]} Retrying in ${Math.ceil(delayMs / 1_000)} s.`)
        },
        onReorg: (block, removed) => {
          bar.note(`keyrail: reorg at or above block ${block}: removed ${formatLogCount(removed)}`)
        },
      })
      if (request.format === 'parquet') bar.note(`keyrail: converting ${formatLogCount(sink.logs())} to Parquet`)
      await destination.finish(signal)
    } catch (error) {
      bar.end()
      if (error === readerClosed) return exitCodes.ok
      const { status, hint } = await destination.stop()
      if (json) await printJson(formatJsonSummary(request, destination, { seconds: getSeconds(), finished: false }))
      if (error === signal.reason) {
        throw new CliError(`interrupted: ${status}`, { hint, exitCode: exitCodes.interrupted })
      }
      if (!json) await printNote([`keyrail: ${status}`, `  hint: ${hint}`])
      throw error
    } finally {
      bar.end()
      destination.release()
    }
    const seconds = getSeconds()
    if (json) await printJson(formatJsonSummary(request, destination, { seconds, finished: true }))
    else if (toFile) await print(formatSummary(request, destination, seconds))
    else if (bar.drawn) await printNote(formatSummary(request, destination, seconds))
    return exitCodes.ok
  } finally {
    stop.dispose()
    transport.close()
  }
}
