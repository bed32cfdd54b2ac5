import type { ServerSecret } from '../../lib/secrets/serverSecret.ts'
import type { Invite } from '../../storage/invites.ts'
import type { Repositories } from '../../storage/repositories.ts'
import type { EmailProblem, User } from '../../storage/users.ts'
import { audit } from './accountContext.ts'
import { hashEmail } from './hashEmail.ts'

/**
 * Creates the account of somebody who signs up, and uses up the invite. Call this in a transaction.
 * @param signUp.password - The hash; empty for an account without a password.
 * @param signUp.secrets - The server secrets, newest first.
 * @param signUp.detail - Added to the audit log entry.
 */
export const addSignUp = async (
  within: Repositories,
  {
    invite,
    secrets,
    ip,
    detail,
    ...user
  }: {
    email: string
    password: string
    isVerified: boolean
    invite: Invite | undefined
    secrets: readonly ServerSecret[]
    ip: string
    detail?: Readonly<Record<string, unknown>>
    now: number
  },
): Promise<User | EmailProblem> => {
  const created = await within.users.create(user)
  if (typeof created === 'string') return created
  const { id } = created
  const emailHashes = secrets.map((secret) => hashEmail(user.email, secret))
  await within.leftUsers.restore({ emailHashes, userId: id, now: user.now })
  if (invite !== undefined) await within.invites.remove(invite.id)
  const details = { ...detail, ...(invite === undefined ? {} : { invite: invite.id }) }
  await audit(within, {
    at: user.now,
    userId: id,
    actor: id,
    action: 'account.signUp',
    subject: id,
    ip,
    detail: Object.keys(details).length === 0 ? null : details,
  })
  return created
}
