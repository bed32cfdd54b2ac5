import type { Migration } from './migration.ts'

/** Users, their sessions, apps, keys and tokens; the audit log; the change feed for caches. */
export const firstTables: Migration = {
  version: 1,
  statements: ({ bytes, integer, counted, tableOptions }) => [
    `create table users (
      id text primary key not null,
      mail text not null,
      mail_folded text not null,
      password text not null,
      state text not null check (state in ('active', 'disabled')),
      role text not null check (role in ('user', 'operator')),
      limits text,
      created_at ${integer} not null
    )${tableOptions}`,
    'create unique index users_mail on users (mail_folded)',

    `create table sessions (
      sha256 ${bytes} primary key not null,
      user_id text not null references users (id) on delete cascade,
      created_at ${integer} not null,
      seen_at ${integer} not null,
      ip text,
      user_agent text
    )${tableOptions}`,
    'create index sessions_user on sessions (user_id)',
    'create index sessions_seen on sessions (seen_at)',
    'create index sessions_created on sessions (created_at)',

    `create table apps (
      id text primary key not null,
      user_id text not null references users (id) on delete cascade,
      name text not null,
      name_folded text not null,
      description text not null,
      use_case text not null,
      chain text not null,
      services text not null,
      testnet ${integer} not null check (testnet in (0, 1)),
      mainnet ${integer} not null check (mainnet in (0, 1)),
      limits text,
      require_jwt ${integer} not null check (require_jwt in (0, 1)),
      version ${integer} not null,
      created_at ${integer} not null
    )${tableOptions}`,
    'create unique index apps_name on apps (user_id, name_folded)',
    // Referenced by keys, so that an app's key belongs to the app's user.
    'create unique index apps_owner on apps (id, user_id)',

    `create table allow_entries (
      id text primary key not null,
      app_id text not null references apps (id) on delete cascade,
      type text not null check (type in ('origin', 'ip', 'method', 'address', 'userAgent')),
      value text not null,
      label text not null,
      created_at ${integer} not null
    )${tableOptions}`,
    'create unique index allow_entries_value on allow_entries (app_id, type, value)',

    `create table jwt_keys (
      kid text primary key not null,
      app_id text not null references apps (id) on delete cascade,
      alg text not null,
      public_pem text not null,
      fingerprint text not null,
      label text not null,
      created_at ${integer} not null
    )${tableOptions}`,
    'create unique index jwt_keys_fingerprint on jwt_keys (app_id, fingerprint)',

    `create table keys (
      id text primary key not null,
      user_id text not null references users (id) on delete cascade,
      app_id text,
      kind text not null check (kind in ('app', 'testnet', 'mainnet')),
      slot ${integer} check (slot between 1 and 4),
      name text not null,
      description text not null,
      sha256 ${bytes} not null,
      ending text not null,
      sealed ${bytes},
      old_sha256 ${bytes},
      old_until ${integer},
      state text not null check (state in ('active', 'revoked')),
      version ${integer} not null,
      created_at ${integer} not null,
      rotated_at ${integer},
      revoked_at ${integer},
      expires_at ${integer},
      foreign key (app_id, user_id) references apps (id, user_id) on delete cascade,
      check ((kind = 'app') = (app_id is not null)),
      check ((kind = 'app' or state = 'revoked') = (slot is null)),
      check ((old_sha256 is null) = (old_until is null)),
      check (state = 'active' or (sealed is null and old_sha256 is null))
    )${tableOptions}`,
    'create unique index keys_sha256 on keys (sha256)',
    'create unique index keys_old_sha256 on keys (old_sha256)',
    'create unique index keys_app on keys (app_id)',
    // At most four keys per user: this index and the check of slot enforce it.
    'create unique index keys_slot on keys (user_id, slot)',

    `create table access_tokens (
      id text primary key not null,
      user_id text not null references users (id) on delete cascade,
      sha256 ${bytes} not null,
      scopes text not null,
      label text not null,
      created_at ${integer} not null,
      seen_at ${integer},
      expires_at ${integer}
    )${tableOptions}`,
    'create unique index access_tokens_sha256 on access_tokens (sha256)',
    'create index access_tokens_user on access_tokens (user_id)',

    // No reference to users: entries outlive the account.
    `create table audit_log (
      id ${counted},
      at ${integer} not null,
      user_id text,
      actor text not null,
      action text not null,
      subject text,
      ip text,
      detail text
    )${tableOptions}`,
    'create index audit_log_user on audit_log (user_id, id)',

    `create table revision (
      id ${integer} primary key not null check (id = 1),
      seq ${integer} not null
    )${tableOptions}`,
    'insert into revision (id, seq) values (1, 0)',
    `create table changes (
      seq ${integer} primary key not null,
      kind text not null check (kind in ('user', 'app', 'key')),
      subject text not null
    )${tableOptions}`,
  ],
}
