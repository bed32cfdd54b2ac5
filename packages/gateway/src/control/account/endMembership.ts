import type { Repositories } from '../../storage/repositories.ts'
import { audit } from './accountContext.ts'
import type { AccountContext } from './accountContext.ts'
import type { AccountError } from './accountError.ts'
import { teamErrors } from './teamErrors.ts'

/**
 * Ends a membership in a transaction that has locked the team exclusively. The audit log keeps the email address, which the team no longer sees.
 * @param ended.action - `member.leave` or `member.remove`.
 * @returns The ids of teams whose limits changed, for `recordLimits`. Or an error, and nothing changed.
 */
export const endMembership = async (
  { maxApps, now }: Pick<AccountContext, 'maxApps' | 'now'>,
  within: Repositories,
  {
    accountId,
    userId,
    actor,
    action,
    ip,
    detail = {},
  }: {
    readonly accountId: string
    readonly userId: string
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
  const passed = await teams.passOn({ id: accountId, userId, maxApps: maxApps(), now: at })
  if (passed === 'full') return teamErrors.limitsFull((await teams.find(accountId))?.name ?? '')
  const removed = await members.remove({ accountId, userId })
  if (removed === 'notFound') return teamErrors.unknownMember()
  if (removed === 'lastOwner') return teamErrors.lastOwner()
  await audit(within, {
    at,
    userId: accountId,
    actor,
    action,
    subject: userId,
    ip,
    detail: { role: removed.role, ...(email === undefined ? {} : { email }), ...detail },
  })
  return passed ? [accountId] : []
}
