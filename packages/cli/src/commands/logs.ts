import { createTransport } from '@keyrail/core'
import { createClient } from '@keyrail/fetch'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, exitCodes } from '../cliError.ts'
import { limitResponseSize } from '../logs/limitResponseSize.ts'
import { formatLogCount, openDestination } from '../logs/destination.ts'
import type { Destination } from '../logs/destination.ts'
import { exportLogs } from '../logs/exportLogs.ts'
import { keepHeapSmall } from '../logs/keepHeapSmall.ts'
import { readLogsRequest } from '../logs/logsRequest.ts'
import type { LogsRequest } from '../logs/logsRequest.ts'
import { readerClosed } from '../logs/logStream.ts'
import { createProgressBar } from '../logs/progressBar.ts'
import { formatFailure } from '../output/formatFailure.ts'
import { print, printData, printNote } from '../output/print.ts'
import { plain } from '../output/style.ts'
import { readEndpointOrPrompt, warnAboutKeyInUrl } from './endpoint.ts'
import { listenForStop } from './listenForStop.ts'

/** How an export stands at its end: where the logs are, and how far they go. */
function closingLine(request: LogsRequest, destination: Destination, seconds: number): string {
  const { sink, chainId, fromBlock, toBlock, before, bytes } = destination
  const { nextBlock } = sink.cursor()
  return JSON.stringify({
    finished: nextBlock > toBlock,
    out: request.out ?? null,
    format: request.format,
    chainId,
    fromBlock,
    toBlock,
    nextBlock,
    logs: sink.logs(),
    bytes: bytes() ?? null,
    resumed: before !== undefined,
    seconds: Number(seconds.toFixed(3)),
  })
}

/** The same for people. */
function closingWords(request: LogsRequest, destination: Destination, seconds: number): string {
  const { sink, fromBlock, toBlock, before } = destination
  const perSecond = Math.round((sink.logs() - (before ?? 0)) / Math.max(seconds, 0.001)).toLocaleString('en-US')
  const where = request.out === undefined ? 'were written' : `are in ${request.out}`
  return `${formatLogCount(sink.logs())} of blocks ${fromBlock} to ${toBlock} ${where} (${seconds.toFixed(1)} s, ${perSecond}/s)`
}

/**
 * `keyrail logs`: the logs of a range of blocks, into a file or to standard output.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0 where every log of the range was written, or whoever read went away.
 * @throws {CliError} exit code 2 for a wrong command line; 130 where it was interrupted, saying how to go on.
 * @throws {KeyrailError} with the kind of failure.
 */
export async function logs(given: ReadArguments): Promise<number> {
  const request = readLogsRequest(given)
  const json = given.flag('json')
  keepHeapSmall()
  await warnAboutKeyInUrl(given)
  // More patient than with a single call: a failure ends more than itself here.
  const transport = createTransport({ ...(await readEndpointOrPrompt(given, process.env)), retry: { retries: 6 } })
  const interrupt = new AbortController()
  const { signal } = interrupt
  const stop = listenForStop()
  void stop.asked.then(() => interrupt.abort(new CliError('interrupted', { exitCode: exitCodes.interrupted })))
  // Where the logs go to standard output, everything else goes to the other one.
  const toFile = request.out !== undefined
  const printJson = (line: string): Promise<void> => (toFile ? printData(line) : printNote(line))
  try {
    const client = createClient(transport).with({ signal })
    const destination = await openDestination(client, request)
    const { sink, fromBlock, toBlock, before } = destination
    const startedAt = performance.now()
    const secondsSince = (): number => (performance.now() - startedAt) / 1_000
    const bar = createProgressBar(process.stderr, {
      stateOf: () => ({
        blocksDone: sink.cursor().nextBlock - fromBlock,
        blocksTotal: toBlock - fromBlock + 1,
        logs: sink.logs(),
      }),
      drawn: process.stderr.isTTY && !json && (toFile || !process.stdout.isTTY),
      quiet: json,
    })
    try {
      if (before !== undefined) {
        bar.note(`keyrail: going on at block ${sink.cursor().nextBlock}, after ${formatLogCount(before)}`)
      }
      await exportLogs(limitResponseSize(client), { ...request, fromBlock, toBlock }, sink, {
        signal,
        onProgress: bar.update,
        onWait: (error, waitMs) => {
          bar.note(`${formatFailure(error, plain).lines[0]} Trying again in ${Math.ceil(waitMs / 1_000)} s.`)
        },
        onReorg: (block, taken) => {
          bar.note(
            `keyrail: the chain was reorganized at or above block ${block}: ${formatLogCount(taken)} were taken back`,
          )
        },
      })
      await destination.finish()
    } catch (error) {
      bar.end()
      if (error === readerClosed) return exitCodes.ok
      const { told, hint } = await destination.leave()
      if (json) await printJson(closingLine(request, destination, secondsSince()))
      if (error === signal.reason) {
        throw new CliError(`interrupted: ${told}`, { hint, exitCode: exitCodes.interrupted })
      }
      if (!json) await printNote([`keyrail: ${told}`, `  hint: ${hint}`])
      throw error
    } finally {
      bar.end()
      destination.release()
    }
    const seconds = secondsSince()
    if (json) await printJson(closingLine(request, destination, seconds))
    else if (toFile) await print(closingWords(request, destination, seconds))
    else if (bar.drawn) await printNote(closingWords(request, destination, seconds))
    return exitCodes.ok
  } finally {
    stop.forget()
    transport.close()
  }
}
