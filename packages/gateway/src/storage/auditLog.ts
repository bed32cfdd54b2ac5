import { fromRow, toNewRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { auditColumns } from './tables.ts'
import { changeRows } from './countRows.ts'
import type { Db } from './tables.ts'

/** An action on an account or a key. The caller must not pass secrets. */
export type AuditEntry = RecordOf<typeof auditColumns>

/** The audit log. Entries are added and never changed; old entries are pruned. */
export interface AuditLog {
  add(entry: AuditEntry): Promise<void>
  /**
   * Lists entries, the newest first.
   * @param page.userId - Only entries about this account.
   * @param page.actor - Only entries by this author.
   * @param page.subject - Only entries about this object.
   * @param page.before - Only entries that were added before the entry with this id.
   * @param page.action - Only entries of an action, such as `key.revoke`, or of a group of actions, such as `key`.
   * @param page.without - No entries of these actions.
   * @param page.from - Only entries from this time on.
   * @param page.to - Only entries before this time.
   * @param page.newest - Only those of so many newest entries, so that filters do not read all.
   */
  list(page: {
    userId?: string
    actor?: string
    subject?: string
    before?: number
    action?: string
    without?: readonly string[]
    from?: number
    to?: number
    newest?: number
    limit: number
  }): Promise<readonly (AuditEntry & { readonly id: number })[]>
  /**
   * Finds the names of the objects and authors of entries: the email address of a user or an invite, the name of a team, an app or a key, the label
   * of an access token, and the host of a webhook. Deleted records have no name.
   * @param options.ownerId - Only names of this account, of its members and of what it owns.
   */
  findNames(ids: readonly string[], options?: { ownerId?: string | undefined }): Promise<ReadonlyMap<string, string>>
  /** Removes entries from before a time, among the `limit` oldest entries. @returns How many. */
  prune(options: { before: number; limit: number }): Promise<number>
}

interface NameRow {
  readonly id: string
  readonly name: string | null
  readonly owner: string | null
}

const findAccounts = (query: Db['query'], ids: readonly string[]): Promise<readonly NameRow[]> =>
  query.selectFrom('users').select(['id', 'email as name', 'id as owner']).where('id', 'in', ids).execute()

/** How the name of an object is found, by the prefix of its id. An account sees the names of its members. */
const nameQueries: Readonly<
  Record<string, (query: Db['query'], ids: readonly string[], accountId?: string) => Promise<readonly NameRow[]>>
> = {
  usr: async (query, ids, accountId) => [
    ...(await findAccounts(query, ids)),
    ...(accountId === undefined
      ? []
      : await query
          .selectFrom('members')
          .innerJoin('users', 'users.id', 'members.userId')
          .select(['users.id', 'users.email as name', 'members.accountId as owner'])
          .where('members.accountId', '=', accountId)
          .where('users.id', 'in', ids)
          .execute()),
  ],
  acc: (query, ids) => findAccounts(query, ids),
  app: (query, ids) =>
    query.selectFrom('apps').select(['id', 'name', 'userId as owner']).where('id', 'in', ids).execute(),
  key: (query, ids) =>
    query
      .selectFrom('keys')
      .leftJoin('apps', 'apps.id', 'keys.appId')
      .select(['keys.id', 'keys.userId as owner'])
      // The key of an app has no name of its own.
      .select(({ fn, ref }) => fn.coalesce(ref('apps.name'), ref('keys.name')).as('name'))
      .where('keys.id', 'in', ids)
      .execute(),
  tok: async (query, ids) => {
    const rows = await query
      .selectFrom('accessTokens')
      .leftJoin('users', 'users.id', 'accessTokens.memberId')
      .select(['accessTokens.id', 'accessTokens.label', 'accessTokens.userId as owner', 'users.email'])
      .where('accessTokens.id', 'in', ids)
      .execute()
    // A team sees whose token it is.
    return rows.map(({ id, label, owner, email }) => ({
      id,
      owner,
      name: email === null ? label : `${label} (${email})`,
    }))
  },
  inv: async (query, ids) => [
    ...(await query
      .selectFrom('memberInvites')
      .select(['id', 'email as name', 'accountId as owner'])
      .where('id', 'in', ids)
      .execute()),
    ...(await query
      .selectFrom('invites')
      .select(['id', 'email as name', 'createdBy as owner'])
      .where('id', 'in', ids)
      .execute()),
  ],
  whk: async (query, ids) => {
    const webhooks = query.selectFrom('webhooks').select(['id', 'url', 'userId as owner']).where('id', 'in', ids)
    // The path of a webhook's URL may be a secret.
    return (await webhooks.execute()).map(({ id, url, owner }) => ({ id, owner, name: new URL(url).host }))
  },
}

/** Creates the audit log. */
export const createAuditLog = ({ query }: Db): AuditLog => ({
  add: async (entry) => {
    await query.insertInto('auditLog').values(toNewRow(auditColumns, entry)).execute()
  },
  list: async ({ userId, actor, subject, before, action, without = [], from, to, newest, limit }) => {
    let page = query.selectFrom('auditLog').selectAll().orderBy('id', 'desc').limit(limit)
    if (userId !== undefined) page = page.where('userId', '=', userId)
    if (actor !== undefined) page = page.where('actor', '=', actor)
    if (subject !== undefined) page = page.where('subject', '=', subject)
    if (before !== undefined) page = page.where('id', '<', before)
    if (action !== undefined)
      page = page.where((row) => row.or([row('action', '=', action), row('action', 'like', `${action}.%`)]))
    if (without.length > 0) page = page.where('action', 'not in', without)
    if (from !== undefined) page = page.where('at', '>=', from)
    if (to !== undefined) page = page.where('at', '<', to)
    if (newest !== undefined) {
      const last = query.selectFrom('auditLog').select(({ fn }) => fn.max('id').as('id'))
      const { id } = await last.executeTakeFirstOrThrow()
      page = page.where('id', '>', Number(id ?? 0) - newest)
    }
    const rows = await page.execute()
    return rows.map((row) => ({ id: row.id, ...fromRow(auditColumns, row) }))
  },
  findNames: async (ids, { ownerId } = {}) => {
    const names = new Map<string, string>()
    for (const [kind, findNames] of Object.entries(nameQueries)) {
      const ofKind = [...new Set(ids.filter((id) => id.startsWith(`${kind}_`)))]
      if (ofKind.length === 0) continue
      for (const { id, name, owner } of await findNames(query, ofKind, ownerId))
        if (name !== null && name !== '' && (ownerId === undefined || owner === ownerId)) names.set(id, name)
    }
    return names
  },
  prune: async ({ before, limit }) => {
    // Selected by id, which increases with time, because there is no index by time.
    const oldest = query.selectFrom('auditLog').select('id').orderBy('id').limit(limit)
    return changeRows(query.deleteFrom('auditLog').where('id', 'in', oldest).where('at', '<', before))
  },
})
