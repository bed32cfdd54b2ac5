import type { DeleteResult, SelectQueryBuilder, UpdateResult } from 'kysely'
import type { Tables } from './tables.ts'

/** Counts the rows that a query finds. */
export const countRows = async <Table extends keyof Tables, Row>(
  rows: SelectQueryBuilder<Tables, Table, Row>,
): Promise<number> => {
  const counted = rows.clearSelect().select(({ fn }) => fn.countAll<number>().as('total'))
  const { total } = await counted.executeTakeFirstOrThrow()
  return total
}

/** Runs an update or a deletion. @returns The number of rows that it changed. */
export const changeRows = async (
  change: { executeTakeFirst(): Promise<UpdateResult> } | { executeTakeFirst(): Promise<DeleteResult> },
): Promise<number> => {
  const result = await change.executeTakeFirst()
  return Number('numUpdatedRows' in result ? result.numUpdatedRows : result.numDeletedRows)
}
