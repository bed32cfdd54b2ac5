import type { Migration } from './migration.ts'

/** How many calls had their result in the chain store. Versions before this one write none. */
export const storedCalls: Migration = {
  version: 22,
  statements: ({ integer }) => [
    ...['usage_minutes', 'usage_hours', 'usage_days'].map(
      (table) => `alter table ${table} add column stored text not null default '[]'`,
    ),
    `alter table request_log add column stored_calls ${integer} not null default 0`,
  ],
}
