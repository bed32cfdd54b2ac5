import { sql } from 'kysely'
import { inTransaction } from '../inTransaction.ts'
import { StorageError } from '../../errors/storageError.ts'
import type { Db } from '../tables.ts'
import { migrations as released } from './migrations.ts'
import type { Dialect, Migration } from './migration.ts'

const dialects: Readonly<Record<Db['kind'], Dialect>> = {
  sqlite: {
    bytes: 'blob',
    integer: 'integer',
    counted: 'integer primary key autoincrement',
    tableOptions: ' strict',
    clustered: ' strict, without rowid',
  },
  postgres: {
    bytes: 'bytea',
    integer: 'bigint',
    counted: 'bigint generated always as identity primary key',
    tableOptions: '',
    clustered: '',
  },
}

/** Any number that is ours: whoever migrates this database takes the same lock. */
const advisoryLock = 7_241_530_091

const versionIn = async ({ query }: Db): Promise<number> => {
  const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(query)
  return rows[0]?.version ?? 0
}

/**
 * Brings a database's tables up to the newest version, one step a transaction, so that a process that dies leaves a whole version behind.
 * Two processes may do so at once: one does the step, and the other then sees that it is done.
 * @param options.migrations - @default those that this program knows
 * @returns The version from before, and the one now.
 * @throws {StorageError} if the database is of a version that this program does not know; nothing was changed then. Also if a step failed; the
 * database is at the version before it.
 */
export const migrate = async (
  db: Db,
  { migrations = released }: { migrations?: readonly Migration[] } = {},
): Promise<{ from: number; to: number }> => {
  const newest = migrations.at(-1)?.version ?? 0

  /** @returns The version found, and whether it was the newest. */
  const step = (): Promise<{ found: number; done: boolean }> =>
    inTransaction(db, async (transaction) => {
      const { query, kind } = transaction
      // SQLite's transaction holds the file's write lock from its first moment.
      if (kind === 'postgres') await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLock)})`.execute(query)
      await sql`create table if not exists schema_version (version ${sql.raw(dialects[kind].integer)} not null)`.execute(
        query,
      )
      const found = await versionIn(transaction)
      if (found > newest)
        throw new StorageError(
          `the database is of version ${found}, and this program knows versions up to ${newest}: run the newer program, or restore an older backup`,
          { fault: 'failed' },
        )
      const next = migrations.find(({ version }) => version === found + 1)
      if (next === undefined) return { found, done: true }
      for (const statement of next.statements(dialects[kind])) await sql.raw(statement).execute(query)
      await sql`delete from schema_version`.execute(query)
      await sql`insert into schema_version (version) values (${sql.lit(next.version)})`.execute(query)
      return { found, done: false }
    })

  let { found, done } = await step()
  const from = found
  while (!done) ({ found, done } = await step())
  return { from, to: found }
}
