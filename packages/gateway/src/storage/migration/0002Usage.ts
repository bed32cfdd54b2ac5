import type { Migration } from './migration.ts'

/** Used quotas, and the usage of keys by minute, hour and day. */
export const usageTables: Migration = {
  version: 2,
  statements: ({ integer, tableOptions, clustered }) => [
    // One row per account, so that one statement checks the day and the month. `sure` is an upper bound of what is used that is certainly on disk.
    `create table quota (
      account text primary key not null,
      day ${integer} not null,
      day_used ${integer} not null,
      sure ${integer} not null,
      month ${integer} not null,
      month_used ${integer} not null,
      spare ${integer} not null,
      granted ${integer} not null
    )${tableOptions}`,

    // The processes that count, each with the boot id of its machine.
    `create table quota_runs (
      run text primary key not null,
      boot text not null
    )${tableOptions}`,

    // The owner of a key. Outlives the key, like its usage.
    `create table usage_keys (
      key_id text primary key not null,
      app_id text,
      user_id text
    )${tableOptions}`,
    'create index usage_keys_app on usage_keys (app_id)',
    'create index usage_keys_user on usage_keys (user_id)',

    // Ordered by time, because rows are written, rolled up and removed in that order.
    `create table usage_minutes (
      at ${integer} not null,
      key_id text not null,
      run text not null,
      total ${integer} not null,
      counts text not null,
      primary key (at, key_id, run)
    )${clustered}`,
    'create index usage_minutes_key on usage_minutes (key_id, at)',
    ...['usage_hours', 'usage_days'].flatMap((table) => [
      `create table ${table} (
        at ${integer} not null,
        key_id text not null,
        total ${integer} not null,
        counts text not null,
        primary key (at, key_id)
      )${clustered}`,
      `create index ${table}_key on ${table} (key_id, at)`,
    ]),

    // Up to when each table was rolled up from the finer one, and from when it has rows. A write before rolling_to increases the version, which
    // invalidates a roll-up that may have read the old rows.
    `create table usage_state (
      id ${integer} primary key not null check (id = 1),
      hours_to ${integer} not null,
      rolling_to ${integer} not null,
      days_to ${integer} not null,
      minutes_from ${integer} not null,
      hours_from ${integer} not null,
      days_from ${integer} not null,
      version ${integer} not null
    )${tableOptions}`,
    `insert into usage_state (id, hours_to, rolling_to, days_to, minutes_from, hours_from, days_from, version)
      values (1, 0, 0, 0, 0, 0, 0, 0)`,
  ],
}
