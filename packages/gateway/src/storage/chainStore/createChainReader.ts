import { startOfUtcDay } from '../../lib/utcDay.ts'
import { getHull, intersect, subtractRanges } from './blockRanges.ts'
import type { BlockRange } from './blockRanges.ts'
import { isIntact, toEntrySeed, unpackValue } from './chainFile.ts'
import type { EntryRow, SpanRow } from './chainFile.ts'
import { joinLogs, parseLog, parseLogs, sortLogs, writeLogs } from './chainLogs.ts'
import type { ChainLog, PlacedLog } from './chainLogs.ts'
import { anyAddress, getSources, matchesAtom, toAtoms, toAtomText } from './logQuery.ts'
import type { Atom, LogQuery } from './logQuery.ts'

/** What a file has of a query. */
export interface StoredLogs {
  /** A result of `eth_getLogs` with the logs that are stored. */
  readonly value: Uint8Array
  /** What to ask a node for; `undefined` if everything is stored. */
  readonly missing: (BlockRange & { readonly addresses: readonly string[] }) | undefined
}

/** A row of `spans` or `entries`. */
export interface RowName {
  readonly key: Uint8Array
  /** The last block of a span; `undefined` for an entry. */
  readonly last?: number
}

/** What reading showed about the rows of a file. */
export interface ReadRows {
  readonly damaged: readonly RowName[]
  /** Those that were not used before on this day. */
  readonly used: readonly RowName[]
}

/** The functions of the thread that reads. */
export interface ChainReader {
  /** @returns `undefined` if it has too many parts or too many bytes. */
  readonly readLogs: (chain: string, query: LogQuery, maxBytes: number) => StoredLogs | undefined
  /** Gets an entry by its text, if it needs no confirmation. */
  readonly readEntry: (text: string) => Uint8Array | undefined
  /** Joins results of `eth_getLogs`, or what they have of the blocks and addresses of a query. @returns `different` if they cannot be of one chain, and `undefined` if one has anything but logs. */
  readonly joinResults: (results: readonly Uint8Array[], of?: LogQuery) => Uint8Array | 'different' | undefined
  /** Takes what reading showed since the last time. */
  readonly takeRows: () => ReadRows
}

/** A row, and the place of its key among those that were looked for. */
export interface FoundSpan extends SpanRow {
  readonly at: number
}

/** What stores the rows that a reader reads: a file, or what was loaded from Redis. */
export interface ReaderRows {
  readonly toKey: (text: string) => Buffer
  /** Reads the rows with blocks of a range, and one more of each key at most. */
  readonly selectSpans: (keys: readonly Buffer[], range: BlockRange) => readonly FoundSpan[]
  /** Reads the logs of a row; `undefined` if they are damaged or missing. */
  readonly getLogs: (row: SpanRow) => readonly PlacedLog[] | undefined
  readonly getEntry: (id: Buffer) => EntryRow | undefined
}

/** @see {@link ChainReader.joinResults} */
export const joinResults: ChainReader['joinResults'] = (results, of) => {
  const logs: ChainLog[] = []
  const addresses = of === undefined || of.addresses[0] === anyAddress ? undefined : new Set(of.addresses)
  const isWanted = ({ block, address }: ChainLog): boolean =>
    of === undefined || (block >= of.first && block <= of.last && addresses?.has(address) !== false)
  for (const result of results) {
    const parsed = parseLogs(Buffer.from(result.buffer, result.byteOffset, result.byteLength).toString('latin1'))
    if (parsed === undefined) return undefined
    for (const log of parsed) if (isWanted(log)) logs.push(log)
  }
  const joined = joinLogs(logs)
  return joined === undefined ? 'different' : writeLogs(joined)
}

/** An atom while it is read. */
interface ReadAtom {
  readonly atom: Atom
  /** The atoms that have its logs, itself first. */
  readonly sources: readonly Atom[]
  /** The ranges that are not read. */
  gaps: readonly BlockRange[]
}

