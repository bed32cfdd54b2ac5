import { subtractRanges } from './blockRanges.ts'
import type { BlockRange } from './blockRanges.ts'
import { isIntact, toRowCrc } from './chainFile.ts'
import type { SpanRow } from './chainFile.ts'
import { isIn } from './chainLogs.ts'
import type { PlacedLog } from './chainLogs.ts'
import type { ChainRows } from './chainRows.ts'
import { cutLogs } from './createLogTable.ts'
import type { LogTable } from './createLogTable.ts'

/** The table of the ranges whose logs are known, and the logs. */
export interface SpanTable {
  /** Reads the spans with blocks of a range, and removes damaged ones: they must not hide what they should have. */
  readonly get: (f: Buffer, range: BlockRange) => readonly SpanRow[]
  /**
   * Adds a range with all its logs, where there is no span yet: as spans whose values are small, and one without logs joined with those next to it from the
   * same node. Purging a node must delete what it said.
   */
  readonly add: (f: Buffer, range: BlockRange, source: number, logs: readonly PlacedLog[]) => void
  readonly remove: (row: SpanRow) => void
  /** Removes what a row has above a block; its logs all, because they are one value. */
  readonly rollBack: (row: SpanRow, number: number) => void
  /** Removes a row that reading has found to be damaged. */
  readonly removeDamaged: (key: Uint8Array, last: number) => void
}

/** A neighbor that is packed smaller is joined with new logs: they compress better together. */
export const maxJoinedBytes = 4 * 1024

/** Opens the table. @param parts.today - Gets the start of the day, in milliseconds since 1970. */
export const createSpanTable = (
  { spans }: Pick<ChainRows, 'spans'>,
  { logTable, today }: { readonly logTable: LogTable; readonly today: () => number },
): SpanTable => {
  const getEndingAt = (f: Uint8Array, last: number): SpanRow | undefined =>
    spans.select(f, { first: last, last }).find((row) => row.last === last)
  const getAfter = (f: Uint8Array, last: number): SpanRow | undefined =>
    spans.select(f, { first: last + 1, last: last + 1 })[0]
  const removeSpan = (row: SpanRow): void => {
    spans.delete(row.f, row.last)
    // A damaged row may name the logs of another one.
    if (isIntact(row)) logTable.remove(row)
  }
  const getSpans = (f: Buffer, range: BlockRange): readonly SpanRow[] =>
    spans.select(f, range).filter((row) => {
      const isGood = isIntact(row)
      if (!isGood) spans.delete(row.f, row.last)
      return isGood
    })
  const addSpan = (f: Uint8Array, { first, last }: BlockRange, source: number, logs: readonly PlacedLog[]): void => {
    const value = logTable.add({ f, first, last }, logs)
    spans.insert({ f, first, last, value, source, day: today(), crc: toRowCrc(f, first, last, value, source) })
  }
  /** Takes the span before a range if it is small and from the same node. */
  const takeSmallNeighbor = (f: Uint8Array, { first }: BlockRange, source: number) => {
    const row = getEndingAt(f, first - 1)
    if (row === undefined || row.value === 0 || row.source !== source || !isIntact(row)) return undefined
    const logs = logTable.get(row, maxJoinedBytes)
    if (logs === undefined) return undefined
    removeSpan(row)
    return { first: row.first, logs }
  }
  const addLogSpans = (f: Uint8Array, range: BlockRange, source: number, logs: readonly PlacedLog[]): void => {
    const neighbor = takeSmallNeighbor(f, range, source)
    const all: readonly PlacedLog[] = neighbor === undefined ? logs : [...neighbor.logs, ...logs]
    const first = neighbor?.first ?? range.first
    for (const part of cutLogs({ first, last: range.last }, all)) addSpan(f, part.range, source, part.logs)
  }
  const addEmptySpan = (f: Buffer, { first: from, last: to }: BlockRange, source: number): void => {
    let [first, last] = [from, to]
    const [before, after] = [getEndingAt(f, first - 1), getAfter(f, last)]
    if (before?.value === 0 && before.source === source && isIntact(before)) {
      first = before.first
      removeSpan(before)
    }
    if (after?.value === 0 && after.source === source && after.first === last + 1 && isIntact(after)) {
      last = after.last
      removeSpan(after)
    }
    addSpan(f, { first, last }, source, [])
  }
  return {
    get: getSpans,
    add: (f, range, source, logs) => {
      for (const part of subtractRanges(range, getSpans(f, range))) {
        const own = logs.filter(isIn(part))
        if (own.length === 0) addEmptySpan(f, part, source)
        else addLogSpans(f, part, source, own)
      }
    },
    remove: removeSpan,
    rollBack: (row, number) => {
      removeSpan(row)
      if (row.value === 0 && row.first <= number && isIntact(row))
        addSpan(row.f, { first: row.first, last: number }, row.source, [])
    },
    removeDamaged: (key, last) => {
      const row = getEndingAt(key, last)
      if (row !== undefined) removeSpan(row)
    },
  }
}
