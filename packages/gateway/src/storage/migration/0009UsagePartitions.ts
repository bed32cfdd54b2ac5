import type { Dialect, Migration } from './migration.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/**
 * Partitions `usage_minutes` by day, so that old days are dropped instead of deleted row by row. The existing rows are not copied, because
 * copying takes longer than a statement may: their table becomes the partition of all days up to today. It is dropped like any other.
 */
const partitionMinutes = ({ integer }: Dialect): readonly string[] => [
  'alter table usage_minutes rename to usage_minutes_before',
  'alter index usage_minutes_pkey rename to usage_minutes_before_pkey',
  'alter index usage_minutes_key rename to usage_minutes_before_key',
  `create table usage_minutes (
    at ${integer} not null,
    key_id text not null,
    run text not null,
    total ${integer} not null,
    counts text not null,
    primary key (at, key_id, run)
  ) partition by range (at)`,
  'create index usage_minutes_key on usage_minutes (key_id, at)',
  'create table usage_minutes_default partition of usage_minutes default',
  `do $$
    declare
      tomorrow bigint := (floor(extract(epoch from clock_timestamp()) * 1000 / ${dayMs}) + 1) * ${dayMs};
    begin
      -- Written by an instance whose clock is ahead.
      insert into usage_minutes select * from usage_minutes_before where at >= tomorrow;
      delete from usage_minutes_before where at >= tomorrow;
      if exists (select from usage_minutes_before) then
        execute format('alter table usage_minutes attach partition usage_minutes_before for values from (minvalue) to (%s)', tomorrow);
      else
        drop table usage_minutes_before;
      end if;
    end
  $$`,
]

/** Marks what must be rolled up, and names the instance that does it. Partitions the minutes where the database can. */
export const usagePartitions: Migration = {
  version: 9,
  statements: (dialect) => {
    const { integer, clustered, hasPartitions } = dialect
    return [
      // Hours and days with counts that are not rolled up. Each run has its own row for an hour, so that writers do not wait for each other.
      // The version identifies the last write, so that a roll-up only removes the marks of what it has read.
      `create table usage_pending (
        level text not null,
        at ${integer} not null,
        run text not null,
        version ${integer} not null,
        primary key (level, at, run)
      )${clustered}`,
      `insert into usage_pending (level, at, run, version)
        select distinct 'hour', at - at % ${hourMs}, '', 0 from usage_minutes where at >= (select hours_to from usage_state)`,
      `insert into usage_pending (level, at, run, version)
        select distinct 'day', at - at % ${dayMs}, '', 0 from usage_hours where at >= (select days_to from usage_state)`,
      ...(hasPartitions ? partitionMinutes(dialect) : []),

      // Kept: the time from which each table has rows. New: the instance that rolls up, and until when.
      ...['hours_to', 'rolling_to', 'days_to', 'version'].map(
        (column) => `alter table usage_state drop column ${column}`,
      ),
      'alter table usage_state add column leader text',
      `alter table usage_state add column leader_until ${integer} not null default 0`,
    ]
  },
}
