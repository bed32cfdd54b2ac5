import { createTransport, webSocket } from '@keyrail/core'
import { createClient, getChainId, subscribe } from '@keyrail/fetch'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, exitCodes } from '../cliError.ts'
import { readerClosed } from '../logs/logStream.ts'
import { formatFailure } from '../output/formatFailure.ts'
import { printNote } from '../output/print.ts'
import { getStyle, plain } from '../output/style.ts'
import { openCursorFile } from '../watch/cursorFile.ts'
import { formatEvent, formatJsonEvent } from '../watch/formatEvent.ts'
import type { WatchEvent } from '../watch/formatEvent.ts'
import { readWatchRequest } from '../watch/watchRequest.ts'
import { readEndpointOrPrompt, warnAboutKeyInUrl } from './endpoint.ts'
import { listenForStop } from './listenForStop.ts'

/** How often the position is saved. */
const saveIntervalMs = 1_000

/**
 * `keyrail watch blocks` and `keyrail watch logs`: prints events until it is stopped.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0 if it was stopped by a signal, or if the reader closed the stream.
 * @throws {CliError} exit code 2 for invalid usage; 1 if the cursor file cannot be used.
 * @throws {KeyrailError} if a call fails and the failure is not retryable.
 */
export async function watch(given: ReadArguments): Promise<number> {
  const request = readWatchRequest(given)
  const { logs, from: fromBlock, json, cursorFile } = request
  await warnAboutKeyInUrl(given)
  const transport = createTransport({
    ...(await readEndpointOrPrompt(given, process.env)),
    webSocket: webSocket(),
  })
  const interrupt = new AbortController()
  const { signal } = interrupt
  const stop = listenForStop()
  void stop.requested.then(() => interrupt.abort(stopped))
  const client = createClient(transport)
  try {
    const chainId = cursorFile === undefined ? 0 : await getChainId(client, { signal })
    const file = cursorFile === undefined ? undefined : openCursorFile(cursorFile, { chainId, logs: logs ?? null })
    if (file?.cursor !== undefined) await printNote(`keyrail: resuming at the position in ${cursorFile}`)
    const events = subscribe(
      client,
      logs
        ? { logs: { ...(logs.address.length > 0 && { address: logs.address }), topics: logs.topics } }
        : { blocks: true },
      {
        signal,
        fromBlock,
        cursor: file?.cursor,
        onError: ({ error, waitMs }) => {
          const [line] = formatFailure(error, plain).lines
          void printNote(`${line} Retrying in ${Math.ceil(waitMs / 1_000)} s.`)
        },
      },
    )
    /** The position after the last event that was printed. */
    let position = events.cursor()
    let saved = file?.cursor
    let printing = false
    const save = (): void => {
      // The cursor also moves when blocks have no matching logs. It must not be ahead of what was printed.
      if (!printing) position = events.cursor()
      if (position !== saved) file?.save(position)
      saved = position
    }
    const timer = setInterval(() => {
      try {
        save()
      } catch (error) {
        interrupt.abort(error)
      }
    }, saveIntervalMs)
    const output = openOutput(json)
    try {
      for await (const event of events) {
        printing = true
        await output(event)
        position = events.cursor()
        printing = false
      }
    } catch (error) {
      if (error !== readerClosed && error !== stopped) throw error
    } finally {
      clearInterval(timer)
      try {
        save()
      } finally {
        file?.release()
      }
    }
    if (file && signal.aborted) await printNote(`keyrail: saved the position in ${cursorFile}`)
    return exitCodes.ok
  } catch (error) {
    if (error === stopped) return exitCodes.ok
    throw error
  } finally {
    stop.dispose()
    transport.close()
  }
}

/** The reason of the signal if the user stops the command. */
const stopped = new CliError('stopped')

/** Prints events on standard output. @returns Prints one. Rejects with {@link readerClosed} if nobody reads them. */
function openOutput(json: boolean): (event: WatchEvent) => Promise<void> {
  const { stdout } = process
  const style = getStyle(stdout)
  stdout.on('error', () => {})
  return (event) => {
    const text = json ? formatJsonEvent(event) : formatEvent(event, style).join('\n')
    return new Promise((resolve, reject) => {
      stdout.write(`${text}\n`, (error) => (error ? reject(readerClosed) : resolve()))
    })
  }
}
