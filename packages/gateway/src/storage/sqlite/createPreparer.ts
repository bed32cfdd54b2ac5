import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { createRecentMap } from '../../lib/createRecentMap.ts'

/** A prepared statement. */
interface Prepared {
  readonly statement: StatementSync
  /** Whether it returns rows. */
  readonly hasRows: boolean
}

/**
 * Creates a function that prepares each statement once and caches it.
 * @param maxPrepared - How many statements are cached: lists of many lengths give many different statements.
 */
export const createPreparer = (database: DatabaseSync, maxPrepared: number): ((sql: string) => Prepared) => {
  const cached = createRecentMap<Prepared>(maxPrepared)
  return (sql) => {
    const known = cached.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    const prepared = { statement, hasRows: statement.columns().length > 0 }
    cached.set(sql, prepared)
    return prepared
  }
}
