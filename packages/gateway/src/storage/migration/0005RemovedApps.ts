import type { Migration } from './migration.ts'

/** Recently removed apps. They count until the end of the day, so that replacing an app gives no second daily quota. */
export const removedApps: Migration = {
  version: 5,
  statements: ({ integer, tableOptions }) => [
    `create table removed_apps (
      id text primary key not null,
      user_id text not null references users (id) on delete cascade,
      removed_at ${integer} not null
    )${tableOptions}`,
    'create index removed_apps_user on removed_apps (user_id, removed_at)',
  ],
}
