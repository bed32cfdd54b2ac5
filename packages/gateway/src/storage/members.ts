import type { Selectable } from 'kysely'
import { createId } from './createId.ts'
import { fromRow, toNewRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { toHashBytes } from './columnValues.ts'
import { changeRows } from './countRows.ts'
import { isSameEmail } from './emailIdentity.ts'
import { listSharingTeams } from './limitGroup.ts'
import { memberColumns, memberInviteColumns, memberRoles } from './tables.ts'
import type { Db, MemberRole, Tables } from './tables.ts'

/** A user's role in a team. */
export type Member = RecordOf<typeof memberColumns>

/** Permission to join a team once, with the secret that is stored by its hash. */
export type MemberInvite = RecordOf<typeof memberInviteColumns>

type MemberId = Pick<Member, 'accountId' | 'userId'>

/** The members of teams, and invites to them. Call the functions that change something in a transaction that has locked the team exclusively. */
export interface Members {
  find(member: MemberId): Promise<Member | undefined>
  /** Lists the members of a team with their email addresses, in the order in which they joined. */
  list(accountId: string): Promise<readonly (Member & { readonly email: string })[]>
  /** Lists the teams of a user, in the order in which the user joined. */
  listByUser(userId: string): Promise<readonly Member[]>
  /** Lists the names of the teams of which a user is the last owner. */
  listOwnedAlone(userId: string): Promise<readonly string[]>
  /** @param member.byGroup - Whether a group at the OpenID Connect provider gives the role. @default false */
  add(member: MemberId & { role: MemberRole; byGroup?: boolean; now: number }): Promise<void>
  /**
   * Changes the role of a member. A member who gets a less powerful role loses the open invites to the team, which may give more.
   * @returns `'lastOwner'` if the team would have no owner. `'creator'` if the team shares the limits of this owner, who could then neither leave
   * nor delete the team.
   */
  setRole(member: MemberId & { role: MemberRole }): Promise<Member | 'lastOwner' | 'creator' | 'notFound'>
  /** Removes a member, with the member's access tokens for the team and invites to it. @returns The member, or `'lastOwner'`. */
  remove(member: MemberId): Promise<Member | 'lastOwner' | 'notFound'>
  createInvite(invite: Omit<MemberInvite, 'id' | 'createdAt'> & { hash: string; now: number }): Promise<MemberInvite>
  findInvite(hash: string): Promise<MemberInvite | undefined>
  /** Lists the invites to a team that expire after `now`, the newest first. */
  listInvites(page: { accountId: string; now: number }): Promise<readonly MemberInvite[]>
  /** @returns Whether the team had this invite. */
  removeInvite(invite: { id: string; accountId: string }): Promise<boolean>
  /** Removes all invites of a team to an email address: a member who was removed must not come back with another one. */
  removeInvitesTo(user: { accountId: string; email: string }): Promise<void>
  /** Deletes up to `limit` expired invites. @returns How many. */
  pruneInvites(options: { now: number; limit: number }): Promise<number>
}

const toMember = (row: Selectable<Tables['members']>): Member => fromRow(memberColumns, row)
const toInvite = (row: Selectable<Tables['memberInvites']>): MemberInvite => fromRow(memberInviteColumns, row)

const createMemberInvites = ({
  query,
}: Db): Pick<
  Members,
  'createInvite' | 'findInvite' | 'listInvites' | 'removeInvite' | 'removeInvitesTo' | 'pruneInvites'
> => ({
  createInvite: async ({ hash, now, ...invite }) => {
    const row = await query
      .insertInto('memberInvites')
      .values({
        ...toNewRow(memberInviteColumns, { ...invite, id: createId('inv'), createdAt: now }),
        sha256: toHashBytes(hash),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return toInvite(row)
  },
  findInvite: async (hash) => {
    const row = await query
      .selectFrom('memberInvites')
      .selectAll()
      .where('sha256', '=', toHashBytes(hash))
      .executeTakeFirst()
    return row && toInvite(row)
  },
  listInvites: async ({ accountId, now }) => {
    const open = query.selectFrom('memberInvites').selectAll().where('accountId', '=', accountId)
    const rows = await open.where('expiresAt', '>', now).orderBy('createdAt', 'desc').orderBy('id').execute()
    return rows.map(toInvite)
  },
  removeInvite: async ({ id, accountId }) =>
    (await changeRows(query.deleteFrom('memberInvites').where('id', '=', id).where('accountId', '=', accountId))) > 0,
  removeInvitesTo: async ({ accountId, email }) => {
    const invites = query.selectFrom('memberInvites').select(['id', 'email']).where('accountId', '=', accountId)
    const ids = (await invites.execute()).filter((one) => isSameEmail(one.email, email)).map(({ id }) => id)
    if (ids.length > 0) await query.deleteFrom('memberInvites').where('id', 'in', ids).execute()
  },
  pruneInvites: async ({ now, limit }) => {
    const expired = query.selectFrom('memberInvites').select('id').where('expiresAt', '<=', now).limit(limit)
    return changeRows(query.deleteFrom('memberInvites').where('id', 'in', expired))
  },
})

/** Creates the repository of members. */
export const createMembers = (db: Db): Members => {
  const { query } = db
  const find = async ({ accountId, userId }: MemberId): Promise<Member | undefined> => {
    const one = query.selectFrom('members').selectAll().where('accountId', '=', accountId).where('userId', '=', userId)
    const row = await one.executeTakeFirst()
    return row && toMember(row)
  }

  const isLastOwner = async ({ accountId, role }: Member): Promise<boolean> => {
    if (role !== 'owner') return false
    const owners = query.selectFrom('members').select('userId').where('accountId', '=', accountId)
    return (await owners.where('role', '=', 'owner').limit(2).execute()).length < 2
  }

  const removeInvitesOf = async ({ accountId, userId }: MemberId): Promise<void> => {
    await query.deleteFrom('memberInvites').where('accountId', '=', accountId).where('createdBy', '=', userId).execute()
  }

  const isSharingCreator = async ({ accountId, userId, role }: Member): Promise<boolean> =>
    role === 'owner' && (await listSharingTeams(db, userId)).includes(accountId)

  return {
    find,
    list: async (accountId) => {
      const rows = await query
        .selectFrom('members')
        .innerJoin('users', 'users.id', 'members.userId')
        .selectAll('members')
        .select('users.email')
        .where('members.accountId', '=', accountId)
        .orderBy('members.createdAt')
        .orderBy('members.userId')
        .execute()
      return rows.map(({ email, ...row }) => ({ ...toMember(row), email }))
    },
    listByUser: async (userId) => {
      const all = query.selectFrom('members').selectAll().where('userId', '=', userId)
      return (await all.orderBy('createdAt').orderBy('accountId').execute()).map(toMember)
    },
    listOwnedAlone: async (userId) => {
      const others = query.selectFrom('members').select('accountId').where('role', '=', 'owner')
      const rows = await query
        .selectFrom('members')
        .innerJoin('users', 'users.id', 'members.accountId')
        .select('users.email')
        .where('members.userId', '=', userId)
        .where('members.role', '=', 'owner')
        .where('members.accountId', 'not in', others.where('userId', '!=', userId))
        .orderBy('members.accountId')
        .execute()
      return rows.map(({ email }) => email)
    },
    add: async ({ now, ...member }) => {
      await query
        .insertInto('members')
        .values(toNewRow(memberColumns, { ...member, createdAt: now }))
        .execute()
    },
    setRole: async ({ role, accountId, userId }) => {
      const member = await find({ accountId, userId })
      if (member === undefined) return 'notFound'
      if (role !== 'owner' && (await isLastOwner(member))) return 'lastOwner'
      if (role !== 'owner' && (await isSharingCreator(member))) return 'creator'
      if (memberRoles.indexOf(role) > memberRoles.indexOf(member.role)) await removeInvitesOf(member)
      await query
        .updateTable('members')
        .set({ role })
        .where('accountId', '=', accountId)
        .where('userId', '=', userId)
        .execute()
      return { ...member, role }
    },
    remove: async ({ accountId, userId }) => {
      const member = await find({ accountId, userId })
      if (member === undefined) return 'notFound'
      if (await isLastOwner(member)) return 'lastOwner'
      await removeInvitesOf(member)
      await query.deleteFrom('accessTokens').where('userId', '=', accountId).where('memberId', '=', userId).execute()
      await query.deleteFrom('members').where('accountId', '=', accountId).where('userId', '=', userId).execute()
      return member
    },
    ...createMemberInvites(db),
  }
}
