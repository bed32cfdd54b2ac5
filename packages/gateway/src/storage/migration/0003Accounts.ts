import type { Migration } from './migration.ts'

/** Invites, and one-time links to set a new password. */
export const accountTables: Migration = {
  version: 3,
  statements: ({ bytes, integer, tableOptions }) => [
    `create table invites (
      id text primary key not null,
      sha256 ${bytes} not null,
      mail text,
      created_by text not null,
      created_at ${integer} not null,
      expires_at ${integer} not null
    )${tableOptions}`,
    'create unique index invites_sha256 on invites (sha256)',
    'create index invites_expires on invites (expires_at)',

    // The user's id is the primary key: one link per user.
    `create table one_time_links (
      user_id text primary key not null references users (id) on delete cascade,
      sha256 ${bytes} not null,
      created_at ${integer} not null,
      expires_at ${integer} not null
    )${tableOptions}`,
    'create unique index one_time_links_sha256 on one_time_links (sha256)',
    'create index one_time_links_expires on one_time_links (expires_at)',
  ],
}
