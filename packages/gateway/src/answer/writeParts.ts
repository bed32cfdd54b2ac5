import type { ServerResponse } from 'node:http'

/** Small enough that a caller who reads at all takes one within the limit, large enough to cost no speed. */
const pieceBytes = 256 * 1024

function* piecesOf(parts: readonly (string | Buffer)[]): Generator<string | Buffer, undefined> {
  for (const part of parts) {
    // A string is text of the gateway's own, and short.
    if (typeof part === 'string' || part.length <= pieceBytes) yield part
    else for (let from = 0; from < part.length; from += pieceBytes) yield part.subarray(from, from + pieceBytes)
  }
  return undefined
}

/**
 * Writes a body piece by piece as its caller takes it, and ends the response. A caller who takes nothing for a while loses its
 * connection: what waits for it is held in memory.
 * @param timeoutMs - The longest time without progress, in milliseconds.
 */
export const writeParts = (response: ServerResponse, parts: readonly (string | Buffer)[], timeoutMs: number): void => {
  const stalled = (): void => {
    // No socket yet: an earlier answer of the pipeline is under way, which has a limit of its own.
    if (response.socket === null) timer.refresh()
    else response.socket.destroy()
  }
  const timer = setTimeout(stalled, timeoutMs)
  const pieces = piecesOf(parts)
  const writeOn = (): void => {
    timer.refresh()
    response.cork()
    for (let next = pieces.next(); next.value !== undefined; next = pieces.next()) {
      if (response.write(next.value)) continue
      response.uncork()
      response.once('drain', writeOn)
      return
    }
    response.end()
  }
  const stop = (): void => clearTimeout(timer)
  response.on('finish', stop)
  response.on('close', stop)
  writeOn()
}
