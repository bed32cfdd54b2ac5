import { isAccountError } from '../account/accountError.ts'
import type { AccountError } from '../account/accountError.ts'
import { clearCookie, createCookie } from '../account/sessionCookie.ts'
import { apiErrors } from '../apiErrors.ts'
import { createView } from '../views/createView.ts'
import { isoTime } from '../views/times.ts'
import { toAccountView, toSessionView } from '../views/toSessionView.ts'
import {
  accountView,
  changePasswordBody,
  disconnectBody,
  emailBody,
  finishSignOnBody,
  forgotPasswordBody,
  identitiesView,
  logInBody,
  logInLinkBody,
  openSessionView,
  openSessionsView,
  passwordBody,
  resetPasswordBody,
  sessionView,
  signOnView,
  signUpBody,
  signUpLinkBody,
  verifyEmailBody,
} from '../contract/account.ts'
import { requireAccount, requireViewer, route } from '../route.ts'
import type { Caller, HandlerResult, Route } from '../route.ts'
import { toSessionResult } from './toSessionResult.ts'

const toEmptyResult = (result: true | AccountError): HandlerResult<undefined> =>
  result === true ? { response: undefined } : { error: apiErrors.fromAccountError(result) }

const getOrigin = ({ ip, userAgent }: Caller): { ip: string; userAgent: string | undefined } => ({ ip, userAgent })

const toOpenSessionView = createView(openSessionView)

