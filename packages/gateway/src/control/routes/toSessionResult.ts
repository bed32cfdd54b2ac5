import { accountErrors, isAccountError } from '../account/accountError.ts'
import type { AccountError } from '../account/accountError.ts'
import type { LoggedIn, PendingLogIn } from '../account/accounts.ts'
import { createCookie } from '../account/sessionCookie.ts'
import { isPending } from '../account/startSession.ts'
import { apiErrors } from '../apiErrors.ts'
import type { SessionView } from '../contract/controlApi.d.ts'
import type { Caller, ControlParts, HandlerResult } from '../route.ts'
import { toSessionView } from '../views/toSessionView.ts'

/** The response to a log-in: a session, or the error that asks for a second factor. Both set a cookie. */
export const toSessionResult = (
  result: LoggedIn | PendingLogIn | AccountError,
  { secure }: Pick<Caller, 'secure'>,
  { config }: Pick<ControlParts, 'config'>,
): HandlerResult<SessionView> => {
  if (isAccountError(result)) return { error: apiErrors.fromAccountError(result) }
  const { expiresAt } = result
  if (isPending(result))
    return {
      error: apiErrors.fromAccountError(accountErrors.secondFactorRequired()),
      cookie: createCookie('log-in', result.pending, { secure, expiresAt }),
    }
  return {
    response: toSessionView(result.viewer, config()),
    cookie: createCookie('session', result.token, { secure, expiresAt }),
  }
}
