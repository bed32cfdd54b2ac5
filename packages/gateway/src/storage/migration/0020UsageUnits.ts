import type { Migration } from './migration.ts'

/** The units and bytes of usage, beside the counts. Versions before this one write none, and read the counts as before. */
export const usageUnits: Migration = {
  version: 20,
  statements: () =>
    ['usage_minutes', 'usage_hours', 'usage_days'].map(
      (table) => `alter table ${table} add column used text not null default '[]'`,
    ),
}
