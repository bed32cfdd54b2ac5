import type { ServerResponse } from 'node:http'
import type { BodyPart } from './responseParts.ts'

/** Small enough that a caller who reads at all takes one within the limit, large enough to cost no speed. */
const pieceBytes = 256 * 1024
/** A caller that takes less than this in the long run keeps its answer in memory for as long as it likes. */
const leastBytesPerSecond = 20_000
/** A longer timer would fire at once. */
const longestMs = 2_147_483_647

function* piecesOf(parts: readonly BodyPart[]): Generator<BodyPart, undefined> {
  for (const part of parts) {
    // A string is text of the gateway's own, and short.
    if (typeof part === 'string' || 'start' in part || part.length <= pieceBytes) yield part
    else for (let from = 0; from < part.length; from += pieceBytes) yield part.subarray(from, from + pieceBytes)
  }
  return undefined
}

/** How long a body is; `undefined` where a result is on its way. */
export const bytesOf = (parts: readonly BodyPart[]): number | undefined => {
  let bytes = 0
  for (const part of parts) {
    if (typeof part === 'string') bytes += Buffer.byteLength(part)
    else if ('start' in part) return undefined
    else bytes += part.length
  }
  return bytes
}

/**
 * Cuts the connection of a caller who takes nothing of its answer for a while: what waits for it is held in memory.
 * @returns What says that something was taken.
 */
const cutWhenStalled = (response: ServerResponse, timeoutMs: number): (() => void) => {
  const stalled = (): void => {
    // No socket yet: an earlier answer of the pipeline is in flight, which has a limit of its own.
    if (response.socket === null) timer.refresh()
    else response.socket.destroy()
  }
  const timer = setTimeout(stalled, timeoutMs)
  const stop = (): void => clearTimeout(timer)
  response.on('finish', stop)
  response.on('close', stop)
  return () => void timer.refresh()
}

/**
 * Ends a response with a short body. Where the caller does not take it at once, it has so long to do so.
 * @param body - A character for each byte.
 * @param timeoutMs - In milliseconds.
 */
export const endOrCut = (response: ServerResponse, body: string, timeoutMs: number): void => {
  response.end(body, 'latin1')
  const { socket } = response
  if (socket === null || socket.writableLength > 0) cutWhenStalled(response, timeoutMs)
}

/**
 * Writes a body piece by piece as its caller takes it, and ends the response. A result on its way is held back at its node while
 * the caller takes nothing; where it breaks off the connection is cut, as an end would make it look whole.
 * @param options.timeoutMs - The longest time without progress, in milliseconds. Then the caller loses its connection.
 * @param options.bytesPerSecond - A caller that is slower than that loses it too, once that time has passed; not where a result is on its
 * way, as little of it is held here. @default 20_000
 */
export const writeParts = (
  response: ServerResponse,
  parts: readonly BodyPart[],
  { timeoutMs, bytesPerSecond = leastBytesPerSecond }: { timeoutMs: number; bytesPerSecond?: number },
): void => {
  const progress = cutWhenStalled(response, timeoutMs)
  const bytes = bytesOf(parts)
  // Never touched: the whole answer has so long.
  if (bytes !== undefined) cutWhenStalled(response, Math.min(timeoutMs + (bytes / bytesPerSecond) * 1000, longestMs))
  const pieces = piecesOf(parts)
  const writeOn = (): void => {
    progress()
    response.cork()
    for (let next = pieces.next(); next.value !== undefined; next = pieces.next()) {
      const piece = next.value
      if (typeof piece !== 'string' && 'start' in piece) {
        response.uncork()
        writeStream(piece)
        return
      }
      if (response.write(piece)) continue
      response.uncork()
      response.once('drain', writeOn)
      return
    }
    // Node 24 sends a corked chunk after the last one, where it is lost.
    response.uncork()
    response.end()
  }
  const writeStream = (stream: Exclude<BodyPart, string | Buffer>): void => {
    const goOn = (): void => {
      progress()
      stream.resume()
    }
    response.on('close', stream.stop)
    stream.start({
      write: (piece) => {
        progress()
        const taken = response.write(piece)
        if (!taken) response.once('drain', goOn)
        return taken
      },
      end: writeOn,
      fail: () => void response.destroy(),
    })
  }
  writeOn()
}
