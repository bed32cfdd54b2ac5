import { getMeaning } from './getMeaning.ts'
import { intersect, subtractRanges } from './blockRanges.ts'
import type { BlockRange } from './blockRanges.ts'
import { toRowCrc } from './chainFile.ts'
import type { ChainRows, UnconfirmedRow } from './chainRows.ts'
import { isIn } from './chainLogs.ts'
import type { PlacedLog } from './chainLogs.ts'
import { cutLogs } from './createLogTable.ts'
import type { LogTable } from './createLogTable.ts'
import type { Answerer } from './toAnswerer.ts'
import type { SpanTable } from './createSpanTable.ts'
import type { Atom } from './logQuery.ts'

/** What an answer was to ranges that were not confirmed. */
export interface Confirmation {
  readonly confirmed: number
  readonly contradicted: number
  /** The source of the first that it contradicts. */
  readonly wrongSource?: number | undefined
}

/** The table of ranges that are not confirmed. None of them is served. */
export interface UnconfirmedTable {
  /** Reads the rows with blocks of a range, and removes damaged ones. */
  readonly get: (f: Buffer, range: BlockRange) => readonly UnconfirmedRow[]
  /** Removes a part of a row. */
  readonly cut: (row: UnconfirmedRow, part: BlockRange) => void
  /**
   * Compares what an answer has of a range with the rows that it may confirm. Where they mean the same, the range becomes a span; where they differ, it is
   * removed.
   * @param logs - Those of the answer in the range.
   */
  readonly confirm: (f: Buffer, range: BlockRange, answerer: Answerer, logs: readonly PlacedLog[]) => Confirmation
  /** Adds what an answer has of a range of an atom with the key `f`, besides what it confirms or contradicts. */
  readonly add: (
    atom: Atom & { readonly f: Buffer },
    range: BlockRange,
    answerer: Answerer,
    logs: readonly PlacedLog[],
  ) => Confirmation
  /** Removes the damaged ones of rows. @returns The others. */
  readonly filterIntact: (found: readonly UnconfirmedRow[]) => readonly UnconfirmedRow[]
}

const toCrc = ({ f, first, last, value, source, at, address, topics }: Omit<UnconfirmedRow, 'crc'>): number =>
  toRowCrc(f, first, last, value, source, at, address, topics)

const isIntactRow = (row: UnconfirmedRow): boolean => row.first <= row.last && row.crc === toCrc(row)

const isSameLogs = (one: readonly PlacedLog[], other: readonly PlacedLog[]): boolean => {
  if (one.length !== other.length) return false
  const read = (logs: readonly PlacedLog[]): string | undefined =>
    getMeaning(`[${logs.map(({ text }) => text).join()}]`, 'eth_getLogs')
  const meaning = one.length === 0 ? '' : read(one)
  return meaning !== undefined && (one.length === 0 || meaning === read(other))
}

/** Opens the table. @param parts.now - Milliseconds since 1970. */
export const createUnconfirmedTable = (
  { unconfirmed }: Pick<ChainRows, 'unconfirmed'>,
  { spans, logTable, now }: { readonly spans: SpanTable; readonly logTable: LogTable; readonly now: () => number },
): UnconfirmedTable => {
  const remove = (row: UnconfirmedRow): void => {
    unconfirmed.delete(row.f, row.last)
    // A damaged row may name the logs of another one.
    if (isIntactRow(row)) logTable.remove(row)
  }
  const filterIntact: UnconfirmedTable['filterIntact'] = (found) =>
    found.filter((row) => {
      const isGood = isIntactRow(row)
      if (!isGood) remove(row)
      return isGood
    })
  const getRows = (f: Uint8Array, range: BlockRange): readonly UnconfirmedRow[] =>
    filterIntact(unconfirmed.select(f, range)).filter((row) => row.first <= range.last)
  const insert = (row: Omit<UnconfirmedRow, 'crc' | 'value'>, logs: readonly PlacedLog[]): void => {
    const whole = { ...row, value: logTable.add(row, logs) }
    unconfirmed.insert({ ...whole, crc: toCrc(whole) })
  }
  const cut = (row: UnconfirmedRow, part: BlockRange): void => {
    const logs = isIntactRow(row) ? logTable.get(row) : undefined
    remove(row)
    if (logs !== undefined)
      for (const left of subtractRanges(row, [part])) insert({ ...row, ...left }, logs.filter(isIn(left)))
  }
  const confirm: UnconfirmedTable['confirm'] = (f, range, { source, mayConfirm }, logs) => {
    let confirmed = 0
    let contradicted = 0
    let wrongSource: number | undefined
    for (const row of getRows(f, range)) {
      const part = intersect(row, range)
      if (part === undefined || !mayConfirm(row)) continue
      const before = logTable.get(row)?.filter(isIn(part))
      cut(row, part)
      const own = logs.filter(isIn(part))
      if (before === undefined) continue
      if (isSameLogs(before, own)) {
        confirmed += 1
        spans.add(f, part, source, own)
      } else {
        contradicted += 1
        wrongSource ??= row.source
      }
    }
    return { confirmed, contradicted, wrongSource }
  }
  const addEmpty = (row: Omit<UnconfirmedRow, 'crc' | 'value'>): void => {
    const { f, source } = row
    let { first, last } = row
    // They are adjacent: what overlaps is known.
    for (const next of getRows(f, { first: Math.max(0, first - 1), last: last + 1 })) {
      if (next.source !== source || next.value !== 0) continue
      remove(next)
      first = Math.min(first, next.first)
      last = Math.max(last, next.last)
    }
    insert({ ...row, first, last }, [])
  }
  return {
    get: getRows,
    cut,
    confirm,
    add: ({ f, address, topics: allowed }, range, answerer, logs) => {
      const known = getRows(f, range)
      const confirmation = confirm(f, range, answerer, logs)
      const { source } = answerer
      for (const part of subtractRanges(range, [...spans.get(f, range), ...known])) {
        const own = logs.filter(isIn(part))
        const row = { f, source, at: now(), address, topics: JSON.stringify(allowed) }
        if (own.length === 0) addEmpty({ ...row, ...part })
        else for (const cutPart of cutLogs(part, own)) insert({ ...row, ...cutPart.range }, cutPart.logs)
      }
      return confirmation
    },
    filterIntact,
  }
}
