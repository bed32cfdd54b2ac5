import { sql } from 'kysely'
import type { Db } from './tables.ts'

/** A change that a cache of `findAccess` must evict. */
export interface Change {
  readonly kind: 'user' | 'app' | 'key'
  readonly id: string
}

/** The change feed: how an instance learns what other instances wrote. */
export interface Changes {
  /** The position of the last change. To read it regularly, use `Storage.ping`. */
  position(): Promise<string>
  /**
   * Gets the changes after a position.
   * @param position - The last position that was seen.
   * @returns The current position, and each change once; `'all'` if the changes since then are not known.
   */
  since(position: string): Promise<{ position: string; changed: readonly Change[] | 'all' }>
}

/**
 * The query for the position of the last change: its number and its subject. The number is not enough, because it counts on from a lower one after a
 * backup was restored, or after a failover to a server that lacks the last changes.
 */
export const readPosition =
  "select cast(seq as text) || ' ' || coalesce((select subject from changes where changes.seq = revision.seq), '') as position from revision"

/** How many changes are stored. */
const maxChanges = 10_000

/**
 * Records that the permissions of a key have changed. The row of the counter is locked until the transaction ends, so sequence numbers become
 * visible in order, and a reader that has seen one has seen all before it.
 * Call this as the last step of a transaction, because other writers wait for that row.
 */
export const recordChange = async ({ query }: Db, { kind, id }: Change): Promise<void> => {
  const { seq } = await query
    .updateTable('revision')
    .set((row) => ({ seq: row('seq', '+', 1) }))
    .returning('seq')
    .executeTakeFirstOrThrow()
  await query.insertInto('changes').values({ seq, kind, subject: id }).execute()
  await query
    .deleteFrom('changes')
    .where('seq', '<=', seq - maxChanges)
    .execute()
}

/** Creates the change feed. */
export const createChanges = ({ query }: Db): Changes => {
  const getPosition = async (): Promise<string> => {
    const { rows } = await sql<{ position: string }>`${sql.raw(readPosition)}`.execute(query)
    const [row] = rows
    if (row === undefined) throw new TypeError('the change feed has a position')
    return row.position
  }

  return {
    position: getPosition,
    since: async (last) => {
      // The position is read first: later changes are part of the next result.
      const position = await getPosition()
      if (position === last) return { position, changed: [] }
      const rows = await query
        .selectFrom('changes')
        .selectAll()
        .where('seq', '>=', toSeq(last))
        .where('seq', '<=', toSeq(position))
        .orderBy('seq')
        .execute()
      const [known, ...next] = rows
      // It is too old, or the database is no longer the same.
      if (known === undefined || toPosition(known) !== last) return { position, changed: 'all' }
      const byId = new Map(next.map(({ kind, subject }) => [subject, { kind, id: subject }]))
      return { position, changed: [...byId.values()] }
    },
  }
}

const toSeq = (position: string): number => Number.parseInt(position, 10)
const toPosition = ({ seq, subject }: { seq: number; subject: string }): string => `${seq} ${subject}`
