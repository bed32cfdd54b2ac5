import type { Migration } from './migration.ts'

/** Renames columns and stored outcomes to the names that the API uses. */
export const plainNames: Migration = {
  version: 7,
  statements: () => [
    'alter table users rename column mail to email',
    'alter table users rename column mail_folded to email_folded',
    'alter table invites rename column mail to email',
    'drop index users_mail',
    'create unique index users_email on users (email_folded)',
    ...['usage_minutes', 'usage_hours', 'usage_days'].map(
      (table) =>
        `update ${table} set counts = replace(replace(counts, '"answered"', '"succeeded"'), '"callerGone"', '"disconnected"')`,
    ),
  ],
}
