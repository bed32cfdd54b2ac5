import { startOfUtcDay } from '../../lib/utcDay.ts'
import { getHull, intersect, subtractRanges } from './blockRanges.ts'
import type { BlockRange } from './blockRanges.ts'
import type { ChainFile, SpanRow } from './chainFile.ts'
import { isIn, joinLogs, parseLogs } from './chainLogs.ts'
import type { ChainLog } from './chainLogs.ts'
import type { ReadRows } from './createChainReader.ts'
import { createChainUpkeep } from './createChainUpkeep.ts'
import type { ChainUpkeep } from './createChainUpkeep.ts'
import { createEntryTable } from './createEntryTable.ts'
import type { EntryAnswer, UnconfirmedEntry } from './createEntryTable.ts'
import { createLogTable } from './createLogTable.ts'
import { createSourceTable } from './createSourceTable.ts'
import type { AnswerSource } from './createSourceTable.ts'
import { createSpanTable } from './createSpanTable.ts'
import { createUnconfirmedTable } from './createUnconfirmedTable.ts'
import type { OldestOptions, UnconfirmedRow } from './createUnconfirmedTable.ts'
import { createAtomFinder, toAtoms, toAtomText } from './logQuery.ts'
import type { Atom, LogFilter, LogQuery, Topics } from './logQuery.ts'

export type { AnswerSource, EntryAnswer }

/** An answer of a node to a query of logs, all of whose blocks it had reported as finalized before. */
export interface LogAnswer extends AnswerSource {
  readonly query: LogQuery
  /** The last block of the answer, if the query to the node went on: its logs after those of `query` are left out. @default query.last */
  readonly answeredTo?: number
  readonly result: Uint8Array
}

/**
 * How an answer was stored. `outdated`: blocks of its chain were replaced after it was read. `invalid`: it is no answer to its query. `contradicted`: the
 * name of a node whose answer was another one. That answer was deleted.
 */
export type StoredAnswer = 'stored' | 'outdated' | 'invalid' | { readonly contradicted: string }

/** Which ranges are confirmed. */
export interface ConfirmOptions extends OldestOptions {
  /** The most blocks of a query. */
  readonly maxBlocks: number
  /** How long the oldest range must have waited: in that time, more come that the same query can confirm. */
  readonly waitMs: number
}

/** Ranges of one node that another one should confirm. */
export interface UnconfirmedLogs {
  readonly query: LogQuery
  /** The node that said so. */
  readonly upstream: string
  /** When the oldest of them was added, in milliseconds since 1970. */
  readonly at: number
}

/** How a confirmation ended. */
export interface ConfirmedLogs {
  /** How many ranges were confirmed, and how many have other logs. */
  readonly confirmed: number
  readonly contradicted: number
}

/** The functions of the thread that writes. */
export interface ChainWriter extends ChainUpkeep {
  readonly addLogs: (answer: LogAnswer) => StoredAnswer
  readonly addEntry: (answer: EntryAnswer) => StoredAnswer
  readonly noteRows: (rows: ReadRows) => void
  /** Chooses ranges to confirm: those of the longest wait, and others with the same topics, in one query. */
  readonly pickUnconfirmed: (source: AnswerSource, options: ConfirmOptions) => UnconfirmedLogs | undefined
  readonly confirm: (answer: LogAnswer) => ConfirmedLogs | undefined
  /** Chooses results of a node that another one should confirm: in their order, after the one with this number. */
  readonly pickEntries: (
    source: AnswerSource,
    options: { readonly after: number; readonly count: number },
  ) => readonly UnconfirmedEntry[]
}

/** Limits of one query that confirms, which nodes accept. */
const maxConfirmed = { addresses: 100, topics: 20 }

