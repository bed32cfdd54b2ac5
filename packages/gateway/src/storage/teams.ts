import { recordChange } from './changes.ts'
import { createId } from './createId.ts'
import { fromRow, jsonOrNull, toNewRow, toRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { countUsedApps, leavePlaces } from './apps.ts'
import { changeRows, countRows } from './countRows.ts'
import { findSlots, maxApiKeys } from './keys.ts'
import { listSharingTeams, lockLimitGroups } from './limitGroup.ts'
import { inTransaction, lockUser } from './transaction.ts'
import { teamRuleColumns, userColumns } from './tables.ts'
import type { Db } from './tables.ts'
import type { User } from './users.ts'

/** What the owner of a team requires of its members. */
export type TeamRules = RecordOf<typeof teamRuleColumns>

/** The rules of an account whose owner has set none. */
export const noTeamRules: TeamRules = { membersNeedSecondFactor: false }

/** The account of a team. */
export interface Team extends Pick<User, 'id' | 'state' | 'limits' | 'createdAt'>, TeamRules {
  readonly name: string
  /** The id of the user who created it, or of an owner who stayed when that user left the team. */
  readonly createdBy: string
  /** Whether it shares the limits of that user, because an operator has set no others. */
  readonly sharesLimits: boolean
}

/** The accounts of teams. Each has a row of `users` too, which has its state, its limits and the owner of its quota. */
export interface Teams {
  /**
   * Creates a team without members. It shares the limits of the user who creates it.
   * @param team.max - How many teams of this user there may be.
   */
  create(team: { name: string; createdBy: string; max: number; now: number }): Promise<Team | 'teamsFull' | 'notFound'>
  find(id: string): Promise<Team | undefined>
  /**
   * Locks a team until the transaction ends. Call it before any row of `users` is locked: two transactions that lock in different orders would
   * deadlock.
   * @param mode - `shared`: its members and their roles stay the same. `exclusive`: the caller changes them.
   * @returns The team, if there is one.
   */
  lock(id: string, mode: 'shared' | 'exclusive'): Promise<Team | undefined>
  /**
   * Locks teams exclusively, then a user who may leave them and their owners: every row that \`passOn\` locks, so that it can be called for several
   * teams.
   */
  lockAll(ids: readonly string[], userId: string): Promise<void>
  /** Lists the ids of the teams that a user created or is a member of. */
  listIdsOf(userId: string): Promise<readonly string[]>
  /** Lists up to `limit` teams by id, after `after`. */
  list(page: { after?: string; limit: number }): Promise<readonly Team[]>
  /** The number of members of each of these teams. */
  countMembers(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** @returns Whether there is such a team. */
  rename(id: string, name: string): Promise<boolean>
  setRules(id: string, rules: TeamRules): Promise<void>
  /** Gives a team limits of its own, and a quota of its own. @param limits - `null`: it shares those of the user who created it. */
  setLimits(id: string, limits: User['limits']): Promise<boolean>
  /**
   * Makes a team whose creator leaves a team of another owner. If it shares limits, it shares those of that owner from then on, who needs room for
   * its apps and API keys. Otherwise a user could leave team after team, and get a free plan with each new one. Call this in a transaction that has
   * locked the team exclusively.
   * @param left.userId - Who leaves.
   * @param left.by - Who removes that user. Only this owner agrees to share limits. @default nobody
   * @param left.maxApps - How many apps a user may have.
   * @returns Whether its limits changed: then call `recordLimits` as the last step of the transaction. Nothing changed if it is `'notAgreed'`: an
   * owner must remove the user; or `'full'`: the limits of the owner have no room.
   */
  passOn(left: {
    id: string
    userId: string
    by?: string | undefined
    maxApps: number
    now: number
  }): Promise<boolean | 'notAgreed' | 'full'>
  /** Records for the caches that the limits of teams changed. Call this as the last step of a transaction. */
  recordLimits(ids: readonly string[]): Promise<void>
  /** Lists the ids of the teams that share the limits of a user. */
  listSharing(userId: string): Promise<readonly string[]>
  /**
   * Deletes a team and everything that it owns, except the audit log. If it shares limits, the places of its apps stay taken until the end of the UTC
   * day.
   * @returns Whether there was such a team.
   */
  remove(team: { id: string; now: number }): Promise<boolean>
}

/** Copies the limits of a user to a team, and the owner of the quota. */
const share = async ({ query }: Db, id: string, userId: string): Promise<void> => {
  const user = await query
    .selectFrom('users')
    .select(['limits', 'quotaOwner'])
    .where('id', '=', userId)
    .executeTakeFirst()
  await query
    .updateTable('users')
    .set({ limits: user?.limits ?? null, quotaOwner: user?.quotaOwner ?? userId })
    .where('id', '=', id)
    .execute()
}

const passOn = async (
  transaction: Db,
  { id, userId, by, maxApps, now }: Parameters<Teams['passOn']>[0],
): ReturnType<Teams['passOn']> => {
  const { query } = transaction
  const team = await createTeams(transaction).find(id)
  if (team?.createdBy !== userId) return false
  const members = query.selectFrom('members').select('userId').where('accountId', '=', id).where('userId', '!=', userId)
  const rows = await members.where('role', '=', 'owner').orderBy('createdAt').orderBy('userId').execute()
  if (rows.length === 0) return false
  const owners = rows.map((row) => row.userId).filter((owner) => !team.sharesLimits || owner === by)
  if (owners.length === 0) return 'notAgreed'
  const [, ...groups] = (await lockLimitGroups(transaction, [id, ...owners])) ?? []
  const countUsed = async (userIds: readonly string[]) => ({
    apps: await countUsedApps(transaction, { userIds, now }),
    apiKeys: (await findSlots(transaction, userIds)).length,
  })
  const needed = await countUsed([id])
  for (const [index, createdBy] of owners.entries()) {
    const used = await countUsed(groups[index] ?? [createdBy])
    const hasRoom = needed.apps + used.apps <= maxApps && needed.apiKeys + used.apiKeys <= maxApiKeys
    if (team.sharesLimits && !hasRoom) continue
    await query.updateTable('teams').set({ createdBy }).where('id', '=', id).execute()
    if (team.sharesLimits) await share(transaction, id, createdBy)
    return team.sharesLimits
  }
  return 'full'
}

const createTeam = async (
  transaction: Db,
  { name, createdBy, max, now }: Parameters<Teams['create']>[0],
): ReturnType<Teams['create']> => {
  if (!(await lockUser(transaction, createdBy))) return 'notFound'
  const created = transaction.query.selectFrom('teams').where('createdBy', '=', createdBy)
  if ((await countRows(created)) >= max) return 'teamsFull'
  const id = createId('acc')
  await transaction.query
    .insertInto('users')
    .values({
      ...toNewRow(userColumns, { id, email: name, password: '', state: 'active', role: 'user', createdAt: now }),
      // No email address, so it is nobody's.
      emailFolded: id,
      quotaOwner: null,
    })
    .execute()
  await transaction.query
    .insertInto('teams')
    .values({ id, createdBy, ...toNewRow(teamRuleColumns, {}) })
    .execute()
  await share(transaction, id, createdBy)
  return (await createTeams(transaction).find(id)) ?? 'notFound'
}

const setLimits = async (transaction: Db, id: string, limits: User['limits']): Promise<boolean> => {
  const team = await createTeams(transaction).lock(id, 'exclusive')
  if (team === undefined) return false
  if (limits === null) await share(transaction, id, team.createdBy)
  else
    await transaction.query
      .updateTable('users')
      .set({ limits: jsonOrNull.write(limits), quotaOwner: null })
      .where('id', '=', id)
      .execute()
  await recordChange(transaction, { kind: 'user', id })
  return true
}

const removeTeam = async (transaction: Db, { id, now }: { id: string; now: number }): Promise<boolean> => {
  await lockLimitGroups(transaction, [id])
  const team = await createTeams(transaction).find(id)
  if (team === undefined) return false
  const count = await countUsedApps(transaction, { userIds: [id], now })
  // An instance of the version before may have deleted the creator.
  if (team.sharesLimits && (await lockUser(transaction, team.createdBy)))
    await leavePlaces(transaction, { count, userId: team.createdBy, now })
  await transaction.query.deleteFrom('users').where('id', '=', id).execute()
  await recordChange(transaction, { kind: 'user', id })
  return true
}

/** Creates the repository of teams. */
export const createTeams = (db: Db): Teams => {
  const { query } = db
  const select = () =>
    query
      .selectFrom('teams')
      .innerJoin('users', 'users.id', 'teams.id')
      .select(['teams.id', 'users.email', 'users.state', 'users.limits', 'users.quotaOwner'])
      .select(['users.createdAt', 'teams.createdBy', 'teams.membersNeedSecondFactor'])

  const toTeam = (row: Awaited<ReturnType<ReturnType<typeof select>['execute']>>[number]): Team => ({
    id: row.id,
    name: row.email,
    state: row.state,
    limits: jsonOrNull.read(row.limits),
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    sharesLimits: row.quotaOwner !== null,
    ...fromRow(teamRuleColumns, row),
  })

  const find = async (id: string): Promise<Team | undefined> => {
    const row = await select().where('teams.id', '=', id).executeTakeFirst()
    return row && toTeam(row)
  }

  const lock: Teams['lock'] = async (id, mode) => {
    const team = query.selectFrom('teams').select('id').where('id', '=', id)
    if (db.kind === 'postgres') await (mode === 'shared' ? team.forShare() : team.forUpdate()).execute()
    return find(id)
  }

  return {
    create: (team) => inTransaction(db, (transaction) => createTeam(transaction, team)),
    find,
    lock,
    lockAll: async (ids, userId) => {
      const known: string[] = []
      for (const id of ids.toSorted()) if ((await lock(id, 'exclusive')) !== undefined) known.push(id)
      const owners = query.selectFrom('members').select('userId').where('role', '=', 'owner')
      const rows = known.length === 0 ? [] : await owners.where('accountId', 'in', known).execute()
      await lockLimitGroups(db, [...new Set([userId, ...known, ...rows.map((row) => row.userId)])])
    },
    listIdsOf: async (userId) => {
      const joined = query.selectFrom('members').select('accountId').where('userId', '=', userId)
      const rows = await query
        .selectFrom('teams')
        .select('id')
        .where((row) => row.or([row('createdBy', '=', userId), row('id', 'in', joined)]))
        .orderBy('id')
        .execute()
      return rows.map(({ id }) => id)
    },
    list: async ({ after = '', limit }) => {
      const page = select().where('teams.id', '>', after).orderBy('teams.id').limit(limit)
      return (await page.execute()).map(toTeam)
    },
    countMembers: async (ids) => {
      if (ids.length === 0) return new Map()
      const rows = await query
        .selectFrom('members')
        .select(({ fn }) => ['accountId', fn.countAll<number>().as('total')])
        .where('accountId', 'in', ids)
        .groupBy('accountId')
        .execute()
      return new Map(rows.map(({ accountId, total }) => [accountId, total]))
    },
    rename: async (id, name) => {
      const team = query.selectFrom('teams').select('id').where('id', '=', id)
      return (await changeRows(query.updateTable('users').set({ email: name }).where('id', 'in', team))) > 0
    },
    setRules: async (id, rules) => {
      await query.updateTable('teams').set(toRow(teamRuleColumns, rules)).where('id', '=', id).execute()
    },
    setLimits: (id, limits) => inTransaction(db, (transaction) => setLimits(transaction, id, limits)),
    passOn: (left) => inTransaction(db, (transaction) => passOn(transaction, left)),
    recordLimits: async (ids) => {
      for (const id of ids) await recordChange(db, { kind: 'user', id })
    },
    listSharing: (userId) => listSharingTeams(db, userId),
    remove: (team) => inTransaction(db, (transaction) => removeTeam(transaction, team)),
  }
}
