import type { Migration } from './migration.ts'

/** Requirements of an app for its tokens, in addition to a valid signature. */
export const jwtSettings: Migration = {
  version: 4,
  statements: ({ integer }) => [
    'alter table apps add column jwt_audience text',
    `alter table apps add column jwt_max_lifetime_s ${integer}`,
  ],
}
