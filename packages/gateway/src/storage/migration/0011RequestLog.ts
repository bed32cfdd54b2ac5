import type { Migration } from './migration.ts'

/** The request log, and the excerpts of params and responses, which are stored for a shorter time. */
export const requestLog: Migration = {
  version: 11,
  statements: ({ integer, clustered, hasPartitions }) => [
    `create table request_log (
      key_id text not null,
      at ${integer} not null,
      id text not null,
      method text,
      outcome text not null,
      code ${integer},
      message text,
      status ${integer} not null,
      duration_us ${integer} not null,
      network text not null,
      request_id text not null,
      calls ${integer} not null,
      failed_calls ${integer} not null,
      key_ending text,
      origin text,
      ip_block text,
      request_bytes ${integer},
      response_bytes ${integer},
      transport text not null,
      primary key (key_id, at, id)
    )${hasPartitions ? ' partition by range (at)' : clustered}`,
    // Most readers look for failures, which can be rare.
    `create index request_log_failed on request_log (key_id, at, id) where outcome <> 'succeeded'`,
    // Without partitions, old rows are found by their time.
    hasPartitions
      ? 'create table request_log_default partition of request_log default'
      : 'create index request_log_at on request_log (at)',
    `create table request_excerpts (
      key_id text not null,
      at ${integer} not null,
      id text not null,
      params text,
      response text,
      primary key (key_id, at, id)
    )${clustered}`,
    'create index request_excerpts_at on request_excerpts (at)',
    `alter table apps add column record_details ${integer} not null default 0`,
    `alter table keys add column record_details ${integer} not null default 0`,
  ],
}
