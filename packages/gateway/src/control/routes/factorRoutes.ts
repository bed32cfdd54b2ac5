import type { AccountError } from '../account/accountError.ts'
import { isAccountError } from '../account/accountError.ts'
import type { LoggedIn } from '../account/accounts.ts'
import { clearCookie, createCookie } from '../account/sessionCookie.ts'
import { apiErrors } from '../apiErrors.ts'
import type { FactorView, SessionView } from '../contract/controlApi.d.ts'
import {
  addFactorBody,
  confirmFactorBody,
  factorOptionsView,
  factorProofBody,
  factorsView,
  factorView,
  newFactorOptionsView,
  newFactorView,
  passkeyLogInBody,
  recoveryCodesView,
} from '../contract/secondFactor.ts'
import { sessionView } from '../contract/account.ts'
import type { Factor } from '../../storage/factors.ts'
import { createView } from '../views/createView.ts'
import { toSessionView } from '../views/toSessionView.ts'
import { requireViewer, route } from '../route.ts'
import type { Caller, ControlParts, HandlerResult, Route } from '../route.ts'
import { toSessionResult } from './toSessionResult.ts'

const toFactorView: (factor: Factor) => FactorView = createView(factorView)

const toResult = <Result extends object>(result: Result | AccountError): HandlerResult<Result> =>
  isAccountError(result) ? { error: apiErrors.fromAccountError(result) } : { response: result }

const getOrigin = ({ ip, userAgent, site }: Caller) => ({ ip, userAgent, site })

/** The session, and the end of the log-in's cookie. */
const toFinished = (
  result: LoggedIn | AccountError,
  caller: Caller,
  parts: ControlParts,
): HandlerResult<SessionView> => {
  const finished = toSessionResult(result, caller, parts)
  if ('error' in finished) return finished
  return { ...finished, cookie: [finished.cookie ?? [], clearCookie('log-in', { secure: caller.secure })].flat() }
}

