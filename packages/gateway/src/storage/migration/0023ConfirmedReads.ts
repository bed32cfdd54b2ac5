import type { Migration } from './migration.ts'

/** What apps and API keys ask for beyond the confirmed reads of a network. Versions before this one write none. */
export const confirmedReads: Migration = {
  version: 23,
  statements: ({ integer }) =>
    ['apps', 'keys'].flatMap((table) => [
      `alter table ${table} add column confirm_nodes ${integer} not null default 0`,
      `alter table ${table} add column confirm_header ${integer} not null default 0`,
    ]),
}
