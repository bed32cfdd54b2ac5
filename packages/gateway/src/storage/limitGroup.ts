import { lockUser } from './transaction.ts'
import type { Db } from './tables.ts'

/** The account whose limits an account shares: that of the user who created the team, unless the team has limits of its own. */
const findSharedWith = async ({ query }: Db, accountId: string): Promise<string> => {
  const team = await query
    .selectFrom('teams')
    .innerJoin('users', 'users.id', 'teams.id')
    .select('teams.createdBy')
    .where('teams.id', '=', accountId)
    .where('users.quotaOwner', 'is not', null)
    .executeTakeFirst()
  return team?.createdBy ?? accountId
}

/** Lists the ids of the teams that share the limits of the user who created them. */
export const listSharingTeams = async ({ query }: Db, userId: string): Promise<readonly string[]> => {
  const rows = await query
    .selectFrom('teams')
    .innerJoin('users', 'users.id', 'teams.id')
    .select('teams.id')
    .where('teams.createdBy', '=', userId)
    .where('users.quotaOwner', 'is not', null)
    .orderBy('teams.id')
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Lists the ids of all accounts that share their limits with an account, itself included: those of a user and of the teams that the user created.
 * Otherwise each new team would be another free plan.
 */
export const listLimitGroup = async (db: Db, accountId: string): Promise<readonly string[]> => {
  const owner = await findSharedWith(db, accountId)
  return [...new Set([accountId, owner, ...(await listSharingTeams(db, owner))])]
}

/**
 * Locks the limits of accounts until the transaction ends, so that counts of apps and keys stay correct in all accounts that share them.
 * @returns For each account, the ids of those that share its limits; `undefined` if one of the accounts does not exist.
 */
export const lockLimitGroups = async (
  transaction: Db,
  accountIds: readonly string[],
): Promise<readonly (readonly string[])[] | undefined> => {
  const rows = new Set(accountIds)
  for (const id of accountIds) rows.add(await findSharedWith(transaction, id))
  // In one order, users before their teams: two transactions that lock two rows in different orders would deadlock.
  for (const id of [...rows].toSorted().toReversed())
    if (!(await lockUser(transaction, id)) && accountIds.includes(id)) return undefined
  const groups: (readonly string[])[] = []
  for (const id of accountIds) groups.push(await listLimitGroup(transaction, id))
  return groups
}