/** The routes to sign up, log in, and manage the account. */
export const accountRoutes: readonly Route[] = [
  route(
    'POST /api/account',
    {
      summary: 'Signs up and logs in.',
      description: 'The response sets the session cookie.',
      access: 'anyone',
      status: 201,
      body: signUpBody,
      response: sessionView,
    },
    async ({ body, caller }, parts) =>
      toSessionResult(await parts.accounts.signUp({ ...body, ...getOrigin(caller) }), caller, parts),
  ),

  route(
    'POST /api/account/sign-up-link',
    {
      summary: 'Sends a link to sign up with to an email address.',
      description: 'The response does not depend on whether the address has an account.',
      access: 'anyone',
      body: signUpLinkBody,
    },
    async ({ body, caller }, { accounts }) =>
      toEmptyResult(await accounts.requestSignUp({ ...body, ...getOrigin(caller) })),
  ),

  route(
    'GET /api/account',
    { summary: 'Gets the account.', access: 'read', response: accountView },
    async ({ caller }) => ({ response: toAccountView(requireViewer(caller).user) }),
  ),

  route(
    'POST /api/account/password',
    {
      summary: 'Changes the password, ends all other sessions and removes all access tokens.',
      access: 'session',
      confirms: 'factor',
      body: changePasswordBody,
      response: sessionView,
    },
    async ({ body, caller }, parts) =>
      toSessionResult(
        await parts.accounts.changePassword({ ...body, viewer: requireViewer(caller), ...getOrigin(caller) }),
        caller,
        parts,
      ),
  ),

  route(
    'POST /api/account/password/reset',
    {
      summary:
        'Sets a new password with a link from an email or from the operator, ends all other sessions, removes all access tokens, and logs in.',
      access: 'anyone',
      body: resetPasswordBody,
      response: sessionView,
    },
    async ({ body, caller }, parts) =>
      toSessionResult(await parts.accounts.resetPassword({ ...body, ...getOrigin(caller) }), caller, parts),
  ),

  route(
    'POST /api/account/password/forgot',
    {
      summary: 'Sends a link to set a new password to the email address of an account.',
      description: 'The response does not depend on whether the address has an account.',
      access: 'anyone',
      body: forgotPasswordBody,
    },
    async ({ body, caller }, { accounts }) =>
      toEmptyResult(await accounts.forgotPassword({ ...body, ...getOrigin(caller) })),
  ),

  route(
    'POST /api/account/email',
    {
      summary: "Sends a link that changes or verifies the account's email address.",
      description: 'The response does not depend on whether another account has the address.',
      access: 'session',
      confirms: true,
      body: emailBody,
    },
    async ({ body, caller }, { accounts }) =>
      toEmptyResult(
        await accounts.requestEmail({ email: body.email, viewer: requireViewer(caller), ...getOrigin(caller) }),
      ),
  ),

  route(
    'POST /api/account/email/verify',
    {
      summary: 'Gives the account the email address that a link was sent to.',
      access: 'session',
      body: verifyEmailBody,
      response: accountView,
    },
    async ({ body, caller }, { accounts }) => {
      const verified = await accounts.verifyEmail({ ...body, viewer: requireViewer(caller), ...getOrigin(caller) })
      return isAccountError(verified)
        ? { error: apiErrors.fromAccountError(verified) }
        : { response: toAccountView(verified) }
    },
  ),

  route(
    'GET /api/account/identities',
    {
      summary: 'Lists the accounts at OpenID Connect providers that log in to this account.',
      access: 'session',
      response: identitiesView,
    },
    async ({ caller }, { accounts }) => {
      const identities = await accounts.listIdentities(requireViewer(caller))
      return {
        response: { items: identities.map(({ issuer, createdAt }) => ({ issuer, connectedAt: isoTime(createdAt) })) },
      }
    },
  ),

  route(
    'POST /api/account/identities/disconnect',
    {
      summary: 'Disconnects the account at an OpenID Connect provider.',
      access: 'session',
      confirms: true,
      body: disconnectBody,
    },
    async ({ body, caller }, { accounts }) => {
      const { ip } = caller
      const removed = await accounts.removeIdentity({ viewer: requireViewer(caller), issuer: body.issuer, ip })
      return removed ? { response: undefined } : { error: apiErrors.notFound() }
    },
  ),

  route(
    'GET /api/account/sessions',
    { summary: 'Lists the sessions of the user.', access: 'session', response: openSessionsView },
    async ({ caller }, { accounts }) => ({
      response: { items: (await accounts.listSessions(requireViewer(caller))).map(toOpenSessionView) },
    }),
  ),

  route(
    'DELETE /api/account/sessions',
    { summary: 'Ends all sessions of the user except that of the request.', access: 'session' },
    async ({ caller }, { accounts }) => {
      await accounts.endOtherSessions({ viewer: requireViewer(caller), ip: caller.ip })
      return { response: undefined }
    },
  ),

  route(
    'DELETE /api/account/sessions/{sessionId}',
    { summary: 'Ends a session of the user: the next request in it is rejected.', access: 'session' },
    async ({ params, caller }, { accounts }) => {
      const ended = await accounts.endSession({ viewer: requireViewer(caller), id: params.sessionId, ip: caller.ip })
      return ended ? { response: undefined } : { error: apiErrors.notFound() }
    },
  ),

  route(
    'POST /api/account/delete',
    {
      summary: 'Deletes the account and everything it owns, except the audit log.',
      access: 'session',
      confirms: 'factor',
      body: passwordBody,
    },
    async ({ body, caller }, { storage, accounts, requestRecorder }) => {
      const { ip, secure } = caller
      const viewer = requireViewer(caller)
      const keyIds = await storage.keys.listIds(viewer.user.id)
      const result = await accounts.deleteAccount({ viewer, password: body.password, ip })
      if (result !== true) return { error: apiErrors.fromAccountError(result) }
      // Not awaited: there may be many.
      void requestRecorder.remove(keyIds)
      return { response: undefined, cookie: clearCookie('session', { secure }) }
    },
  ),

  route(
    'POST /api/session',
    {
      summary: 'Logs in.',
      description:
        'The response sets the session cookie. An account with a second factor gets the error `second_factor_required` instead, and a cookie for `POST /api/session/second-factor`.',
      access: 'anyone',
      body: logInBody,
      response: sessionView,
    },
    async ({ body, caller }, parts) =>
      toSessionResult(
        await parts.accounts.logIn({ ...body, current: caller.sessionToken, ...getOrigin(caller) }),
        caller,
        parts,
      ),
  ),

  route(
    'POST /api/session/link',
    {
      summary: 'Logs in with a link that `keyrail dev` prints, which works once.',
      description: 'The response sets the session cookie.',
      access: 'anyone',
      body: logInLinkBody,
      response: sessionView,
    },
    async ({ body, caller }, parts) =>
      toSessionResult(
        await parts.accounts.logInWithLink({ ...body, current: caller.sessionToken, ...getOrigin(caller) }),
        caller,
        parts,
      ),
  ),

  route(
    'POST /api/session/single-sign-on',
    {
      summary: 'Starts a log-in at the OpenID Connect provider.',
      description: 'The response sets a cookie that binds it to the browser, for 10 minutes.',
      access: 'anyone',
      response: signOnView,
    },
    async ({ caller }, { accounts }) => {
      const started = await accounts.startSingleSignOn(getOrigin(caller))
      if (isAccountError(started)) return { error: apiErrors.fromAccountError(started) }
      const { url, token, expiresAt } = started
      return { response: { url }, cookie: createCookie('sign-on', token, { secure: caller.secure, expiresAt }) }
    },
  ),

  route(
    'POST /api/session/single-sign-on/finish',
    {
      summary: 'Finishes a log-in at the OpenID Connect provider, and logs in.',
      description: 'The response sets the session cookie.',
      access: 'anyone',
      body: finishSignOnBody,
      response: sessionView,
    },
    async ({ body, caller }, parts) => {
      const { sessionToken: current, signOnToken: token, secure } = caller
      const result = toSessionResult(
        await parts.accounts.finishSingleSignOn({ ...body, token, current, ...getOrigin(caller) }),
        caller,
        parts,
      )
      // It works once, also if it failed.
      return { ...result, cookie: [clearCookie('sign-on', { secure }), result.cookie ?? []].flat() }
    },
  ),

  route(
    'GET /api/session',
    {
      summary: 'Gets the authenticated user, the session or scopes, and the account that the request acts for.',
      access: 'read',
      whenDisabled: true,
      withoutFactor: true,
      response: sessionView,
    },
    async ({ caller }, { config }) => ({
      response: toSessionView(requireViewer(caller), config(), requireAccount(caller)),
    }),
  ),

  route(
    'DELETE /api/session',
    { summary: 'Logs out.', access: 'session', withoutFactor: true },
    async ({ caller }, { accounts }) => {
      const { sessionToken, secure } = caller
      if (sessionToken !== undefined) await accounts.logOut(sessionToken, getOrigin(caller))
      return { response: undefined, cookie: clearCookie('session', { secure }) }
    },
  ),
]
