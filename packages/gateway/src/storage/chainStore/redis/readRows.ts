import type { BlockRange } from '../blockRanges.ts'
import type { SendCommand } from './createRedisAccess.ts'
import { readRow, toRowsKey, toValueKey } from './redisRow.ts'
import type { StoredRow } from './redisRow.ts'

/** A row with its text; without one, it is damaged. */
export interface ReadRow {
  readonly text: string
  readonly row: StoredRow | undefined
}

/** How many rows one command reads. Most ranges have fewer. */
const rowsAtOnce = 200
/** Most rows of one atom: to read them would keep others waiting. */
const maxRows = 10_000

/** What a row takes in memory besides its text, roughly. */
const rowBytes = 300

/**
 * Reads the rows of an atom with blocks of a range, and those of at most one command more.
 * @param hold - Counts their bytes.
 * @throws {Error} if they are too many.
 */
export const readRows = async (
  send: SendCommand,
  f: Uint8Array,
  { first, last }: BlockRange,
  hold: (bytes: number) => void,
): Promise<readonly ReadRow[]> => {
  const key = toRowsKey(f)
  const rows: ReadRow[] = []
  let from = `${first}`
  while (rows.length < maxRows) {
    const texts = await send(key, (client) => client.zrangebyscore(key, from, '+inf', 'LIMIT', 0, rowsAtOnce))
    hold(texts.reduce((sum, text) => sum + text.length + rowBytes, 0))
    for (const text of texts) rows.push({ text, row: readRow(f, text) })
    const end = rows.findLast(({ row }) => row !== undefined)?.row?.last ?? Infinity
    if (texts.length < rowsAtOnce || end > last) return rows
    from = `(${end}`
  }
  throw new Error('an atom has too many rows')
}

/** Reads logs of an atom, by their ids. What Redis has deleted is left out. */
export const readValues = async (
  send: SendCommand,
  f: Uint8Array,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Buffer>> => {
  const keys = ids.map((id) => toValueKey(f, id))
  const found = ids.length === 0 ? [] : await send(toRowsKey(f), (client) => client.mgetBuffer(keys))
  return new Map(ids.flatMap((id, at) => (found[at] ? [[id, found[at]] as const] : [])))
}
