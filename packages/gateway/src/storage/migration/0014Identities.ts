import type { Migration } from './migration.ts'

/** Accounts at an OpenID Connect provider, and the log-ins there that are used up. */
export const identities: Migration = {
  version: 14,
  statements: ({ bytes, integer, tableOptions, clustered }) => [
    `create table identities (
      issuer text not null,
      subject text not null,
      user_id text not null references users (id) on delete cascade,
      created_at ${integer} not null,
      primary key (issuer, subject)
    )${clustered}`,
    // An account has one identity at an issuer.
    'create unique index identities_user on identities (user_id, issuer)',
    `create table used_sign_ons (
      sha256 ${bytes} primary key not null,
      expires_at ${integer} not null
    )${tableOptions}`,
    'create index used_sign_ons_expires on used_sign_ons (expires_at)',
  ],
}
