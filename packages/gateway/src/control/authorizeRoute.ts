import { checkBrowserWrite } from './account/checkBrowserWrite.ts'
import { clearSessionCookie, readLogInToken, readSessionToken, readSignOnToken } from './account/sessionCookie.ts'
import { lacksSecondFactor } from './account/startSession.ts'
import { accountErrors } from './account/accountError.ts'
import type { Accounts } from './account/accounts.ts'
import type { ControlConfig } from './controlOptions.ts'
import { parseBearer } from '../lib/parseBearer.ts'
import { apiErrors } from './apiErrors.ts'
import type { ApiError } from './apiErrors.ts'
import type { Caller, Route } from './route.ts'
import type { PublicHost } from './matchPublicHost.ts'

/** The parts of a request that decide whether it may use a route. */
export interface AuthorizeOptions {
  readonly accounts: Pick<Accounts, 'authenticate' | 'authenticateToken' | 'isOperatorToken'>
  readonly config: Pick<ControlConfig, 'requireSecondFactor'>
  readonly route: Route
  /** Whether the request changes anything. */
  readonly writes: boolean
  readonly headers: Headers
  readonly host: PublicHost
  readonly ip: string
}

type Authorized = { readonly caller: Caller } | { readonly error: ApiError; readonly cookie?: string }

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
    sessionToken: undefined,
    signOnToken: undefined,
    logInToken: undefined,
    site: host.origin,
  }
  const sessionToken = readSessionToken(headers.get('cookie'), { secure })

  if (access === 'anyone') {
    // Prevents login CSRF: another site must not log its visitor in to an attacker's account.
    const browser = headers.has('origin') || headers.has('sec-fetch-site')
    const crossSite = writes && browser ? checkBrowserWrite(headers, host.origin) : undefined
    return crossSite === undefined
      ? {
          caller: {
            ...anonymous,
            sessionToken,
            signOnToken: readSignOnToken(headers.get('cookie'), { secure }),
            logInToken: readLogInToken(headers.get('cookie'), { secure }),
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
    if (viewer.scopes?.includes(access) !== true) return { error: apiErrors.scopeRequired(access) }
    return { caller: { ...anonymous, viewer } }
  }

  const viewer = sessionToken === undefined ? undefined : await accounts.authenticate(sessionToken)
  if (viewer === undefined)
    return {
      error: apiErrors.notLoggedIn(),
      ...(sessionToken === undefined ? {} : { cookie: clearSessionCookie({ secure }) }),
    }
  const crossSite = writes ? checkBrowserWrite(headers, host.origin) : undefined
  if (crossSite !== undefined) return { error: apiErrors.fromAccountError(crossSite) }
  if (route.withoutFactor !== true && lacksSecondFactor(viewer.user, config))
    return { error: apiErrors.fromAccountError(accountErrors.noSecondFactor()) }
  if (access === 'operator' && viewer.user.role !== 'operator') return { error: apiErrors.operatorRequired() }
  return { caller: { ...anonymous, viewer, sessionToken } }
}
