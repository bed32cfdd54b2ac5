import type { Db } from './tables.ts'

/** What a cache of `findAccess` must forget. */
export interface Change {
  readonly kind: 'user' | 'app' | 'key'
  readonly id: string
}

/** The feed by which an instance learns of what others wrote. */
export interface Changes {
  /** The number of the last change. */
  seq(): Promise<number>
  /**
   * What changed after a number that was given before.
   * @param seq - The last number that was seen.
   * @returns The number now, and each change once; or `'all'` where it is too long ago to say which.
   */
  since(seq: number): Promise<{ seq: number; changed: readonly Change[] | 'all' }>
}

const kept = 10_000

/**
 * Notes that what a key may do has changed. The counter's row is held until the transaction ends, so numbers become visible in their order
 * and a reader that has seen one has missed none before it.
 * It must be a transaction's last step, as everybody else who writes waits for that row.
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
    .where('seq', '<=', seq - kept)
    .execute()
}

/** Makes the feed of a database. */
export const createChanges = ({ query }: Db): Changes => {
  const seq = async (): Promise<number> =>
    (await query.selectFrom('revision').select('seq').executeTakeFirstOrThrow()).seq

  return {
    seq,
    since: async (last) => {
      // The number first: what is written after it was read is told the next time.
      const now = await seq()
      if (now === last) return { seq: now, changed: [] }
      const rows = await query
        .selectFrom('changes')
        .selectAll()
        .where('seq', '>', last)
        .where('seq', '<=', now)
        .orderBy('seq')
        .execute()
      // A number from before what is kept, or, as after a restore, of a past that this database does not have.
      if (rows[0]?.seq !== last + 1) return { seq: now, changed: 'all' }
      const once = new Map(rows.map(({ kind, subject }) => [subject, { kind, id: subject }]))
      return { seq: now, changed: [...once.values()] }
    },
  }
}
