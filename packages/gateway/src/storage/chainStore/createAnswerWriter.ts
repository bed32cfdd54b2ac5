import { startOfUtcDay } from '../../lib/utcDay.ts'
import { intersect, subtractRanges } from './blockRanges.ts'
import type { BlockRange } from './blockRanges.ts'
import type { SpanRow } from './chainFile.ts'
import { isIn, joinLogs, parseLogs } from './chainLogs.ts'
import type { ChainLog } from './chainLogs.ts'
import type { ChainRows } from './chainRows.ts'
import { createEntryTable } from './createEntryTable.ts'
import type { EntryAnswer } from './createEntryTable.ts'
import { createLogTable } from './createLogTable.ts'
import { toAnswerer } from './toAnswerer.ts'
import type { AnswerSource } from './answerSource.ts'
import { createSpanTable } from './createSpanTable.ts'
import type { SpanTable } from './createSpanTable.ts'
import { createUnconfirmedTable } from './createUnconfirmedTable.ts'
import type { UnconfirmedTable } from './createUnconfirmedTable.ts'
import { createAtomFinder, toAtoms, toAtomText } from './logQuery.ts'
import type { Atom, LogQuery } from './logQuery.ts'

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

/** How a confirmation ended. */
export interface ConfirmedLogs {
  /** How many ranges were confirmed, and how many have other logs. */
  readonly confirmed: number
  readonly contradicted: number
}

/** Decides what is stored of the answers of nodes. */
export interface AnswerWriter {
  readonly addLogs: (answer: LogAnswer) => StoredAnswer
  readonly addEntry: (answer: EntryAnswer) => StoredAnswer
  /** @returns `undefined` if the answer is outdated, or none to its query. */
  readonly confirm: (answer: LogAnswer) => ConfirmedLogs | undefined
  readonly spans: SpanTable
  readonly unconfirmed: UnconfirmedTable
}

/** Gets the text that an atom of a chain is stored by. */
export const toAtomKeyText = (chain: string, atom: Atom): string => `${chain} ${toAtomText(atom)}`

/** Creates the functions that store answers as rows. @param options.now - Milliseconds since 1970. */
export const createAnswerWriter = (
  rows: ChainRows,
  { now = Date.now }: { readonly now?: () => number },
): AnswerWriter => {
  const { toKey, sources } = rows
  const today = (): number => startOfUtcDay(now())
  const logTable = createLogTable(rows.values)
  const spans = createSpanTable(rows, { logTable, today })
  const unconfirmed = createUnconfirmedTable(rows, { spans, logTable, now })
  const entries = createEntryTable(rows, { now, today })

  /** Removes ranges that were confirmed to have no logs, and in which an answer has some. */
  const removeWrongEmpties = (f: Buffer, query: LogQuery, logs: readonly ChainLog[]): readonly SpanRow[] => {
    const wrong = spans.get(f, query).filter((row) => row.value === 0 && logs.some(isIn(row)))
    for (const row of wrong) spans.remove(row)
    return wrong
  }

  const addLogs: AnswerWriter['addLogs'] = (answer) => {
    if (sources.isOutdated(answer)) return 'outdated'
    const parts = readAnswer(answer)
    if (parts === undefined) return 'invalid'
    const answerer = toAnswerer(sources, answer, now)
    let wrongSource: number | undefined
    for (const { atom, logs } of parts) {
      const f = toKey(toAtomKeyText(answer.chain, atom))
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

  const confirm: AnswerWriter['confirm'] = (answer) => {
    const parts = sources.isOutdated(answer) ? undefined : readAnswer(answer)
    if (parts === undefined) return undefined
    const answerer = toAnswerer(sources, answer, now)
    let confirmed = 0
    let contradicted = 0
    for (const { atom, logs } of parts) {
      const f = toKey(toAtomKeyText(answer.chain, atom))
      contradicted += removeWrongEmpties(f, answer.query, logs).length
      const ended = unconfirmed.confirm(f, answer.query, answerer, logs)
      confirmed += ended.confirmed
      contradicted += ended.contradicted
    }
    return { confirmed, contradicted }
  }

  return {
    addLogs,
    addEntry: (answer) => {
      if (sources.isOutdated(answer)) return 'outdated'
      const wrongSource = entries.add(toAnswerer(sources, answer, now), answer)
      return wrongSource === undefined ? 'stored' : { contradicted: sources.getName(wrongSource) }
    },
    confirm,
    spans,
    unconfirmed,
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
