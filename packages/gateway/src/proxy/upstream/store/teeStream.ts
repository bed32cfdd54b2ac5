import { dropBytes, holdBytes } from '../../../lib/memoryBudget.ts'
import type { BufferedBytes } from '../../../lib/memoryBudget.ts'
import type { ResponseStream } from '../openResponseStream.ts'

/** Most bytes of a streamed result that are also stored. */
const maxTeedBytes = 32 * 1024 * 1024

/**
 * Copies a stream that its caller reads, unless there is no memory for the copy.
 * @param buffered - The memory of the caller's request.
 * @param onComplete - Called with the whole result, unless it is incomplete or too large.
 */
export const teeStream = (
  stream: ResponseStream,
  buffered: BufferedBytes | undefined,
  onComplete: (result: Uint8Array) => void,
): ResponseStream => ({
  ...stream,
  start: (sink) => {
    let chunks: Buffer[] | undefined = []
    let bytes = 0
    const drop = (): void => {
      chunks = undefined
      dropBytes(buffered, bytes)
      bytes = 0
    }
    stream.start({
      write: (chunk) => {
        if (chunks !== undefined && bytes + chunk.length <= maxTeedBytes && holdBytes(buffered, chunk.length)) {
          bytes += chunk.length
          chunks.push(chunk)
        } else drop()
        return sink.write(chunk)
      },
      end: () => {
        if (chunks !== undefined) onComplete(Buffer.concat(chunks))
        drop()
        sink.end()
      },
      fail: () => {
        drop()
        sink.fail()
      },
    })
  },
})
