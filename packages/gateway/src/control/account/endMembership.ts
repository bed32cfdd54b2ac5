import type { Repositories } from '../../storage/repositories.ts'
import { audit } from './accountContext.ts'
import type { AccountContext } from './accountContext.ts'
import type { AccountError } from './accountError.ts'
import { teamErrors } from './teamErrors.ts'

/**
 * Ends a membership in a transaction that has locked the team exclusively. The audit log keeps the email address, which the team no longer sees.
 * @param ended.by - The user who acts, in person: if the team shares the limits of the member, it shares those of this owner from then on.
 * @param ended.action - `member.leave` or `member.remove`.
 * @returns The ids of teams whose limits changed, for `recordLimits`. Or an error, and nothing changed.
 */
export const endMembership = async (
  { maxApps, now }: Pick<AccountContext, 'maxApps' | 'now'>,
  within: Repositories,
  {
    accountId,
    userId,
    by,
    actor,
    action,
    ip,
    detail = {},
  }: {
    readonly accountId: string
    readonly userId: string
    readonly by?: string | undefined
    readonly actor: string
    readonly action: 'member.leave' | 'member.remove'
    readonly ip: string | undefined
    readonly detail?: Readonly<Record<string, unknown>>
  },
): Promise<readonly string[] | AccountError> => {
  const at = now()
  const { users, teams, members } = within
  const email = (await users.find(userId))?.email
  // Changes nothing if this is the last owner, whom `remove` rejects.
  const passed = await teams.passOn({ id: accountId, userId, by, maxApps: maxApps(), now: at })
  const team = await teams.find(accountId)
  if (passed === 'full') return teamErrors.limitsFull(team?.name ?? '')
  if (passed === 'notAgreed')
    return action === 'member.leave' || by === userId
      ? teamErrors.sharesOwnLimits(team?.name ?? '')
      : teamErrors.ownersOnly()
  const removed = await members.remove({ accountId, userId })
  if (removed === 'notFound') return teamErrors.unknownMember()
  if (removed === 'lastOwner') return teamErrors.lastOwner()
  if (email !== undefined) await members.removeInvitesTo({ accountId, email })
  await audit(within, {
    at,
    userId: accountId,
    actor,
    action,
    subject: userId,
    ip,
    detail: {
      role: removed.role,
      ...(email === undefined ? {} : { email }),
      ...(passed ? { limitsOf: team?.createdBy } : {}),
      ...detail,
    },
  })
  return passed ? [accountId] : []
}
