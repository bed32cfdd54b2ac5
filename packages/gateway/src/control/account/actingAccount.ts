import type { Repositories } from '../../storage/repositories.ts'
import { noTeamRules } from '../../storage/teams.ts'
import type { TeamRules } from '../../storage/teams.ts'
import type { MemberRole } from '../../storage/tables.ts'
import type { Account } from './account.ts'
import type { Viewer } from './viewer.ts'

/** The account that a request acts for. */
export interface ActingAccount extends Pick<Account, 'id' | 'state' | 'limits' | 'createdAt'>, TeamRules {
  readonly kind: 'personal' | 'team'
  /** The email address of the user, or the name of the team. */
  readonly name: string
  /** The caller's role. */
  readonly role: MemberRole
}

/** The personal account of a user, whose id is the user's. */
export const toPersonalAccount = ({ id, email, state, limits, createdAt }: Account): ActingAccount => ({
  id,
  kind: 'personal',
  name: email,
  role: 'owner',
  state,
  limits,
  createdAt,
  ...noTeamRules,
})

/** Finds the team of a member. */
export const findTeamAccount = async (
  { teams, members }: Pick<Repositories, 'teams' | 'members'>,
  member: { readonly accountId: string; readonly userId: string },
): Promise<ActingAccount | undefined> => {
  const found = await members.find(member)
  const team = found && (await teams.find(found.accountId))
  return found && team && { ...team, kind: 'team', role: found.role }
}

/**
 * Finds the account that a request acts for, and the caller's role in it.
 * @param accountId - The account that the request names. @default that of the access token, or the personal one
 * @returns `undefined` if the caller is no member of it, or the access token belongs to another account.
 */
export const findActingAccount = async (
  repositories: Pick<Repositories, 'teams' | 'members'>,
  { user, accountId: tokenAccount }: Viewer,
  accountId: string = tokenAccount ?? user.id,
): Promise<ActingAccount | undefined> => {
  if (tokenAccount !== undefined && tokenAccount !== accountId) return undefined
  return accountId === user.id ? toPersonalAccount(user) : findTeamAccount(repositories, { accountId, userId: user.id })
}