/** Creates the functions that write a file. @param options.now - Milliseconds since 1970. */
export const createChainWriter = (
  file: ChainFile,
  { maxBytes, now = Date.now }: { readonly maxBytes: number; readonly now?: () => number },
): ChainWriter => {
  const { toKey } = file
  const sources = createSourceTable(file, now)
  const today = (): number => startOfUtcDay(now())
  const logTable = createLogTable(file)
  const spans = createSpanTable(file, { logTable, today })
  const unconfirmed = createUnconfirmedTable(file, { spans, logTable, now })
  const entries = createEntryTable(file, { now, today })
  const toAtomKey = (chain: string, atom: Atom): Buffer => toKey(`${chain} ${toAtomText(atom)}`)

  /** Removes ranges that were confirmed to have no logs, and in which an answer has some. */
  const removeWrongEmpties = (f: Buffer, query: LogQuery, logs: readonly ChainLog[]): readonly SpanRow[] => {
    const wrong = spans.get(f, query).filter((row) => row.value === 0 && logs.some(isIn(row)))
    for (const row of wrong) spans.remove(row)
    return wrong
  }

  const addLogs: ChainWriter['addLogs'] = (answer) => {
    if (sources.isOutdated(answer)) return 'outdated'
    const parts = readAnswer(answer)
    if (parts === undefined) return 'invalid'
    const answerer = sources.add(answer)
    let wrongSource: number | undefined
    for (const { atom, logs } of parts) {
      const f = toAtomKey(answer.chain, atom)
      // With `cache.confirm`, an answer proves nothing.
      const known = answer.group === undefined ? getKnownRanges(logs) : []
      wrongSource ??= removeWrongEmpties(f, answer.query, logs)[0]?.source
      for (const part of subtractRanges(answer.query, spans.get(f, answer.query))) {
        for (const range of known.flatMap((each) => intersect(each, part) ?? [])) {
          for (const row of unconfirmed.get(f, range)) unconfirmed.cut(row, range)
          spans.add(f, range, answerer.source, logs)
        }
        for (const rest of subtractRanges(part, known)) {
          const ended = unconfirmed.add({ ...atom, f }, rest, answerer, logs)
          wrongSource ??= ended.wrongSource
        }
      }
    }
    return wrongSource === undefined ? 'stored' : { contradicted: sources.getName(wrongSource) }
  }

  const confirm: ChainWriter['confirm'] = (answer) => {
    const parts = sources.isOutdated(answer) ? undefined : readAnswer(answer)
    if (parts === undefined) return undefined
    const answerer = sources.add(answer)
    let confirmed = 0
    let contradicted = 0
    for (const { atom, logs } of parts) {
      const f = toAtomKey(answer.chain, atom)
      contradicted += removeWrongEmpties(f, answer.query, logs).length
      const ended = unconfirmed.confirm(f, answer.query, answerer, logs)
      confirmed += ended.confirmed
      contradicted += ended.contradicted
    }
    return { confirmed, contradicted }
  }

  const pickUnconfirmed: ChainWriter['pickUnconfirmed'] = (from, { maxBlocks, waitMs, ...options }) => {
    const source = sources.find(from)
    if (source === undefined) return undefined
    const rows = unconfirmed.getOldest(source, options)
    const parsed = rows.map((row) => ({ ...row, topics: JSON.parse(row.topics) as Topics }))
    const [oldest] = parsed
    if (oldest === undefined || now() - oldest.at < waitMs) return undefined
    return toQuery(parsed, oldest, maxBlocks, from.upstream)
  }

  return {
    addLogs,
    addEntry: (answer) => {
      if (sources.isOutdated(answer)) return 'outdated'
      const wrongSource = entries.add(sources.add(answer), answer)
      return wrongSource === undefined ? 'stored' : { contradicted: sources.getName(wrongSource) }
    },
    noteRows: ({ damaged, used }) => {
      for (const { key, last } of damaged)
        if (last === undefined) entries.remove(key)
        else spans.removeDamaged(key, last)
      for (const { key, last } of used)
        if (last === undefined) entries.use(key)
        else spans.use({ key, last })
    },
    pickUnconfirmed,
    confirm,
    pickEntries: (from, options) => {
      const source = sources.find(from)
      return source === undefined ? [] : entries.getUnconfirmed(source, { ...options, chain: from.chain })
    },
    ...createChainUpkeep(file, { spans, unconfirmed }, maxBytes),
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

type ParsedRow = Omit<UnconfirmedRow, 'topics'> & { readonly topics: Topics }

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
  return hull && { query: { ...filter, ...hull }, upstream, at: oldest.at }
}
