import type { BlockRange } from './blockRanges.ts'
import { packValue, toLogsSeed, unpackValue } from './chainFile.ts'
import type { SpanRow } from './chainFile.ts'
import type { ValueRows } from './chainRows.ts'
import { packLogs, unpackLogs } from './chainLogs.ts'
import type { PlacedLog } from './chainLogs.ts'

/** The row that logs belong to. `value`: their id; 0 if there are none. */
type LogsRow = Pick<SpanRow, 'f' | 'first' | 'last' | 'value'>

/** The table of the logs of spans, and of ranges that are not confirmed. */
export interface LogTable {
  /** Gets the logs of a row; `undefined` if they are damaged, or packed larger than that. @param maxBytes - @default Infinity */
  readonly get: (row: LogsRow, maxBytes?: number) => readonly PlacedLog[] | undefined
  /** Adds the logs of a row. @returns Their id. */
  readonly add: (row: Omit<LogsRow, 'value'>, logs: readonly PlacedLog[]) => number
  readonly remove: (row: LogsRow) => void
}

/** Logs are cut into values of about this size, so that a short range reads little. */
const maxValueBytes = 32 * 1024

/** Cuts a range with its logs into parts whose logs are one value each. @param logs - At least one, in chain order. */
export const cutLogs = function* (
  range: BlockRange,
  logs: readonly PlacedLog[],
): Generator<{ readonly range: BlockRange; readonly logs: readonly PlacedLog[] }> {
  let { first } = range
  let from = 0
  let bytes = 0
  for (const [at, { block, text }] of logs.entries()) {
    bytes += text.length
    const next = logs[at + 1]
    if (next === undefined || (bytes >= maxValueBytes && next.block !== block)) {
      yield { range: { first, last: next === undefined ? range.last : block }, logs: logs.slice(from, at + 1) }
      first = block + 1
      from = at + 1
      bytes = 0
    }
  }
}

/** Creates the function that reads the logs of a row. */
export const createReadLogs =
  ({ get }: Pick<ValueRows, 'get'>): LogTable['get'] =>
  ({ f, first, last, value }, maxBytes = Infinity) => {
    if (value === 0) return []
    const packed = get(f, value)
    if (packed === undefined || packed.length > maxBytes) return undefined
    const bytes = unpackValue(packed, toLogsSeed(f, first, last))
    return bytes && unpackLogs(bytes.toString('latin1'))
  }

/** Opens the table. */
export const createLogTable = (values: ValueRows): LogTable => ({
  get: createReadLogs(values),
  add: ({ f, first, last }, logs) => {
    if (logs.length === 0) return 0
    const text = Buffer.from(packLogs(logs), 'latin1')
    return values.insert(f, packValue(text, toLogsSeed(f, first, last)))
  },
  remove: ({ f, value }) => {
    if (value !== 0) values.delete(f, value)
  },
})
