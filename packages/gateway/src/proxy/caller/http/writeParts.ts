import type { ServerResponse } from 'node:http'
import type { Transform } from 'node:stream'
import { getByteLength } from '../../request/responseParts.ts'
import type { BodyPart } from '../../request/responseParts.ts'

/** Small enough that any caller that reads at all takes one within the time limit, large enough to cost no speed. */
const chunkBytes = 256 * 1024
/** Shorter parts are joined, because each write has a cost of its own, most of all if another thread compresses it. */
const shortPart = 8 * 1024
/** The slowest average speed of a caller, whose response stays in memory until it has read it. */
export const minBytesPerSecond = 20_000
/** Node fires a longer timer at once. */
const maxTimerMs = 2_147_483_647

/** Joins short parts and splits long ones. */
function* toChunks(parts: readonly BodyPart[]): Generator<Exclude<BodyPart, string>, undefined> {
  let short: Buffer[] = []
  let shortBytes = 0
  for (const part of parts) {
    const chunk = typeof part === 'string' ? Buffer.from(part) : part
    const isShort = !('start' in chunk) && chunk.length < shortPart
    if (shortBytes > 0 && (!isShort || shortBytes + chunk.length > chunkBytes)) {
      yield Buffer.concat(short)
      short = []
      shortBytes = 0
    }
    if (isShort) {
      short.push(chunk)
      shortBytes += chunk.length
    } else if ('start' in chunk) yield chunk
    else for (let from = 0; from < chunk.length; from += chunkBytes) yield chunk.subarray(from, from + chunkBytes)
  }
  if (shortBytes > 0) yield Buffer.concat(short)
  return undefined
}

/**
 * Destroys the connection of a caller that stops reading its response, because the rest of the response is in memory.
 * @returns Restarts the time.
 */
const destroyWhenStalled = (response: ServerResponse, timeoutMs: number): (() => void) => {
  const stalled = (): void => {
    // No socket yet: an earlier response of the pipeline is being written, which has a limit of its own.
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
 * Ends a response with a short body.
 * @param body - If it is a text, one character per byte.
 * @param timeoutMs - How long the caller may take to read it, in milliseconds.
 */
export const endWithin = (response: ServerResponse, body: string | Buffer, timeoutMs: number): void => {
  response.end(body, 'latin1')
  const { socket } = response
  if (socket === null || socket.writableLength > 0) destroyWhenStalled(response, timeoutMs)
}

/**
 * Writes a body chunk by chunk as its caller reads it, and ends the response. A streamed result is not read from its node while the caller reads
 * nothing. If the stream fails, the connection is destroyed, because a normal end would make the result look complete.
 * @param options.timeoutMs - The longest time without progress, in milliseconds. Then the connection is destroyed.
 * @param options.bytesPerSecond - The slowest average speed. A slower caller loses its connection once `timeoutMs` has passed. It does not apply
 * to streams, because little of them is held here. The bytes are those before compression. @default 20_000
 * @param options.compressor - Compresses the body. @default none
 */
export const writeParts = (
  response: ServerResponse,
  parts: readonly BodyPart[],
  {
    timeoutMs,
    bytesPerSecond = minBytesPerSecond,
    compressor,
  }: { timeoutMs: number; bytesPerSecond?: number; compressor?: Transform | undefined },
): void => {
  const target = compressor ?? response
  const progress = destroyWhenStalled(response, timeoutMs)
  const bytes = getByteLength(parts)
  // Never restarted: a limit for the whole response.
  if (bytes !== undefined)
    destroyWhenStalled(response, Math.min(timeoutMs + (bytes / bytesPerSecond) * 1000, maxTimerMs))
  const chunks = toChunks(parts)
  if (compressor !== undefined) {
    // A compressor holds memory outside the heap until it is destroyed.
    response.on('close', () => void compressor.destroy())
    compressor.on('error', () => void response.destroy())
    compressor.pipe(response)
  }
  const writeRest = (): void => {
    progress()
    target.cork()
    for (let next = chunks.next(); next.value !== undefined; next = chunks.next()) {
      const chunk = next.value
      if ('start' in chunk) {
        target.uncork()
        writeStream(chunk)
        return
      }
      if (target.write(chunk)) continue
      target.uncork()
      target.once('drain', writeRest)
      return
    }
    // Node 24 sends a corked chunk after the last one, where it is lost.
    target.uncork()
    target.end()
  }
  const writeStream = (stream: Exclude<BodyPart, string | Buffer>): void => {
    const resume = (): void => {
      progress()
      stream.resume()
    }
    response.on('close', stream.stop)
    stream.start({
      write: (chunk) => {
        progress()
        const hasRoom = target.write(chunk)
        if (!hasRoom) target.once('drain', resume)
        return hasRoom
      },
      end: writeRest,
      fail: () => void response.destroy(),
    })
  }
  writeRest()
}
