import { CompiledQuery, sql } from 'kysely'
import { inTransaction } from '../inTransaction.ts'
import type { Db } from '../tables.ts'
import type { StepRows, Write } from '../write.ts'

/** Makes what runs statements in one transaction of PostgreSQL; of a single one, without a question more. */
export const writeSteps =
  (db: Db): Write =>
  (steps, { light = false } = {}) => {
    const run = async ({ query }: Db): Promise<readonly StepRows[]> => {
      const rows: StepRows[] = []
      for (const { text, values } of steps) {
        const result = await query
          .withoutPlugins()
          .executeQuery<Readonly<Record<string, unknown>>>(CompiledQuery.raw(text, [...values]))
        rows.push(result.rows)
      }
      return rows
    }
    if (steps.length === 1 && !light) return run(db)
    return inTransaction(db, async (transaction) => {
      if (light) await sql`set local synchronous_commit = off`.execute(transaction.query)
      return run(transaction)
    })
  }
