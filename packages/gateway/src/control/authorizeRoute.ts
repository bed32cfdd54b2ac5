import { accountErrors } from './account/accountError.ts'
import { checkBrowserWrite } from './account/checkBrowserWrite.ts'
import { clearCookie, readCookie } from './account/sessionCookie.ts'
import { lacksSecondFactor } from './account/startSession.ts'
import type { Accounts } from './account/accounts.ts'
import type { Viewer } from './account/viewer.ts'
import type { ControlConfig } from './controlOptions.ts'
import { parseBearer } from '../lib/parseBearer.ts'
import { apiErrors } from './apiErrors.ts'
import type { ApiError } from './apiErrors.ts'
import type { Caller, Route } from './route.ts'
import type { PublicHost } from './matchPublicHost.ts'
import { hasScope, isTokenScope } from './roles.ts'
import type { Scope } from './roles.ts'

/** The parts of a request that decide whether it may use a route. */
export interface AuthorizeOptions {
  readonly accounts: Pick<Accounts, 'authenticate' | 'authenticateToken' | 'isOperatorToken' | 'findActingAccount'>
  readonly config: Pick<ControlConfig, 'requireSecondFactor'>
  readonly route: Route
  /** Whether the request changes anything. */
  readonly writes: boolean
  readonly headers: Headers
  readonly host: PublicHost
  readonly ip: string
}

/** The header that names the account that a request acts for. */
const accountHeader = 'x-keyrail-account'

type Authorized = { readonly caller: Caller } | { readonly error: ApiError; readonly cookie?: string }

/** Finds the account that a request acts for, and checks that the caller's role there, and the access token, have the scope of the route. */
const authorizeMember = async (
  { accounts, route, headers }: Pick<AuthorizeOptions, 'accounts' | 'route' | 'headers'>,
  viewer: Viewer,
  scope: Scope,
): Promise<Pick<Caller, 'account' | 'scope'> | { readonly error: ApiError }> => {
  if (viewer.scopes !== undefined) {
    if (!isTokenScope(scope)) return { error: apiErrors.sessionRequired() }
    if (!viewer.scopes.includes(scope)) return { error: apiErrors.scopeRequired(scope) }
  }
  const account = await accounts.findActingAccount(viewer, headers.get(accountHeader) ?? undefined)
  if (account === undefined) return { error: apiErrors.unknownAccount() }
  if (account.state === 'disabled' && route.whenDisabled !== true)
    return { error: apiErrors.fromAccountError(accountErrors.disabled()) }
  if (route.withoutFactor !== true && lacksSecondFactor(viewer.user, account))
    return { error: apiErrors.fromAccountError(accountErrors.noSecondFactor()) }
  return hasScope(account.role, scope) ? { account, scope } : { error: apiErrors.roleRequired(account.role) }
}

/**
 * Identifies the caller and checks that it may use the route. With an `Authorization` header the session cookie is ignored. With a
 * session cookie, a write must come from a page of this service.
 */
export const authorizeRoute = async ({
  accounts,
  config,
  route,
  writes,
  headers,
  host,
  ip,
}: AuthorizeOptions): Promise<Authorized> => {
  const { access } = route
  const { secure } = host
  const userAgent = headers.get('user-agent') ?? undefined
  const anonymous: Caller = {
    ip,
    userAgent,
    secure,
    viewer: undefined,
    account: undefined,
    scope: undefined,
    sessionToken: undefined,
    signOnToken: undefined,
    logInToken: undefined,
    site: host.origin,
  }
  const sessionToken = readCookie('session', headers.get('cookie'), { secure })

  if (access === 'anyone') {
    // Prevents login CSRF: another site must not log its visitor in to an attacker's account.
    const browser = headers.has('origin') || headers.has('sec-fetch-site')
    const crossSite = writes && browser ? checkBrowserWrite(headers, host.origin) : undefined
    return crossSite === undefined
      ? {
          caller: {
            ...anonymous,
            sessionToken,
            signOnToken: readCookie('sign-on', headers.get('cookie'), { secure }),
            logInToken: readCookie('log-in', headers.get('cookie'), { secure }),
          },
        }
      : { error: apiErrors.fromAccountError(crossSite) }
  }

  if (headers.has('authorization')) {
    const token = parseBearer(headers.get('authorization') ?? undefined) ?? ''
    if (accounts.isOperatorToken(token))
      return access === 'operator' ? { caller: anonymous } : { error: apiErrors.sessionRequired() }
    const viewer = await accounts.authenticateToken(token)
    if (viewer === undefined) return { error: apiErrors.notLoggedIn() }
    if (access === 'session' || access === 'operator') return { error: apiErrors.sessionRequired() }
    const member = await authorizeMember({ accounts, route, headers }, viewer, access)
    return 'error' in member ? member : { caller: { ...anonymous, viewer, ...member } }
  }

  const viewer = sessionToken === undefined ? undefined : await accounts.authenticate(sessionToken)
  if (viewer === undefined)
    return {
      error: apiErrors.notLoggedIn(),
      ...(sessionToken === undefined ? {} : { cookie: clearCookie('session', { secure }) }),
    }
  const crossSite = writes ? checkBrowserWrite(headers, host.origin) : undefined
  if (crossSite !== undefined) return { error: apiErrors.fromAccountError(crossSite) }
  if (route.withoutFactor !== true && lacksSecondFactor(viewer.user, config))
    return { error: apiErrors.fromAccountError(accountErrors.noSecondFactor()) }
  if (access === 'operator' && viewer.user.role !== 'operator') return { error: apiErrors.operatorRequired() }
  const caller = { ...anonymous, viewer, sessionToken }
  if (access === 'session' || access === 'operator') return { caller }
  const member = await authorizeMember({ accounts, route, headers }, viewer, access)
  return 'error' in member ? member : { caller: { ...caller, ...member } }
}
