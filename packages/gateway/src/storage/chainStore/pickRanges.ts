import { getHull, intersect } from './blockRanges.ts'
import type { BlockRange } from './blockRanges.ts'
import type { UnconfirmedRow } from './chainRows.ts'
import type { LogFilter, LogQuery, Topics } from './logQuery.ts'

/** Which ranges are confirmed. */
export interface ConfirmOptions {
  /** They were added after this time, in milliseconds since 1970. @default any time */
  readonly after?: number
  /** And this long ago at least. */
  readonly ageMs: number
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

/** Limits of one query that confirms, which nodes accept. */
const maxConfirmed = { addresses: 100, topics: 20 }

/** Rows of one group can be confirmed by one query: they differ in the address and the first topic only. */
const toGroup = ({ address, topics }: { readonly address: string; readonly topics: Topics }): string =>
  JSON.stringify([address === '*', topics.length, topics[0] === null, topics.slice(1)])

/** What is read of a row. */
type RangeRow = Pick<UnconfirmedRow, 'first' | 'last' | 'at' | 'address' | 'topics'>
type ParsedRow = Omit<RangeRow, 'topics'> & { readonly topics: Topics }

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

/**
 * Chooses ranges to confirm in one query: the one of the longest wait, and others with the same topics.
 * @param rows - Of one node, the oldest first.
 * @param options.now - Milliseconds since 1970.
 */
export const pickRanges = (
  rows: readonly RangeRow[],
  {
    maxBlocks,
    waitMs,
    upstream,
    now,
  }: Pick<ConfirmOptions, 'maxBlocks' | 'waitMs'> & { readonly upstream: string; readonly now: number },
): UnconfirmedLogs | undefined => {
  const parsed = rows.map((row) => ({ ...row, topics: JSON.parse(row.topics) as Topics }))
  const [oldest] = parsed
  if (oldest === undefined || now - oldest.at < waitMs) return undefined
  return toQuery(parsed, oldest, maxBlocks, upstream)
}
