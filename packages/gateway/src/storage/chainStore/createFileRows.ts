import type { BlockRange } from './blockRanges.ts'
import type { ChainFile, EntryRow, SpanRow } from './chainFile.ts'
import type { ChainRows, UnconfirmedRow } from './chainRows.ts'
import type { FoundSpan, ReaderRows, RowName } from './createChainReader.ts'
import { createReadLogs } from './createLogTable.ts'
import type { AnswerSource } from './answerSource.ts'
import { prepareRows } from './prepareRows.ts'

/** The rows of a file, and what only a file can search for. */
export interface FileRows extends ChainRows {
  /** Gets the id of a source; `undefined` if nothing of it is stored. */
  readonly findSource: (source: AnswerSource) => number | undefined
  /** Gets the oldest rows of a source that were added in this time, in milliseconds since 1970. */
  readonly selectOldest: (
    source: number,
    times: { readonly after: number; readonly until: number },
  ) => readonly UnconfirmedRow[]
  /** Gets entries of a source whose calls another node has to confirm, with higher numbers than this. */
  readonly selectCalls: (source: number, after: number, count: number) => readonly CallRow[]
  /** Sets the day on which a row was used. */
  readonly use: (row: RowName, day: number) => void
}

/** An entry whose call another node has to confirm. */
interface CallRow {
  readonly number: number
  readonly id: Uint8Array
  readonly block: number
  readonly call: string
}

/** The columns of a row. */
export const spanColumns = 'f, last, first, value, source, day, crc'
/** The columns of a row. */
export const unconfirmedColumns = 'f, last, first, value, source, at, address, topics, crc'
/** Most ranges that are looked at to choose those that one query confirms: it has up to 100 addresses. */
const maxCandidates = 2_000

const selectRange = (table: string, columns: string): string =>
  `select ${columns} from ${table} where f = ?1 and last >= ?2 and last < ?3
  union all
  select * from (select ${columns} from ${table} where f = ?1 and last >= ?3 order by last limit 1)`

/** One statement for all keys: each one alone would take several times as long. */
const selectSpans = `
  select j.key as at, f, last, first, s.value, source, day, crc
  from json_each(?1) j cross join spans s on f = unhex(j.value) and last >= ?2 and last < ?3
  union all
  select j.key as at, f, last, first, s.value, source, day, crc
  from json_each(?1) j cross join spans s
    on f = unhex(j.value) and last = (select min(last) from spans where f = unhex(j.value) and last >= ?3)`

const createSourceRows = ({
  database,
  toKey,
}: ChainFile): ChainRows['sources'] & { readonly find: FileRows['findSource'] } => {
  const prepare = <Row>(sql: string) => prepareRows<Row>(database, sql)
  const selectSource = prepare<{ id: number }>('select id from sources where chain = ? and node = ? and name = ?')
  const selectSame = prepare<{ id: number }>(
    'select id from sources where chain = ? and node = ? and name = ? and independent = ?',
  )
  const selectName = prepare<{ name: string }>('select name from sources where id = ?')
  const selectOther = prepare('select 1 from sources where id = ? and independent <> ?')
  const insertSource = prepare<{ id: number }>(
    `insert into sources(chain, node, name, independent) values (?, ?, ?, ?)
    on conflict(chain, node) do update set name = excluded.name, independent = excluded.independent returning id`,
  )
  const selectVersion = prepare("select 1 from chains where chain || ' ' || epoch = ? and revision = ?")
  const toColumns = ({ chain, upstream, node = upstream }: AnswerSource) => [chain, toKey(node), upstream] as const
  return {
    find: (source) => selectSource.get(...toColumns(source))?.id,
    add: (source) => {
      // Not cached: another process, or a rollback, may have deleted the row.
      const columns = [...toColumns(source), toKey(source.group ?? '')] as const
      return (selectSame.get(...columns) ?? insertSource.get(...columns))?.id ?? 0
    },
    getName: (id) => selectName.get(id)?.name ?? '',
    isOfOtherGroup: (id, group) => selectOther.get(id, toKey(group)) !== undefined,
    isOutdated: ({ chain, revision }) => revision !== undefined && selectVersion.get(chain, revision) === undefined,
  }
}

