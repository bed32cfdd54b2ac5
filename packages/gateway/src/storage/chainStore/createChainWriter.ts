import { startOfUtcDay } from '../../lib/utcDay.ts'
import { getHull, intersect, subtractRanges } from './blockRanges.ts'
import type { BlockRange } from './blockRanges.ts'
import { packValue, toEntrySeed } from './chainFile.ts'
import type { ChainFile } from './chainFile.ts'
import { joinLogs, parseLogs } from './chainLogs.ts'
import type { ChainLog } from './chainLogs.ts'
import type { ReadRows } from './createChainReader.ts'
import { createChainUpkeep } from './createChainUpkeep.ts'
import type { ChainUpkeep } from './createChainUpkeep.ts'
import { createEmptyTable } from './createEmptyTable.ts'
import type { EmptyRow } from './createEmptyTable.ts'
import { createSpanTable } from './createSpanTable.ts'
import { createAtomFinder, toAtoms, toAtomText } from './logQuery.ts'
import type { Atom, LogFilter, LogQuery, Topics } from './logQuery.ts'
import { prepareRows } from './prepareRows.ts'

/** The node that an answer is from. */
export interface AnswerSource {
  /** The network, its chain id and epoch. */
  readonly chain: string
  /** The name of the upstream. */
  readonly upstream: string
  /** A hash of its URL, which says whether two answers are from one node: after the config has changed, a name can be that of another one. @default upstream */
  readonly node?: string
}

/** An answer of a node to a query of logs, all of whose blocks it had reported as finalized before. */
export interface LogAnswer extends AnswerSource {
  readonly query: LogQuery
  /** The last block of the answer, if the query to the node went on: its logs after those of `query` are left out. @default query.last */
  readonly answeredTo?: number
  readonly result: Uint8Array
}

/** The result of another read, at a block that the node had reported as finalized before. */
export interface EntryAnswer extends AnswerSource {
  /** What `readEntry` finds it by. */
  readonly text: string
  readonly value: Uint8Array
}

/** Which ranges without logs are confirmed. */
export interface ConfirmOptions {
  /** The most blocks of a query. */
  readonly maxBlocks: number
  /** How long the oldest range must have waited: in that time, more come that the same query can confirm. */
  readonly waitMs: number
  /** How long each range must have waited. */
  readonly ageMs: number
}

/** Ranges without logs, as one node says, that another one should confirm. */
export interface UnconfirmedLogs {
  readonly query: LogQuery
  /** The node that said so. */
  readonly upstream: string
}

/** How a confirmation ended. */
export interface ConfirmedLogs {
  /** How many ranges were confirmed, and how many have logs. */
  readonly confirmed: number
  readonly contradicted: number
}

/** The functions of the thread that writes. */
export interface ChainWriter extends ChainUpkeep {
  /** @returns Whether the answer could be read. */
  readonly addLogs: (answer: LogAnswer) => boolean
  readonly addEntry: (answer: EntryAnswer) => void
  readonly noteRows: (rows: ReadRows) => void
  /** Chooses ranges to confirm: those of the longest wait, and others with the same topics, in one query. */
  readonly pickUnconfirmed: (source: AnswerSource, options: ConfirmOptions) => UnconfirmedLogs | undefined
  readonly confirm: (answer: LogAnswer) => ConfirmedLogs | undefined
}

/** Limits of one query that confirms, which nodes accept. */
const maxConfirmed = { addresses: 100, topics: 20 }

