import type { Migration } from './migration.ts'

/** Alerts that start and are resolved: about the calls of an account, by its rules, and about the service, for operators. */
export const lastingAlerts: Migration = {
  version: 24,
  statements: ({ integer, clustered }) => [
    `alter table users add column alert_emails_service ${integer} not null default 1 check (alert_emails_service in (0, 1))`,
    'alter table users add column alert_rules text',
    // Few accounts have rules, and the job that looks for alerts reads only these.
    'create index users_alert_rules on users (id) where alert_rules is not null',
    `alter table webhooks add column about_service ${integer} not null default 0 check (about_service in (0, 1))`,

    // The primary key decides which instance starts an alert.
    `create table alert_states (
      kind text not null,
      subject text not null,
      user_id text references users (id) on delete cascade,
      started_at ${integer} not null,
      resolved_at ${integer},
      primary key (kind, subject)
    )${clustered}`,
    'create index alert_states_user on alert_states (user_id)',
  ],
}
