import { isSameEmail } from '../../storage/emailIdentity.ts'
import type { Invite } from '../../storage/invites.ts'
import type { Repositories } from '../../storage/repositories.ts'
import { accountErrors } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import { hashSecret, isSecretText } from './secretText.ts'

/**
 * Finds the invite with which somebody signs up.
 * @param request.invite - The invite's secret.
 * @param request.now - Milliseconds since 1970.
 * @returns The invite, or an error if it is missing, used, expired, or for another email address.
 */
export const findInvite = async (
  { invites }: Pick<Repositories, 'invites'>,
  { invite, email, now }: { invite: string | undefined; email: string; now: number },
): Promise<Invite | AccountError> => {
  if (invite === undefined || invite === '')
    return {
      status: 403,
      code: 'invite_required',
      message: 'Sign-up needs an invite. Ask the operator of this service for one.',
      field: 'invite',
    }
  const found = isSecretText('invite', invite) ? await invites.find(hashSecret(invite)) : undefined
  const isValid =
    found !== undefined && found.expiresAt > now && (found.email === null || isSameEmail(found.email, email))
  return isValid ? found : accountErrors.invite()
}
