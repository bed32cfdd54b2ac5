import type { Migration } from './migration.ts'

/** What is used of quotas; what was counted of calls, by minute, hour and day. */
export const usageTables: Migration = {
  version: 2,
  statements: ({ integer, tableOptions, clustered }) => [
    // One row an account, so that one statement decides about day and month at once. `sure` is what is used, and more, as the disk has it for certain.
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

    // Processes that count, by the run of the machine that they are of.
    `create table quota_runs (
      run text primary key not null,
      boot text not null
    )${tableOptions}`,

    // Whose a key was: outlives the key, as its usage does.
    `create table usage_keys (
      key_id text primary key not null,
      app_id text,
      user_id text
    )${tableOptions}`,
    'create index usage_keys_app on usage_keys (app_id)',
    'create index usage_keys_user on usage_keys (user_id)',

    // Ordered by time, as rows are written, rolled up and removed by it.
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

    // Up to when each table is made of the finer one, and from when it still has its rows. What is written to before rolling_to makes a roll-up void
    // that may have read that already: the version moves.
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