/** Creates the functions that write a file. @param options.now - Milliseconds since 1970. */
export const createChainWriter = (
  file: ChainFile,
  { maxBytes, now = Date.now }: { readonly maxBytes: number; readonly now?: () => number },
): ChainWriter => {
  const { toKey } = file
  const prepare = <Row>(sql: string) => prepareRows<Row>(file.database, sql)
  const insertEntry = prepare(
    'insert into entries(id, source, day, value) values (?, ?, ?, ?) on conflict(id) do nothing',
  )
  const deleteEntry = prepare('delete from entries where id = ?')
  const useEntry = prepare('update entries set day = ? where id = ?')
  const selectSource = prepare<{ id: number }>('select id from sources where chain = ? and node = ? and name = ?')
  const insertSource = prepare<{ id: number }>(
    'insert into sources(chain, node, name) values (?, ?, ?) on conflict(chain, node) do update set name = excluded.name returning id',
  )
  const today = (): number => startOfUtcDay(now())
  const spans = createSpanTable(file, today)
  const empties = createEmptyTable(file, spans, now)
  /** Not cached: another process, or a rollback, may have deleted the row. */
  const toSource = (source: AnswerSource): number => {
    const columns = toColumns(source)
    return (selectSource.get(...columns) ?? insertSource.get(...columns))?.id ?? 0
  }
  const toColumns = ({ chain, upstream, node = upstream }: AnswerSource) => [chain, toKey(node), upstream] as const

  const toAtomKey = (chain: string, atom: Atom): Buffer => toKey(`${chain} ${toAtomText(atom)}`)
  const isIn = ({ first, last }: BlockRange, { block }: ChainLog): boolean => block >= first && block <= last

  const addLogs: ChainWriter['addLogs'] = (answer) => {
    const parts = readAnswer(answer)
    if (parts === undefined) return false
    const source = toSource(answer)
    for (const { atom, logs } of parts) {
      const f = toAtomKey(answer.chain, atom)
      const known = getKnownRanges(logs)
      for (const part of subtractRanges(answer.query, spans.get(f, answer.query))) {
        for (const range of known.flatMap((each) => intersect(each, part) ?? [])) {
          for (const row of empties.get(f, range)) empties.cut(row, range)
          const own = logs.filter((log) => isIn(range, log))
          if (own.length === 0) spans.addEmpty(f, range, source)
          else spans.addLogs(f, range, source, own)
        }
        for (const rest of subtractRanges(part, known)) empties.add(atom, f, rest, source)
      }
    }
    return true
  }

  const confirm: ChainWriter['confirm'] = (answer) => {
    const parts = readAnswer(answer)
    if (parts === undefined) return undefined
    const source = toSource(answer)
    let confirmed = 0
    let contradicted = 0
    for (const { atom, logs } of parts) {
      const f = toAtomKey(answer.chain, atom)
      for (const row of empties.get(f, answer.query)) {
        const part = intersect(row, answer.query)
        if (part === undefined || !empties.mayConfirm(row, source)) continue
        empties.cut(row, part)
        if (logs.some((log) => isIn(part, log))) contradicted += 1
        else {
          spans.addEmpty(f, part, source)
          confirmed += 1
        }
      }
    }
    return { confirmed, contradicted }
  }

  const pickUnconfirmed: ChainWriter['pickUnconfirmed'] = (from, { maxBlocks, waitMs, ageMs }) => {
    const source = selectSource.get(...toColumns(from))?.id
    if (source === undefined) return undefined
    const rows = empties.getOldest(source, ageMs)
    const parsed = rows.map((row) => ({ ...row, topics: JSON.parse(row.topics) as Topics }))
    const [oldest] = parsed
    if (oldest === undefined || now() - oldest.at < waitMs) return undefined
    return toQuery(parsed, oldest, maxBlocks, from.upstream)
  }

  return {
    addLogs,
    addEntry: (answer) => {
      const source = toSource(answer)
      const id = toKey(answer.text)
      insertEntry.run(id, source, today(), packValue(answer.value, toEntrySeed(id, source)))
    },
    noteRows: ({ damaged, used }) => {
      for (const { key, last } of damaged)
        if (last === undefined) deleteEntry.run(key)
        else spans.removeDamaged(key, last)
      for (const { key, last } of used)
        if (last === undefined) useEntry.run(today(), key)
        else spans.use({ key, last })
    },
    pickUnconfirmed,
    confirm,
    ...createChainUpkeep(file, spans, maxBytes),
  }
}

/** A node that lacks blocks finds no logs in them. In more blocks than this without a log, another node has to confirm that there is none. */
const maxGap = 1_000

/** The ranges that an answer proves the node has: from a log to the next ones. Before the first and after the last, it may lack blocks. */
const getKnownRanges = (logs: readonly ChainLog[]): readonly BlockRange[] => {
  const known: BlockRange[] = []
  for (const { block } of logs) {
    const last = known.at(-1)
    if (last !== undefined && block - last.last <= maxGap) known[known.length - 1] = { first: last.first, last: block }
    else known.push({ first: block, last: block })
  }
  return known
}

/** Rows of one group can be confirmed by one query: they differ in the address and the first topic only. */
const toGroup = ({ address, topics }: { readonly address: string; readonly topics: Topics }): string =>
  JSON.stringify([address === '*', topics.length, topics[0] === null, topics.slice(1)])

/** Finds the logs of each atom in an answer; `undefined` if it is not an answer to its query. */
const readAnswer = ({
  query,
  result,
  answeredTo = query.last,
}: LogAnswer): readonly { atom: Atom; logs: readonly ChainLog[] }[] | undefined => {
  const { first, last } = query
  const parsed = parseLogs(Buffer.from(result.buffer, result.byteOffset, result.byteLength).toString('latin1'))
  const logs = parsed && joinLogs(parsed)
  const atoms = toAtoms(query)
  if (logs === undefined || atoms === undefined) return undefined
  const find = createAtomFinder(atoms)
  const byAtom = new Map<Atom, ChainLog[]>(atoms.map((atom) => [atom, []]))
  for (const log of logs) {
    const own = log.block < first || log.block > answeredTo ? undefined : byAtom.get(find(log) as Atom)
    if (own === undefined) return undefined
    if (log.block <= last) own.push(log)
  }
  return [...byAtom].map(([atom, own]) => ({ atom, logs: own }))
}

type ParsedRow = Omit<EmptyRow, 'topics'> & { readonly topics: Topics }

/** Joins ranges of the oldest one's group into one query. */
const toQuery = (
  parsed: readonly ParsedRow[],
  oldest: ParsedRow,
  maxBlocks: number,
  upstream: string,
): UnconfirmedLogs | undefined => {
  const group = parsed.filter((row) => toGroup(row) === toGroup(oldest)).toSorted((a, b) => a.first - b.first)
  const first = group[0]?.first ?? 0
  const addresses = new Set<string>()
  const topics = new Set<string>()
  const ranges: BlockRange[] = []
  for (const row of group) {
    const part = intersect(row, { first, last: first + maxBlocks - 1 })
    const topic = row.topics[0]?.[0]
    const fits =
      (addresses.has(row.address) || addresses.size < maxConfirmed.addresses) &&
      (topic === undefined || topics.has(topic) || topics.size < maxConfirmed.topics)
    if (part === undefined || !fits) continue
    addresses.add(row.address)
    if (topic !== undefined) topics.add(topic)
    ranges.push(part)
  }
  const hull = getHull(ranges)
  const [, ...rest] = oldest.topics
  const filter: LogFilter = {
    addresses: [...addresses].toSorted(),
    topics: topics.size === 0 ? oldest.topics : [[...topics].toSorted(), ...rest],
  }
  return hull && { query: { ...filter, ...hull }, upstream }
}
