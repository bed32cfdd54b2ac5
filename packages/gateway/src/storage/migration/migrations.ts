import { firstTables } from './0001FirstTables.ts'
import { accountTables } from './0003Accounts.ts'
import type { Migration } from './migration.ts'

/** Holds the place of the tables of usage. */
const usageTables: Migration = { version: 2, statements: () => [] }

/** All steps, in order, the first of version 1. */
export const migrations: readonly Migration[] = [firstTables, usageTables, accountTables]
