import type { Repositories } from '../../storage/repositories.ts'
import type { Account } from './account.ts'
import type { AccountContext } from './accountContext.ts'
import type { AccountError } from './accountError.ts'
import { endMembership } from './endMembership.ts'
import { teamErrors } from './teamErrors.ts'

/**
 * Ends the memberships of a user who is about to be deleted. Call it before the transaction locks anything, and roll it back after an error.
 * @returns The ids of the teams whose limits changed, for `recordLimits`. An error if the user is the last owner of a team, or if a
 * team with other owners shares the user's limits.
 */
export const leaveTeams = async (
  context: Pick<AccountContext, 'maxApps' | 'now'>,
  within: Repositories,
  { id: userId }: Pick<Account, 'id'>,
  ip: string | undefined,
): Promise<readonly string[] | AccountError> => {
  const { teams, members } = within
  await teams.lockAll(await teams.listIdsOf(userId), userId)
  const names = await members.listOwnedAlone(userId)
  if (names.length > 0) return teamErrors.lastOwnerOf(names)
  const changed: string[] = []
  for (const { accountId } of await members.listByUser(userId)) {
    const ended = await endMembership(context, within, { accountId, userId, actor: userId, action: 'member.leave', ip })
    if ('code' in ended) return ended
    changed.push(...ended)
  }
  return changed
}
