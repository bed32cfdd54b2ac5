import type { Repositories } from '../../storage/repositories.ts'
import type { User } from '../../storage/users.ts'
import { auditOwn, toAccount } from './accountContext.ts'
import type { AccountContext } from './accountContext.ts'
import type { Account } from './account.ts'
import { accountErrors } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { LoggedIn, Origin, PendingLogIn, Viewer } from './accounts.ts'
import { hashSecret } from './secretText.ts'
import { createSessionToken } from './sessionCookie.ts'
import { createSignedToken, readSignedToken } from './signedToken.ts'
import type { ValidToken } from './signedToken.ts'

const day = 86_400_000

/** Session lifetimes, in milliseconds. */
export const sessionTimes: {
  readonly idleMs: number
  readonly totalMs: number
  readonly freshMs: number
  readonly freshFactorMs: number
  readonly pendingMs: number
} = Object.freeze({
  /** Expiry after the last use. */
  idleMs: 7 * day,
  /** Expiry after log-in. */
  totalMs: 30 * day,
  /** How long after log-in sensitive actions do not require the password. */
  freshMs: 15 * 60_000,
  /** The same for an account with a second factor: how long after the factor was proved. */
  freshFactorMs: 10 * 60_000,
  /** How long after the password the second factor can be proved. */
  pendingMs: 10 * 60_000,
})

/** Whether a second factor confirms sensitive actions, in place of the password. */
const isConfirmedByFactor = ({ user }: Pick<Viewer, 'user'>): boolean => user.hasSecondFactor

/** Until when sensitive actions in a session need no other confirmation, in milliseconds since 1970. */
export const getConfirmedUntil = ({ user, session }: Required<Pick<Viewer, 'user' | 'session'>>): number =>
  isConfirmedByFactor({ user })
    ? (session.factorAt ?? -Infinity) + sessionTimes.freshFactorMs
    : session.createdAt + sessionTimes.freshMs

/** Whether sensitive actions need no other confirmation now. */
export const isFresh = ({ user, session }: Viewer, now: number): boolean =>
  session !== undefined && now < getConfirmedUntil({ user, session })

/** The error of a sensitive action in a session whose second factor has to be proved again. `undefined`: it is fresh, or the account has none. */
export const findStaleFactor = (viewer: Viewer, now: number): AccountError | undefined =>
  isConfirmedByFactor(viewer) && !isFresh(viewer, now) ? accountErrors.factorRequired() : undefined

/** Whether a session has proved the second factor, if the account has one. Earlier versions do not know second factors. */
export const isComplete = ({ user, session }: Pick<Required<Viewer>, 'user' | 'session'>): boolean =>
  !user.hasSecondFactor || session.factorAt !== null

/** Whether the config requires a second factor that the account does not have. */
export const lacksSecondFactor = (
  { hasSecondFactor, role }: Account,
  { requireSecondFactor }: { readonly requireSecondFactor?: 'operators' | 'all' | undefined },
): boolean =>
  !hasSecondFactor && (requireSecondFactor === 'all' || (requireSecondFactor === 'operators' && role === 'operator'))

/**
 * Creates a session with a new secret.
 * @param request.user - The stored user, including the password hash.
 * @param request.factorAt - When a second factor was proved. @default null
 * @returns The session, or `'notFound'` if the user was deleted or disabled, or the password changed, since `user` was read.
 */
export const startSession = async (
  { sessions }: Pick<Repositories, 'sessions'>,
  { user, ip, userAgent, factorAt = null, now }: Origin & { user: User; factorAt?: number | null; now: number },
): Promise<LoggedIn | 'notFound'> => {
  const token = createSessionToken()
  const hash = hashSecret(token)
  const session = await sessions.create({
    hash,
    userId: user.id,
    password: user.password,
    ip,
    ...(userAgent === undefined ? {} : { userAgent }),
    factorAt,
    now,
  })
  if (session === 'notFound') return session
  return {
    viewer: { user: toAccount(user), session: { ...session, hash } },
    token,
    expiresAt: now + sessionTimes.totalMs,
  }
}

// A change of the password ends log-ins that are pending.
const getScope = ({ id, password }: User) => ({ purpose: 'pendingLogIn' as const, binding: [id, password] })

/** The same for a user whose first factor is right: an account with a second factor that was not proved gets a log-in that is pending instead. */
export const startLogIn = async (
  { secrets }: Pick<AccountContext, 'secrets'>,
  within: Pick<Repositories, 'sessions' | 'auditLog'>,
  request: Parameters<typeof startSession>[1],
): Promise<LoggedIn | PendingLogIn | 'notFound'> => {
  const { user, ip, factorAt = null, now } = request
  if (!user.hasSecondFactor || factorAt !== null) return startSession(within, request)
  const expiresAt = now + sessionTimes.pendingMs
  await auditOwn(within, user.id, { at: now, action: 'account.logInPending', ip })
  return { pending: `${user.id}.${createSignedToken(getScope(user), { secrets, expiresAt })}`, expiresAt }
}

/** Whether a log-in still needs a second factor. */
export const isPending = (started: LoggedIn | PendingLogIn): started is PendingLogIn => 'pending' in started

/**
 * Finds the user of a log-in that is pending.
 * @returns `undefined` if it has expired, or the password has changed.
 */
export const findPendingLogIn = async (
  { secrets, storage, now }: Pick<AccountContext, 'secrets' | 'storage' | 'now'>,
  pending: string | undefined,
): Promise<{ readonly user: User; readonly token: ValidToken } | undefined> => {
  const [, id = '', text = ''] = /^(\w+)\.(.+)$/.exec(pending ?? '') ?? []
  const user = await storage.users.find(id)
  const token = user && readSignedToken(text, getScope(user), { secrets, now: now() })
  return user?.state !== 'active' || token === undefined ? undefined : { user, token }
}
