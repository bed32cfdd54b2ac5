import type { Migration } from './migration.ts'

/** Verified email addresses, and the links by which they are verified. */
export const emails: Migration = {
  version: 12,
  statements: ({ bytes, integer, tableOptions }) => [
    // Null: not verified.
    `alter table users add column email_verified_at ${integer}`,
    `alter table invites add column mailed ${integer} not null default 0 check (mailed in (0, 1))`,
    // Without a user: to sign up. Otherwise the address that the user's account gets.
    `create table email_links (
      sha256 ${bytes} primary key not null,
      email text not null,
      email_folded text not null,
      user_id text references users (id) on delete cascade,
      created_at ${integer} not null,
      expires_at ${integer} not null
    )${tableOptions}`,
    'create index email_links_email on email_links (email_folded)',
    'create index email_links_user on email_links (user_id)',
    'create index email_links_expires on email_links (expires_at)',
  ],
}
