import { getIndexed } from './decodedFormat.ts'
import type { LogSink } from './logSink.ts'
import { parseEvent } from './toEventTopic.ts'

/**
 * Reports the first log that has another number of indexed parameters than the event. The usual cause is an event without `indexed`: its hash is the
 * same, so its logs are found, but none is decoded.
 *
 * @param sink - The destination of the logs.
 * @param event - The event whose parameters are decoded; undefined for none.
 * @param note - Prints a line.
 */
export function noteUndecoded(sink: LogSink, event: string | undefined, note: (line: string) => void): LogSink {
  if (event === undefined) return sink
  const expected = getIndexed(parseEvent(event)).length
  let noted = false
  return {
    ...sink,
    write: (log, cursor) => {
      const found = log.topics.length - 1
      if (!noted && found !== expected) {
        noted = true
        note(
          `keyrail: a log of block ${log.blockNumber} is not decoded: it has ${found} indexed parameters, and --event has ${expected}`,
        )
        note(
          "  hint: mark the indexed parameters: --event 'Transfer(address indexed from, address indexed to, uint256 value)'",
        )
      }
      return sink.write(log, cursor)
    },
  }
}
