import type { Migration } from './migration.ts'

/** Indexes for the filters of the audit log. */
export const auditIndexes: Migration = {
  version: 18,
  statements: () => [
    'create index audit_log_actor on audit_log (actor, id)',
    'create index audit_log_subject on audit_log (subject, id)',
  ],
}
