import { fromJson, toJson } from './jsonObject.ts'
import type { Db } from './tables.ts'

/** Something that was done to an account or a key. Holds no secrets: who writes one sees to that. */
export interface AuditEntry {
  readonly at: number
  /** The account that it concerns, if one. */
  readonly userId: string | null
  /** Who did it: a user's id, or such as `operator`. */
  readonly actor: string
  /** What, such as `key.revoke`. */
  readonly action: string
  /** The id of what it was done to. */
  readonly subject: string | null
  readonly ip: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
}

/** The audit log: is added to, and never changed; what is old enough is let go. */
export interface AuditLog {
  add(entry: AuditEntry): Promise<void>
  /**
   * The newest first.
   * @param page.userId - Only what concerns this account.
   * @param page.before - Only what was added before the entry of this id.
   */
  list(page: {
    userId?: string
    before?: number
    limit: number
  }): Promise<readonly (AuditEntry & { readonly id: number })[]>
  /** Removes what was done before a time, of the `limit` oldest entries at most. @returns How many there were. */
  prune(options: { before: number; limit: number }): Promise<number>
}

/** Makes the audit log. */
export const createAuditLog = ({ query }: Db): AuditLog => ({
  add: async ({ at, userId, actor, action, subject, ip, detail }) => {
    await query
      .insertInto('auditLog')
      .values({ at, userId, actor, action, subject, ip, detail: toJson(detail) })
      .execute()
  },
  list: async ({ userId, before, limit }) => {
    let page = query.selectFrom('auditLog').selectAll().orderBy('id', 'desc').limit(limit)
    if (userId !== undefined) page = page.where('userId', '=', userId)
    if (before !== undefined) page = page.where('id', '<', before)
    const rows = await page.execute()
    return rows.map(({ detail, ...entry }) => ({ ...entry, detail: fromJson(detail) }))
  },
  prune: async ({ before, limit }) => {
    // Found by the id, which grows with time: there is no index by time to look in.
    const oldest = query.selectFrom('auditLog').select('id').orderBy('id').limit(limit)
    const { numDeletedRows } = await query
      .deleteFrom('auditLog')
      .where('id', 'in', oldest)
      .where('at', '<', before)
      .executeTakeFirst()
    return Number(numDeletedRows)
  },
})
