import { fromJson, toJson } from './columnValues.ts'
import type { Db } from './tables.ts'

/** An action on an account or a key. The caller must not pass secrets. */
export interface AuditEntry {
  readonly at: number
  /** The account that is affected, if any. */
  readonly userId: string | null
  /** The author: the id of a user, or a name such as `operator`. */
  readonly actor: string
  /** For example `key.revoke`. */
  readonly action: string
  /** The id of the object that was affected. */
  readonly subject: string | null
  readonly ip: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
}

/** The audit log. Entries are added and never changed; old entries are pruned. */
export interface AuditLog {
  add(entry: AuditEntry): Promise<void>
  /**
   * Lists entries, the newest first.
   * @param page.userId - Only entries about this account.
   * @param page.before - Only entries that were added before the entry with this id.
   * @param page.action - Only entries of an action, such as `key.revoke`, or of a group of actions, such as `key`.
   * @param page.from - Only entries from this time on.
   * @param page.to - Only entries before this time.
   */
  list(page: {
    userId?: string
    before?: number
    action?: string
    from?: number
    to?: number
    limit: number
  }): Promise<readonly (AuditEntry & { readonly id: number })[]>
  /** Removes entries from before a time, among the `limit` oldest entries. @returns How many. */
  prune(options: { before: number; limit: number }): Promise<number>
}

/** Creates the audit log. */
export const createAuditLog = ({ query }: Db): AuditLog => ({
  add: async ({ at, userId, actor, action, subject, ip, detail }) => {
    await query
      .insertInto('auditLog')
      .values({ at, userId, actor, action, subject, ip, detail: toJson(detail) })
      .execute()
  },
  list: async ({ userId, before, action, from, to, limit }) => {
    let page = query.selectFrom('auditLog').selectAll().orderBy('id', 'desc').limit(limit)
    if (userId !== undefined) page = page.where('userId', '=', userId)
    if (before !== undefined) page = page.where('id', '<', before)
    if (action !== undefined)
      page = page.where((row) => row.or([row('action', '=', action), row('action', 'like', `${action}.%`)]))
    if (from !== undefined) page = page.where('at', '>=', from)
    if (to !== undefined) page = page.where('at', '<', to)
    const rows = await page.execute()
    return rows.map(({ detail, ...entry }) => ({ ...entry, detail: fromJson(detail) }))
  },
  prune: async ({ before, limit }) => {
    // Selected by id, which increases with time, because there is no index by time.
    const oldest = query.selectFrom('auditLog').select('id').orderBy('id').limit(limit)
    const { numDeletedRows } = await query
      .deleteFrom('auditLog')
      .where('id', 'in', oldest)
      .where('at', '<', before)
      .executeTakeFirst()
    return Number(numDeletedRows)
  },
})
