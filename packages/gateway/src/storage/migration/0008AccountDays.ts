import type { Migration } from './migration.ts'

/** One row per account, day and run of a process in place of one per account. */
export const accountDays: Migration = {
  version: 8,
  statements: ({ integer, clustered }) => [
    `create table account_days (
      account text not null,
      day ${integer} not null,
      run text not null,
      charged ${integer} not null,
      primary key (account, day, run)
    )${clustered}`,
    'create index account_days_day on account_days (day)',
    // The usage of the last day stays with that day. The rest of its month goes to the day before, in the same month.
    `insert into account_days (account, day, run, charged) select account, day, '', day_used from quota where day_used > 0`,
    `insert into account_days (account, day, run, charged)
      select account, day - 1, '', month_used - day_used from quota where month_used > day_used`,
    'drop table quota',
    'drop table quota_runs',
  ],
}