const isOf = (atom: Atom, { text }: PlacedLog): boolean => {
  const lowered = text.toLowerCase()
  // Most logs of a busy address are left out, and looking for a topic takes a tenth of the time.
  if (atom.topics.some((allowed) => allowed?.some((topic) => lowered.includes(topic)) === false)) return false
  const log = parseLog(text, 0)
  return log !== undefined && matchesAtom(atom, log)
}

/** Most bytes that one query reads of logs that may be of other addresses or topics: to find few among many would keep the other reads waiting. */
const maxScannedBytes = 64 * 1024 * 1024

/**
 * Creates the functions that read rows.
 * @param options.now - Milliseconds since 1970.
 * @param options.maxScanned - Most bytes that one query reads of logs that may not be its own. @default 67_108_864
 */
export const createChainReader = (
  rows: ReaderRows,
  {
    now = Date.now,
    maxScanned = maxScannedBytes,
  }: { readonly now?: (() => number) | undefined; readonly maxScanned?: number | undefined } = {},
): ChainReader => {
  let damaged: RowName[] = []
  let used: RowName[] = []
  /** By the query that is being read. */
  let scanned = 0

  /** Uses a row for an atom, unless it is damaged: adds its logs, and removes its blocks from those that are missing. */
  const useRow = (row: SpanRow, read: ReadAtom, isOwn: boolean, add: (log: PlacedLog) => void): void => {
    const parts = isIntact(row) ? read.gaps.flatMap((gap) => intersect(gap, row) ?? []) : undefined
    if (parts?.length === 0) return
    const logs = parts === undefined ? undefined : rows.getLogs(row)
    if (parts === undefined || logs === undefined) {
      damaged.push({ key: row.f, last: row.last })
      return
    }
    if (!isOwn) for (const { text } of logs) scanned += text.length
    if (row.day < startOfUtcDay(now())) used.push({ key: row.f, last: row.last })
    const isInParts = ({ block }: PlacedLog): boolean =>
      parts.some(({ first, last }) => block >= first && block <= last)
    // All logs of its own rows belong to an atom.
    for (const log of logs) if (isInParts(log) && (isOwn || isOf(read.atom, log))) add(log)
    read.gaps = read.gaps.flatMap((gap) => subtractRanges(gap, [row]))
  }

  return {
    readLogs: (chain, query, maxBytes) => {
      const atoms = toAtoms(query)?.map((atom): ReadAtom => ({ atom, sources: getSources(atom), gaps: [query] }))
      if (atoms === undefined) return undefined
      const logs: PlacedLog[] = []
      let bytes = 0
      scanned = 0
      const isTooMuch = (): boolean => bytes > maxBytes || scanned > maxScanned
      const add = (log: PlacedLog): void => {
        bytes += log.text.length + 1
        logs.push(log)
      }
      let open = atoms
      for (let level = 0; open.length > 0; level += 1) {
        const keys = open.map(({ sources }) => rows.toKey(`${chain} ${toAtomText(sources[level] as Atom)}`))
        for (const row of rows.selectSpans(keys, query)) {
          const read = open[row.at]
          if (read !== undefined && !isTooMuch()) useRow(row, read, level === 0, add)
        }
        open = open.filter(({ gaps, sources }) => gaps.length > 0 && sources.length > level + 1)
      }
      if (isTooMuch()) return undefined
      const missing = new Set(atoms.flatMap(({ atom, gaps }) => (gaps.length > 0 ? [atom.address] : [])))
      const hull = getHull(atoms.flatMap(({ gaps }) => gaps))
      return {
        value: writeLogs(sortLogs(logs)),
        missing: hull && { ...hull, addresses: query.addresses.filter((address) => missing.has(address)) },
      }
    },
    readEntry: (text) => {
      const key = rows.toKey(text)
      const row = rows.getEntry(key)
      if (row === undefined || row.unconfirmed !== 0) return undefined
      const value = unpackValue(row.value, toEntrySeed(key, row))
      if (value === undefined) damaged.push({ key })
      else if (row.day < startOfUtcDay(now())) used.push({ key })
      return value
    },
    joinResults,
    takeRows: () => {
      const shown = { damaged, used }
      damaged = []
      used = []
      return shown
    },
  }
}
