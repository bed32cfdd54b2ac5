import type { Migration } from './migration.ts'

/** Records of deleted accounts until the end of the UTC day, so that signing up again gives no second daily quota. */
export const leftUsers: Migration = {
  version: 6,
  statements: ({ bytes, integer, tableOptions }) => [
    // Null: the user.
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
