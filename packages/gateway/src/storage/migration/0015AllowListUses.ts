import type { Migration } from './migration.ts'

/** When an entry of an allow list was last used, to the minute. */
export const allowListUses: Migration = {
  version: 15,
  // Null: never, or not since this migration.
  statements: ({ integer }) => [`alter table allow_entries add column used_at ${integer}`],
}
