import type { Migration } from './migration.ts'

/** Revert data in the request log, the custom errors of apps, and the saved filters of users. Versions before this one write none. */
export const requestPanel: Migration = {
  version: 25,
  statements: ({ tableOptions, clustered }) => [
    'alter table request_log add column revert_data text',
    `create table contract_errors (
      app_id text primary key not null references apps (id) on delete cascade,
      signatures text not null
    )${tableOptions}`,
    `create table saved_filters (
      key_id text not null references keys (id) on delete cascade,
      user_id text not null references users (id) on delete cascade,
      items text not null,
      primary key (key_id, user_id)
    )${clustered}`,
    'create index saved_filters_user on saved_filters (user_id)',
  ],
}
