import type { BlockRange } from './blockRanges.ts'
import { packValue, toLogsSeed, unpackValue } from './chainFile.ts'
import type { ChainFile, SpanRow } from './chainFile.ts'
import { packLogs, unpackLogs } from './chainLogs.ts'
import type { PlacedLog } from './chainLogs.ts'
import { prepareRows } from './prepareRows.ts'

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

/** Opens the table. */
export const createLogTable = (file: ChainFile): LogTable => {
  const prepare = <Row>(sql: string) => prepareRows<Row>(file.database, sql)
  const select = prepare<{ value: Uint8Array }>('select value from logs where id = ?')
  const insert = prepare<{ id: number }>('insert into logs(value) values (?) returning id')
  const deleteLogs = prepare('delete from logs where id = ?')
  return {
    get: ({ f, first, last, value }, maxBytes = Infinity) => {
      if (value === 0) return []
      const packed = select.get(value)?.value
      if (packed === undefined || packed.length > maxBytes) return undefined
      const bytes = unpackValue(packed, toLogsSeed(f, first, last))
      return bytes && unpackLogs(bytes.toString('latin1'))
    },
    add: ({ f, first, last }, logs) => {
      if (logs.length === 0) return 0
      const text = Buffer.from(packLogs(logs), 'latin1')
      return insert.get(packValue(text, toLogsSeed(f, first, last)))?.id ?? 0
    },
    remove: ({ value }) => {
      if (value !== 0) deleteLogs.run(value)
    },
  }
}