/** Opens the rows of a file for its writer. */
export const createFileRows = (file: ChainFile): FileRows => {
  const prepare = <Row>(sql: string) => prepareRows<Row>(file.database, sql)
  const spans = prepare<SpanRow>(selectRange('spans', spanColumns))
  // Only a damaged row can have the same key.
  const insertSpan = prepare(`insert or replace into spans(${spanColumns}) values (?, ?, ?, ?, ?, ?, ?)`)
  const deleteSpan = prepare('delete from spans where f = ? and last = ?')
  const useSpan = prepare('update spans set day = ? where f = ? and last = ?')
  const unconfirmed = prepare<UnconfirmedRow>(selectRange('unconfirmed', unconfirmedColumns))
  const oldest = prepare<UnconfirmedRow>(
    `select ${unconfirmedColumns} from unconfirmed where source = ? and at > ? and at <= ? order by at limit ${maxCandidates}`,
  )
  const insertUnconfirmed = prepare(
    `insert or replace into unconfirmed(${unconfirmedColumns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const deleteUnconfirmed = prepare('delete from unconfirmed where f = ? and last = ?')
  const selectValue = prepare<{ value: Uint8Array }>('select value from logs where id = ?')
  const insertValue = prepare<{ id: number }>('insert into logs(value) values (?) returning id')
  const deleteValue = prepare('delete from logs where id = ?')
  const insertEntry = prepare(
    'insert or replace into entries(id, source, block, unconfirmed, day, value, call) values (?, ?, ?, ?, ?, ?, ?)',
  )
  const selectEntry = prepare<EntryRow>('select * from entries where id = ?')
  const deleteEntry = prepare('delete from entries where id = ?')
  const selectCalls = prepare<CallRow>(
    'select number, id, block, call from entries where source = ? and call is not null and number > ? order by number limit ?',
  )
  const useEntry = prepare('update entries set day = ? where id = ?')
  const { find, ...sources } = createSourceRows(file)
  return {
    toKey: file.toKey,
    spans: {
      select: (f, { first, last }) => spans.all(f, first, last),
      insert: ({ f, last, first, value, source, day, crc }) =>
        void insertSpan.run(f, last, first, value, source, day, crc),
      delete: (f, last) => void deleteSpan.run(f, last),
    },
    unconfirmed: {
      select: (f, { first, last }) => unconfirmed.all(f, first, last),
      insert: ({ f, last, first, value, source, at, address, topics, crc }) =>
        void insertUnconfirmed.run(f, last, first, value, source, at, address, topics, crc),
      delete: (f, last) => void deleteUnconfirmed.run(f, last),
    },
    values: {
      get: (_, id) => selectValue.get(id)?.value,
      insert: (_, value) => insertValue.get(value)?.id ?? 0,
      delete: (_, id) => void deleteValue.run(id),
    },
    entries: {
      get: (id) => selectEntry.get(id),
      insert: (id, { source, block, unconfirmed: at, day, value }, call) =>
        void insertEntry.run(id, source, block, at, day, value, call === undefined ? null : JSON.stringify(call)),
      delete: (id) => void deleteEntry.run(id),
    },
    sources,
    findSource: find,
    selectOldest: (source, { after, until }) => oldest.all(source, after, until),
    selectCalls: (source, after, count) => selectCalls.all(source, after, count),
    use: ({ key, last }, day) => void (last === undefined ? useEntry.run(day, key) : useSpan.run(day, key, last)),
  }
}

/** Opens the rows of a file for its reader. */
export const createFileReaderRows = (file: ChainFile): ReaderRows => {
  const prepare = <Row>(sql: string) => prepareRows<Row>(file.database, sql)
  const spans = prepare<FoundSpan>(selectSpans)
  const selectValue = prepare<{ value: Uint8Array }>('select value from logs where id = ?')
  const selectEntry = prepare<EntryRow>('select * from entries where id = ?')
  return {
    toKey: file.toKey,
    selectSpans: (keys: readonly Buffer[], { first, last }: BlockRange) =>
      spans.all(JSON.stringify(keys.map((key) => key.toString('hex'))), first, last),
    getLogs: createReadLogs({ get: (_, id) => selectValue.get(id)?.value }),
    getEntry: (id) => selectEntry.get(id),
  }
}
