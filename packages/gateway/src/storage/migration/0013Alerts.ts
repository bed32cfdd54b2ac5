import type { Migration } from './migration.ts'

/** Alerts about quotas: who wants them, which were created, and their deliveries. */
export const alerts: Migration = {
  version: 13,
  statements: ({ bytes, integer, tableOptions, clustered }) => [
    `alter table users add column alert_emails ${integer} not null default 1 check (alert_emails in (0, 1))`,
    // About the accounts of all users, for operators.
    `alter table users add column alert_emails_all ${integer} not null default 0 check (alert_emails_all in (0, 1))`,

    `create table webhooks (
      id text primary key not null,
      user_id text not null references users (id) on delete cascade,
      url text not null,
      all_users ${integer} not null check (all_users in (0, 1)),
      sealed ${bytes} not null,
      created_at ${integer} not null
    )${tableOptions}`,
    'create index webhooks_user on webhooks (user_id)',

    // The primary key decides which instance creates an alert.
    `create table quota_alerts (
      account text not null,
      day ${integer} not null,
      level ${integer} not null,
      created_at ${integer} not null,
      primary key (account, day, level)
    )${clustered}`,
    'create index quota_alerts_day on quota_alerts (day)',

    `create table alert_deliveries (
      id text primary key not null,
      user_id text not null references users (id) on delete cascade,
      webhook_id text references webhooks (id) on delete cascade,
      event text not null,
      state text not null check (state in ('pending', 'delivered', 'failed')),
      attempts ${integer} not null,
      result text,
      created_at ${integer} not null,
      attempted_at ${integer},
      next_attempt_at ${integer}
    )${tableOptions}`,
    'create index alert_deliveries_user on alert_deliveries (user_id, created_at)',
    'create index alert_deliveries_webhook on alert_deliveries (webhook_id)',
    'create index alert_deliveries_next on alert_deliveries (next_attempt_at)',
    'create index alert_deliveries_created on alert_deliveries (created_at)',

    // The instance that looks for alerts, and until when.
    `create table alert_state (
      id ${integer} primary key not null check (id = 1),
      leader text,
      leader_until ${integer} not null
    )${tableOptions}`,
    'insert into alert_state (id, leader, leader_until) values (1, null, 0)',
  ],
}
