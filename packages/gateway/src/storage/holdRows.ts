import type { SelectQueryBuilder } from 'kysely'
import type { Db } from './tables.ts'

/**
 * Makes a query hold what it finds until the transaction ends, so that it stays as it was found.
 * SQLite has one writer at a time, so there it is enough to look.
 */
export const holdRows = <Database, Table extends keyof Database, Row>(
  { kind }: Db,
  query: SelectQueryBuilder<Database, Table, Row>,
): SelectQueryBuilder<Database, Table, Row> => (kind === 'postgres' ? query.forUpdate() : query)
