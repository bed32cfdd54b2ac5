import { intersect, subtractRanges } from './blockRanges.ts'
import type { BlockRange } from './blockRanges.ts'
import { toRowCrc } from './chainFile.ts'
import type { ChainFile, SpanRow } from './chainFile.ts'
import type { SpanTable } from './createSpanTable.ts'
import type { Atom } from './logQuery.ts'
import { prepareRows } from './prepareRows.ts'

/** A range in which one node has found no logs. */
export interface EmptyRow extends Omit<SpanRow, 'value' | 'day'> {
  readonly at: number
  readonly address: string
  readonly topics: string
}

/** The table of ranges without logs that are not confirmed. */
export interface EmptyTable {
  /** Reads the rows with blocks of a range, and removes damaged ones. */
  readonly get: (f: Buffer, range: BlockRange) => readonly EmptyRow[]
  /** Removes a part of a row. */
  readonly cut: (row: EmptyRow, part: BlockRange) => void
  /** Adds a range in which a node has found no logs. Where another node had found none before, that confirms it. */
  readonly add: (atom: Atom, f: Buffer, range: BlockRange, source: number) => void
  /** The oldest rows of a node, of at least this age in milliseconds. */
  readonly getOldest: (source: number, ageMs: number) => readonly EmptyRow[]
}

/** A node may say that a range is empty while it still indexes. After this long, its own second answer confirms it. */
export const confirmAfterMs = 10 * 60_000
/** Whether the answer of a node now confirms that of `row.at`. */
export const mayConfirm = (row: Pick<EmptyRow, 'source' | 'at'>, source: number, now: number): boolean =>
  row.source !== source || now - row.at >= confirmAfterMs
/** The columns of a row. */
export const emptyColumns = 'f, last, first, source, at, address, topics, crc'
/** Most ranges that are looked at to choose those that one query confirms. */
const maxCandidates = 20_000

const isIntactEmpty = ({ f, first, last, source, at, address, topics, crc }: EmptyRow): boolean =>
  first <= last && crc === toRowCrc(f, first, last, source, at, address, topics)

/** Opens the table. @param now - Milliseconds since 1970. */
export const createEmptyTable = (file: ChainFile, spans: SpanTable, now: () => number): EmptyTable => {
  const prepare = <Row>(sql: string) => prepareRows<Row>(file.database, sql)
  const selectEmpties = prepare<EmptyRow>(
    `select ${emptyColumns} from empties where f = ?1 and last >= ?2 and last < ?3
    union all
    select * from (select ${emptyColumns} from empties where f = ?1 and last >= ?3 order by last limit 1)`,
  )
  const oldEmpties = prepare<EmptyRow>(
    `select ${emptyColumns} from empties where source = ? and at <= ? order by at limit ${maxCandidates}`,
  )
  const insertEmpty = prepare(`insert or replace into empties(${emptyColumns}) values (?, ?, ?, ?, ?, ?, ?, ?)`)
  const deleteEmpty = prepare('delete from empties where f = ? and last = ?')
  const getEmpties = (f: Uint8Array, { first, last }: BlockRange): readonly EmptyRow[] => {
    const rows: EmptyRow[] = []
    for (const row of selectEmpties.all(f, first, last)) {
      if (!isIntactEmpty(row)) deleteEmpty.run(row.f, row.last)
      else if (row.first <= last) rows.push(row)
    }
    return rows
  }
  const addEmptyRow = (row: Omit<EmptyRow, 'crc'>): void => {
    const { f, first, last, source, at, address, topics } = row
    const crc = toRowCrc(f, first, last, source, at, address, topics)
    insertEmpty.run(f, last, first, source, at, address, topics, crc)
  }
  /** Removes a part of a row. */
  const cutEmptyRow = (row: EmptyRow, part: BlockRange): void => {
    deleteEmpty.run(row.f, row.last)
    if (isIntactEmpty(row)) for (const left of subtractRanges(row, [part])) addEmptyRow({ ...row, ...left })
  }
  /** Adds a range in which a node has found no logs. Where another node had found none before, that confirms it. */
  const addUnconfirmed = (atom: Atom, f: Buffer, range: BlockRange, source: number): void => {
    const known = getEmpties(f, range)
    for (const row of known) {
      const part = intersect(row, range)
      if (part === undefined || !mayConfirm(row, source, now())) continue
      cutEmptyRow(row, part)
      spans.addEmpty(f, part, source)
    }
    for (const part of subtractRanges(range, [...spans.get(f, range), ...known])) {
      let { first, last } = part
      // They are adjacent: what overlaps is known.
      for (const row of getEmpties(f, { first: Math.max(0, first - 1), last: last + 1 })) {
        if (row.source !== source) continue
        deleteEmpty.run(row.f, row.last)
        first = Math.min(first, row.first)
        last = Math.max(last, row.last)
      }
      const { address, topics } = atom
      addEmptyRow({ f, first, last, source, at: now(), address, topics: JSON.stringify(topics) })
    }
  }
  return {
    get: getEmpties,
    cut: cutEmptyRow,
    add: addUnconfirmed,
    getOldest: (source, ageMs) =>
      oldEmpties.all(source, now() - ageMs).filter((row) => {
        if (!isIntactEmpty(row)) deleteEmpty.run(row.f, row.last)
        return isIntactEmpty(row)
      }),
  }
}
