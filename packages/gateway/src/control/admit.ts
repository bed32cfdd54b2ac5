import { checkBrowserWrite } from './account/checkBrowserWrite.ts'
import { endedCookie, readSessionToken } from './account/sessionCookie.ts'
import type { Accounts } from './account/accounts.ts'
import { parseBearer } from '../auth/jwt/parseJwt.ts'
import type { AnyRoute } from './contract/route.ts'
import { apiErrors } from './apiErrors.ts'
import type { Caller } from './handler.ts'
import type { PublicHost } from './publicHost.ts'
import type { ApiError } from './reply.ts'

/** What a request is let in by. */
export interface Admission {
  readonly accounts: Pick<Accounts, 'authenticate' | 'authenticateToken' | 'isOperatorToken'>
  readonly route: AnyRoute
  /** Whether it changes anything. */
  readonly writes: boolean
  readonly headers: Headers
  readonly host: PublicHost
  readonly ip: string
}

type Admitted = { readonly caller: Caller } | { readonly rejection: ApiError; readonly cookie?: string }

/**
 * Decides whether a request may use a route, and who makes it. An `Authorization` header decides alone; without one the session's cookie does,
 * and then a write must come from a page of the service.
 */
export const admit = async ({ accounts, route, writes, headers, host, ip }: Admission): Promise<Admitted> => {
  const { who } = route
  const { secure } = host
  const userAgent = headers.get('user-agent') ?? undefined
  const nobody: Caller = { ip, userAgent, secure, viewer: undefined, sessionToken: undefined }
  const sessionToken = readSessionToken(headers.get('cookie'), { secure })

  if (who === 'anyone') {
    // A form of another site must not log its visitor in as somebody else.
    const browser = headers.has('origin') || headers.has('sec-fetch-site')
    const foreign = writes && browser ? checkBrowserWrite(headers, host.origin) : undefined
    return foreign === undefined ? { caller: { ...nobody, sessionToken } } : { rejection: apiErrors.ofAccount(foreign) }
  }

  if (headers.has('authorization')) {
    const token = parseBearer(headers.get('authorization') ?? undefined) ?? ''
    if (accounts.isOperatorToken(token))
      return who === 'operator' ? { caller: nobody } : { rejection: apiErrors.sessionNeeded() }
    const viewer = await accounts.authenticateToken(token)
    if (viewer === undefined) return { rejection: apiErrors.notLoggedIn() }
    if (who === 'session' || who === 'operator') return { rejection: apiErrors.sessionNeeded() }
    if (viewer.scopes?.includes(who) !== true) return { rejection: apiErrors.scopeNeeded(who) }
    return { caller: { ...nobody, viewer } }
  }

  const viewer = sessionToken === undefined ? undefined : await accounts.authenticate(sessionToken)
  if (viewer === undefined)
    return {
      rejection: apiErrors.notLoggedIn(),
      ...(sessionToken === undefined ? {} : { cookie: endedCookie({ secure }) }),
    }
  const foreign = writes ? checkBrowserWrite(headers, host.origin) : undefined
  if (foreign !== undefined) return { rejection: apiErrors.ofAccount(foreign) }
  if (who === 'operator' && viewer.user.role !== 'operator') return { rejection: apiErrors.operatorNeeded() }
  return { caller: { ...nobody, viewer, sessionToken } }
}
