import type { Db } from './tables.ts'

/** A change that a cache of `findAccess` must evict. */
export interface Change {
  readonly kind: 'user' | 'app' | 'key'
  readonly id: string
}

/** The change feed: how an instance learns what other instances wrote. */
export interface Changes {
  /** The sequence number of the last change. To read it regularly, use `Storage.ping`. */
  seq(): Promise<number>
  /**
   * Gets the changes after a sequence number.
   * @param seq - The last sequence number that was seen.
   * @returns The current sequence number, and each change once; `'all'` if the changes since then are no longer stored.
   */
  since(seq: number): Promise<{ seq: number; changed: readonly Change[] | 'all' }>
}

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
  const seq = async (): Promise<number> =>
    (await query.selectFrom('revision').select('seq').executeTakeFirstOrThrow()).seq

  return {
    seq,
    since: async (last) => {
      // The number is read first: later changes are part of the next result.
      const now = await seq()
      if (now === last) return { seq: now, changed: [] }
      const rows = await query
        .selectFrom('changes')
        .selectAll()
        .where('seq', '>', last)
        .where('seq', '<=', now)
        .orderBy('seq')
        .execute()
      // The number is too old, or it is from after the backup that this database was restored from.
      if (rows[0]?.seq !== last + 1) return { seq: now, changed: 'all' }
      const byId = new Map(rows.map(({ kind, subject }) => [subject, { kind, id: subject }]))
      return { seq: now, changed: [...byId.values()] }
    },
  }
}
