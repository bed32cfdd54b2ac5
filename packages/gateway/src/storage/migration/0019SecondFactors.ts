import type { Migration } from './migration.ts'

/** Second factors, recovery codes, and when a session proved a factor. */
export const secondFactors: Migration = {
  version: 19,
  statements: ({ bytes, integer, tableOptions, clustered }) => [
    `alter table users add column has_second_factor ${integer} not null default 0 check (has_second_factor in (0, 1))`,
    `alter table sessions add column factor_at ${integer}`,

    `create table factors (
      id text primary key not null,
      user_id text not null references users (id) on delete cascade,
      kind text not null check (kind in ('totp', 'passkey')),
      label text not null,
      sealed ${bytes},
      credential_id text unique,
      public_key ${bytes},
      transports text not null,
      counter ${integer} not null,
      created_at ${integer} not null,
      used_at ${integer}
    )${tableOptions}`,
    'create index factors_user on factors (user_id)',

    `create table recovery_codes (
      user_id text not null references users (id) on delete cascade,
      sha256 ${bytes} not null,
      primary key (user_id, sha256)
    )${clustered}`,
  ],
}
