import { firstTables } from './0001FirstTables.ts'
import type { Migration } from './migration.ts'

/** All steps, in order, the first of version 1. */
export const migrations: readonly Migration[] = [firstTables]
