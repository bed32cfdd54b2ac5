import { sql } from 'kysely'
import { inTransaction } from '../transaction.ts'
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
    hasPartitions: false,
  },
  postgres: {
    bytes: 'bytea',
    integer: 'bigint',
    counted: 'bigint generated always as identity primary key',
    tableOptions: '',
    clustered: '',
    hasPartitions: true,
  },
}

/** An arbitrary number. All processes that migrate this database take the same lock. */
const advisoryLock = 7_241_530_091

/** Returns the oldest version whose programs work with the tables of `version`. */
const getOldestSupported = async ({ query }: Db, version: number): Promise<number> => {
  const { rows } = await sql<{
    oldest: number
  }>`select oldest from schema_support where version = ${sql.lit(version)}`.execute(query)
  return Number(rows[0]?.oldest ?? version)
}

const getVersion = async ({ query }: Db): Promise<number> => {
  const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(query)
  return rows[0]?.version ?? 0
}

/**
 * Migrates the tables of a database to the newest version. Each step is a transaction, so a process that dies leaves a complete version.
 * Two processes can do this at once: one does a step, and the other then finds it done.
 * @param options.migrations - @default all migrations
 * @returns The version before and after.
 * If the database has a newer version that programs of this version still work with, nothing changes.
 * @throws {StorageError} If the database has a version that is too new for this program; then nothing changed. Also if a step failed; then the
 * database has the version before that step.
 */
export const migrate = async (
  db: Db,
  { migrations = released }: { migrations?: readonly Migration[] } = {},
): Promise<{ from: number; to: number }> => {
  const newest = migrations.at(-1)?.version ?? 0

  /** @returns The version that was found, and whether it was the newest. */
  const step = (): Promise<{ found: number; done: boolean }> =>
    inTransaction(db, async (transaction) => {
      const { query, kind } = transaction
      // SQLite's transaction has the file's write lock from the start.
      if (kind === 'postgres') await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLock)})`.execute(query)
      await sql`create table if not exists schema_version (version ${sql.raw(dialects[kind].integer)} not null)`.execute(
        query,
      )
      await sql`create table if not exists schema_support
        (version ${sql.raw(dialects[kind].integer)} not null, oldest ${sql.raw(dialects[kind].integer)} not null)`.execute(
        query,
      )
      const found = await getVersion(transaction)
      const oldest = await getOldestSupported(transaction, found)
      if (found > newest && oldest <= newest) return { found, done: true }
      if (found > newest)
        throw new StorageError(
          `the database has version ${found}, but this program only knows versions up to ${newest}: run a newer program, or restore an older backup`,
          { fault: 'failed' },
        )
      const next = migrations.find(({ version }) => version === found + 1)
      if (next === undefined) return { found, done: true }
      for (const statement of next.statements(dialects[kind])) await sql.raw(statement).execute(query)
      await next.run?.(transaction)
      await sql`delete from schema_version`.execute(query)
      await sql`insert into schema_version (version) values (${sql.lit(next.version)})`.execute(query)
      await sql`delete from schema_support`.execute(query)
      await sql`insert into schema_support (version, oldest)
        values (${sql.lit(next.version)}, ${sql.lit(next.oldestSupported ?? oldest)})`.execute(query)
      return { found, done: false }
    })

  let { found, done } = await step()
  const from = found
  while (!done) ({ found, done } = await step())
  return { from, to: found }
}
