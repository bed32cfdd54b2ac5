import { isAccountError } from '../account/accountError.ts'
import type { AccountError } from '../account/accountError.ts'
import type { LoggedIn } from '../account/accounts.ts'
import {
  clearSessionCookie,
  clearSignOnCookie,
  createSessionCookie,
  createSignOnCookie,
} from '../account/sessionCookie.ts'
import type { SessionView } from '../contract/account.ts'
import { apiErrors } from '../apiErrors.ts'
import { requireViewer } from '../handler.ts'
import type { Caller, ControlParts, HandlerResult, Handlers } from '../handler.ts'
import { isoTime } from '../views/times.ts'
import { toAccountView, toSessionView } from '../views/toSessionView.ts'

const toSessionResult = (result: LoggedIn | AccountError, { secure }: Caller): HandlerResult<SessionView> =>
  isAccountError(result)
    ? { error: apiErrors.fromAccountError(result) }
    : {
        response: toSessionView(result.viewer),
        cookie: createSessionCookie(result.token, { secure, expiresAt: result.expiresAt }),
      }

const toEmptyResult = (result: true | AccountError): HandlerResult<undefined> =>
  result === true ? { response: undefined } : { error: apiErrors.fromAccountError(result) }

const getOrigin = ({ ip, userAgent }: Caller): { ip: string; userAgent: string | undefined } => ({ ip, userAgent })

/** The routes to sign up, log in, and manage the account. */
export const accountHandlers = ({
  accounts,
  storage,
  requestLog,
}: ControlParts): Handlers<
  | 'POST /api/account'
  | 'POST /api/account/sign-up-link'
  | 'GET /api/account'
  | 'POST /api/account/password'
  | 'POST /api/account/password/reset'
  | 'POST /api/account/password/forgot'
  | 'POST /api/account/email'
  | 'POST /api/account/email/verify'
  | 'GET /api/account/identities'
  | 'POST /api/account/identities/disconnect'
  | 'POST /api/account/delete'
  | 'POST /api/session'
  | 'POST /api/session/link'
  | 'POST /api/session/single-sign-on'
  | 'POST /api/session/single-sign-on/finish'
  | 'GET /api/session'
  | 'DELETE /api/session'
> => ({
  'POST /api/account': async ({ body, caller }) =>
    toSessionResult(await accounts.signUp({ ...body, ...getOrigin(caller) }), caller),

  'POST /api/account/sign-up-link': async ({ body, caller }) =>
    toEmptyResult(await accounts.requestSignUp({ ...body, ...getOrigin(caller) })),

  'GET /api/account': async ({ caller }) => ({ response: toAccountView(requireViewer(caller).user) }),

  'POST /api/account/password': async ({ body, caller }) =>
    toSessionResult(
      await accounts.changePassword({ ...body, viewer: requireViewer(caller), ...getOrigin(caller) }),
      caller,
    ),

  'POST /api/account/password/reset': async ({ body, caller }) =>
    toSessionResult(await accounts.resetPassword({ ...body, ...getOrigin(caller) }), caller),

  'POST /api/account/password/forgot': async ({ body, caller }) =>
    toEmptyResult(await accounts.forgotPassword({ ...body, ...getOrigin(caller) })),

  'POST /api/account/email': async ({ body, caller }) =>
    toEmptyResult(
      await accounts.requestEmail({ email: body.email, viewer: requireViewer(caller), ...getOrigin(caller) }),
    ),

  'POST /api/account/email/verify': async ({ body, caller }) => {
    const verified = await accounts.verifyEmail({ ...body, viewer: requireViewer(caller), ...getOrigin(caller) })
    return isAccountError(verified)
      ? { error: apiErrors.fromAccountError(verified) }
      : { response: toAccountView(verified) }
  },

  'GET /api/account/identities': async ({ caller }) => {
    const identities = await accounts.listIdentities(requireViewer(caller))
    return {
      response: { items: identities.map(({ issuer, createdAt }) => ({ issuer, connectedAt: isoTime(createdAt) })) },
    }
  },

  'POST /api/account/identities/disconnect': async ({ body, caller }) => {
    const { ip } = caller
    const removed = await accounts.removeIdentity({ viewer: requireViewer(caller), issuer: body.issuer, ip })
    return removed ? { response: undefined } : { error: apiErrors.notFound() }
  },

  'POST /api/account/delete': async ({ body, caller }) => {
    const { ip, secure } = caller
    const viewer = requireViewer(caller)
    const keyIds = await storage.keys.listIds(viewer.user.id)
    const result = await accounts.deleteAccount({ viewer, password: body.password, ip })
    if (result !== true) return { error: apiErrors.fromAccountError(result) }
    // Not awaited: there may be many.
    void requestLog.remove(keyIds)
    return { response: undefined, cookie: clearSessionCookie({ secure }) }
  },

  'POST /api/session': async ({ body, caller }) =>
    toSessionResult(await accounts.logIn({ ...body, current: caller.sessionToken, ...getOrigin(caller) }), caller),

  'POST /api/session/link': async ({ body, caller }) =>
    toSessionResult(
      await accounts.logInWithLink({ ...body, current: caller.sessionToken, ...getOrigin(caller) }),
      caller,
    ),

  'POST /api/session/single-sign-on': async ({ caller }) => {
    const started = await accounts.startSingleSignOn(getOrigin(caller))
    if (isAccountError(started)) return { error: apiErrors.fromAccountError(started) }
    const { url, token, expiresAt } = started
    return { response: { url }, cookie: createSignOnCookie(token, { secure: caller.secure, expiresAt }) }
  },

  'POST /api/session/single-sign-on/finish': async ({ body, caller }) => {
    const { sessionToken, signOnToken, secure } = caller
    const result = toSessionResult(
      await accounts.finishSingleSignOn({ ...body, token: signOnToken, current: sessionToken, ...getOrigin(caller) }),
      caller,
    )
    // It works once, also if it failed.
    return { ...result, cookie: [clearSignOnCookie({ secure }), result.cookie ?? []].flat() }
  },

  'GET /api/session': async ({ caller }) => ({ response: toSessionView(requireViewer(caller)) }),

  'DELETE /api/session': async ({ caller }) => {
    const { sessionToken, secure } = caller
    if (sessionToken !== undefined) await accounts.logOut(sessionToken, getOrigin(caller))
    return { response: undefined, cookie: clearSessionCookie({ secure }) }
  },
})
