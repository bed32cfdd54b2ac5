import type { Storage } from '../../src/storage/openStorage.ts'
import type { Tables } from '../../src/storage/tables.ts'

// Without the tables that every request changes: last use of sessions and tokens, and usage counters.
const tables = [
  'users',
  'teams',
  'members',
  'memberInvites',
  'apps',
  'removedApps',
  'allowEntries',
  'jwtKeys',
  'keys',
  'factors',
  'recoveryCodes',
  'invites',
  'oneTimeLinks',
  'leftUsers',
  'webhooks',
  'savedFilters',
  'contractErrors',
  'auditLog',
  'changes',
] as const satisfies readonly (keyof Tables)[]

/** A dump of everything stored, except for times of last use. */
export const readStored = async ({ db: { query } }: Storage): Promise<string> => {
  const rows: unknown[] = []
  for (const table of tables) rows.push(await query.selectFrom(table).selectAll().execute())
  rows.push(await query.selectFrom('sessions').select(['sha256', 'userId', 'createdAt']).execute())
  rows.push(
    await query
      .selectFrom('accessTokens')
      .select(['id', 'userId', 'memberId', 'scopes', 'label', 'expiresAt'])
      .execute(),
  )
  // PostgreSQL returns rows in another order after an update.
  return JSON.stringify(rows.map((table) => (table as unknown[]).map((row) => JSON.stringify(row)).sort()))
}
