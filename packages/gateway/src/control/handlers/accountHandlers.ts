import { isAccountError } from '../account/accountError.ts'
import type { AccountError } from '../account/accountError.ts'
import type { LoggedIn } from '../account/accounts.ts'
import { endedCookie, sessionCookie } from '../account/sessionCookie.ts'
import type { SessionView } from '../contract/account.ts'
import { apiErrors } from '../apiErrors.ts'
import { viewerOf } from '../handler.ts'
import type { Caller, ControlParts, Handlers } from '../handler.ts'
import type { Reply } from '../reply.ts'
import { toAccountView, toSessionView } from '../views/toSessionView.ts'

const loggedIn = (result: LoggedIn | AccountError, { secure }: Caller): Reply<SessionView> =>
  isAccountError(result)
    ? { rejection: apiErrors.ofAccount(result) }
    : {
        answer: toSessionView(result.viewer),
        cookie: sessionCookie(result.token, { secure, expiresAt: result.expiresAt }),
      }

const originOf = ({ ip, userAgent }: Caller): { ip: string; userAgent: string | undefined } => ({ ip, userAgent })

/** Signing up, logging in, and the account itself. */
export const accountHandlers = ({
  accounts,
}: ControlParts): Handlers<
  | 'POST /api/account'
  | 'GET /api/account'
  | 'POST /api/account/password'
  | 'POST /api/account/password/reset'
  | 'POST /api/account/delete'
  | 'POST /api/session'
  | 'GET /api/session'
  | 'DELETE /api/session'
> => ({
  'POST /api/account': async ({ body, caller }) =>
    loggedIn(await accounts.signUp({ ...body, ...originOf(caller) }), caller),

  'GET /api/account': async ({ caller }) => ({ answer: toAccountView(viewerOf(caller).user) }),

  'POST /api/account/password': async ({ body, caller }) =>
    loggedIn(await accounts.changePassword({ ...body, viewer: viewerOf(caller), ...originOf(caller) }), caller),

  'POST /api/account/password/reset': async ({ body, caller }) =>
    loggedIn(await accounts.resetPassword({ ...body, ...originOf(caller) }), caller),

  'POST /api/account/delete': async ({ body, caller }) => {
    const { ip, secure } = caller
    const done = await accounts.deleteAccount({ viewer: viewerOf(caller), password: body.password, ip })
    return done === true
      ? { answer: undefined, cookie: endedCookie({ secure }) }
      : { rejection: apiErrors.ofAccount(done) }
  },

  'POST /api/session': async ({ body, caller }) =>
    loggedIn(await accounts.logIn({ ...body, current: caller.sessionToken, ...originOf(caller) }), caller),

  'GET /api/session': async ({ caller }) => ({ answer: toSessionView(viewerOf(caller)) }),

  'DELETE /api/session': async ({ caller }) => {
    const { sessionToken, secure } = caller
    if (sessionToken !== undefined) await accounts.logOut(sessionToken, originOf(caller))
    return { answer: undefined, cookie: endedCookie({ secure }) }
  },
})