/** The routes of second factors: to log in with them, to prove them again, and to manage them. */
export const factorRoutes: readonly Route[] = [
  route(
    'POST /api/session/second-factor/options',
    {
      summary: 'Gets how a log-in that needs a second factor can be finished.',
      description: 'The log-in is the one whose error was `second_factor_required`, in the same browser.',
      access: 'anyone',
      response: factorOptionsView,
    },
    async ({ caller: { logInToken, site } }, { accounts }) =>
      toResult(await accounts.getLogInOptions({ pending: logInToken, site })),
  ),

  route(
    'POST /api/session/second-factor',
    {
      summary: 'Finishes a log-in that needs a second factor.',
      description: 'The response sets the session cookie.',
      access: 'anyone',
      body: factorProofBody,
      response: sessionView,
    },
    async ({ body, caller }, parts) => {
      const { logInToken: pending, sessionToken: current } = caller
      return toFinished(
        await parts.accounts.finishLogIn({ pending, proof: body, current, ...getOrigin(caller) }),
        caller,
        parts,
      )
    },
  ),

  route(
    'POST /api/session/passkey/options',
    {
      summary: 'Starts a log-in with a passkey alone.',
      description: 'The response sets a cookie that binds it to the browser, for 10 minutes.',
      access: 'anyone',
      response: factorOptionsView,
    },
    async ({ caller }, { accounts }) => {
      const started = await accounts.startPasskeyLogIn(getOrigin(caller))
      if (isAccountError(started)) return { error: apiErrors.fromAccountError(started) }
      const { token, expiresAt, ...options } = started
      return { response: options, cookie: createCookie('log-in', token, { secure: caller.secure, expiresAt }) }
    },
  ),

  route(
    'POST /api/session/passkey',
    {
      summary: 'Logs in with a passkey alone, which must verify the user.',
      description: 'The response sets the session cookie.',
      access: 'anyone',
      body: passkeyLogInBody,
      response: sessionView,
    },
    async ({ body, caller }, parts) => {
      const { logInToken: token, sessionToken: current } = caller
      return toFinished(
        await parts.accounts.logInWithPasskey({ ...body, token, current, ...getOrigin(caller) }),
        caller,
        parts,
      )
    },
  ),

  route(
    'POST /api/session/confirm/options',
    {
      summary: 'Gets how the session can prove a second factor again.',
      access: 'session',
      response: factorOptionsView,
    },
    async ({ caller }, { accounts }) =>
      toResult(await accounts.getConfirmOptions({ viewer: requireViewer(caller), site: caller.site })),
  ),

  route(
    'POST /api/session/confirm',
    {
      summary:
        'Proves a second factor again: for 10 minutes, no request of the session then requires another confirmation.',
      access: 'session',
      body: factorProofBody,
      response: sessionView,
    },
    async ({ body, caller }, { accounts, config }) => {
      const viewer = requireViewer(caller)
      const confirmed = await accounts.confirmFactor({ viewer, proof: body, ...getOrigin(caller) })
      return isAccountError(confirmed)
        ? { error: apiErrors.fromAccountError(confirmed) }
        : { response: toSessionView(confirmed, config()) }
    },
  ),

  route(
    'GET /api/account/factors',
    {
      summary: 'Lists the second factors of the account.',
      access: 'session',
      withoutFactor: true,
      response: factorsView,
    },
    async ({ caller }, { accounts }) => {
      const { factors, recoveryCodes } = await accounts.listFactors(requireViewer(caller))
      return { response: { items: factors.map(toFactorView), recoveryCodes } }
    },
  ),

  route(
    'POST /api/account/factors/options',
    {
      summary: 'Gets what is needed to add a second factor.',
      access: 'session',
      confirms: true,
      withoutFactor: true,
      body: confirmFactorBody,
      response: newFactorOptionsView,
    },
    async ({ caller }, { accounts }) =>
      toResult(await accounts.getNewFactorOptions({ viewer: requireViewer(caller), site: caller.site })),
  ),

  route(
    'POST /api/account/factors',
    {
      summary: 'Adds a second factor. The first one ends all other sessions.',
      description:
        'The response to the first one contains the recovery codes, which cannot be shown again, and sets the cookie of a new session.',
      access: 'session',
      confirms: true,
      withoutFactor: true,
      status: 201,
      body: addFactorBody,
      response: newFactorView,
    },
    async ({ body, caller }, { accounts }) => {
      const { password: _, ...given } = body
      const added = await accounts.addFactor({ ...given, viewer: requireViewer(caller), ...getOrigin(caller) })
      if (isAccountError(added)) return { error: apiErrors.fromAccountError(added) }
      const { factor, recoveryCodes, newSession } = added
      const response = { factor: toFactorView(factor), recoveryCodes }
      if (newSession === null) return { response }
      const { token, expiresAt } = newSession
      return { response, cookie: createCookie('session', token, { secure: caller.secure, expiresAt }) }
    },
  ),

  route(
    'POST /api/account/factors/{factorId}/remove',
    {
      summary: 'Removes a second factor, and with the last one the recovery codes.',
      access: 'session',
      confirms: true,
      body: confirmFactorBody,
    },
    async ({ params, caller }, { accounts }) => {
      const { ip } = caller
      const removed = await accounts.removeFactor({ viewer: requireViewer(caller), id: params.factorId, ip })
      if (isAccountError(removed)) return { error: apiErrors.fromAccountError(removed) }
      return removed ? { response: undefined } : { error: apiErrors.notFound() }
    },
  ),

  route(
    'POST /api/account/recovery-codes',
    {
      summary: 'Creates new recovery codes. The old ones no longer work.',
      access: 'session',
      confirms: true,
      body: confirmFactorBody,
      response: recoveryCodesView,
    },
    async ({ caller }, { accounts }) => {
      const codes = await accounts.renewRecoveryCodes({ viewer: requireViewer(caller), ip: caller.ip })
      return isAccountError(codes)
        ? { error: apiErrors.fromAccountError(codes) }
        : { response: { recoveryCodes: codes } }
    },
  ),
]
