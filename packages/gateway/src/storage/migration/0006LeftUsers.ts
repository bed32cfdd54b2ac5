import type { Migration } from './migration.ts'

/** What is kept of a deleted account until its UTC day is over, so that signing up again gives no second daily quota. */
export const leftUsers: Migration = {
  version: 6,
  statements: ({ bytes, integer, tableOptions }) => [
    // Null: the user's own.
    'alter table users add column quota_owner text',
    `create table left_users (
      email_hash ${bytes} primary key not null,
      quota_owner text not null,
      apps ${integer} not null,
      left_at ${integer} not null
    )${tableOptions}`,
    'create index left_users_left on left_users (left_at)',
  ],
}
