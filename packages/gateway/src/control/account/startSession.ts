import type { Identity } from '../../storage/identities.ts'
import type { Repositories } from '../../storage/repositories.ts'
import type { Session } from '../../storage/sessions.ts'
import type { TeamRules } from '../../storage/teams.ts'
import type { User } from '../../storage/users.ts'
import { auditOwn, toAccount } from './accountContext.ts'
import type { AccountContext } from './accountContext.ts'
import type { Account } from './account.ts'
import { accountErrors } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { LoggedIn, Origin, PendingLogIn } from './accounts.ts'
import type { Viewer } from './viewer.ts'
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

/** When a session expires if it is not used, in milliseconds since 1970. */
export const getSessionExpiry = ({ createdAt, seenAt }: Pick<Session, 'createdAt' | 'seenAt'>): number =>
  Math.min(seenAt + sessionTimes.idleMs, createdAt + sessionTimes.totalMs)

/**
 * Until when sensitive actions in a session need no other confirmation, in milliseconds since 1970. With a second factor, it confirms them in place
 * of the password.
 */
export const getConfirmedUntil = ({ user, session }: Required<Pick<Viewer, 'user' | 'session'>>): number =>
  user.hasSecondFactor
    ? (session.factorAt ?? -Infinity) + sessionTimes.freshFactorMs
    : session.createdAt + sessionTimes.freshMs

/** Whether sensitive actions need no other confirmation now. */
export const isFresh = ({ user, session }: Viewer, now: number): boolean =>
  session !== undefined && now < getConfirmedUntil({ user, session })

/** The error of a sensitive action in a session whose second factor has to be proved again. `undefined`: it is fresh, or the account has none. */
export const findStaleFactor = (viewer: Viewer, now: number): AccountError | undefined =>
  viewer.user.hasSecondFactor && !isFresh(viewer, now) ? accountErrors.factorRequired() : undefined

/** Whether a session has proved the second factor, if the account has one. Earlier versions do not know second factors. */
export const isComplete = ({ user, session }: { user: Account; session: Session }): boolean =>
  !user.hasSecondFactor || session.factorAt !== null

/** Whether the config, or the team that a request acts for, requires a second factor that the account does not have. */
export const lacksSecondFactor = (
  user: Account,
  {
    requireSecondFactor,
    membersNeedSecondFactor = false,
  }: Partial<TeamRules> & { readonly requireSecondFactor?: 'operators' | 'all' | undefined },
): boolean =>
  !user.hasSecondFactor &&
  (membersNeedSecondFactor ||
    requireSecondFactor === 'all' ||
    (requireSecondFactor === 'operators' && user.role === 'operator'))

/** An account at the OpenID Connect provider that a log-in connects once its second factor is proved. */
export interface NewIdentity extends Pick<Identity, 'issuer' | 'subject'> {
  /** The user's groups there that give roles. */
  readonly groups: readonly string[]
}

interface LogInRequest extends Origin {
  readonly user: User
  readonly factorAt?: number | null
  readonly newIdentity?: NewIdentity | undefined
  readonly now: number
}

type LogInStorage = Pick<Repositories, 'sessions' | 'auditLog' | 'identities' | 'users'>

/** Connects an identity. @returns The user; `undefined` if it belongs to an account, or the account has another one. */
const connect = async (
  within: LogInStorage,
  {
    user,
    newIdentity: { issuer, subject },
    ip,
    now: at,
  }: { user: User; newIdentity: NewIdentity; ip: string; now: number },
): Promise<User | undefined> => {
  if (!(await within.identities.add({ issuer, subject, userId: user.id, now: at }))) return undefined
  if (user.emailVerifiedAt === null) await within.users.setVerifiedEmail(user.id, user.email, at)
  await auditOwn(within, user.id, { at, action: 'account.connect', ip, detail: { issuer } })
  return { ...user, emailVerifiedAt: user.emailVerifiedAt ?? at }
}

/**
 * Creates a session with a new secret.
 * @param within - A transaction that has locked the user, if there is a new identity.
 * @param request.user - The stored user, including the password hash.
 * @param request.factorAt - When a second factor was proved. @default null
 * @param request.newIdentity - Connected to the account. @default none
 * @returns The session, or `'notFound'` if the user was deleted or disabled, or the password changed, since `user` was read, or the identity
 * cannot be connected.
 */
export const startSession = async (
  within: LogInStorage,
  { user: given, newIdentity, ip, userAgent, factorAt = null, now }: LogInRequest,
): Promise<LoggedIn | 'notFound'> => {
  const user = newIdentity === undefined ? given : await connect(within, { user: given, newIdentity, ip, now })
  if (user === undefined) return 'notFound'
  const token = createSessionToken()
  const hash = hashSecret(token)
  const session = await within.sessions.create({
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

/** Ends the session that the browser had before a log-in, and adds the log-in to the audit log. */
export const recordLogIn = async (
  within: LogInStorage,
  userId: string,
  {
    current,
    ...entry
  }: { at: number; ip: string; current: string | undefined; detail?: Readonly<Record<string, unknown>> },
): Promise<void> => {
  if (current !== undefined) await within.sessions.end(hashSecret(current))
  await auditOwn(within, userId, { action: 'account.logIn', ...entry })
}

// A change of the password ends log-ins that are pending.
const getScope = ({ id, password }: User, connects: string) => ({
  purpose: 'pendingLogIn' as const,
  binding: [id, password, connects],
})

/** The same for a user whose first factor is right: an account with a second factor that was not proved gets a log-in that is pending instead. */
export const startLogIn = async (
  { secrets }: Pick<AccountContext, 'secrets'>,
  within: LogInStorage,
  request: LogInRequest,
): Promise<LoggedIn | PendingLogIn | 'notFound'> => {
  const { user, newIdentity, ip, factorAt = null, now } = request
  if (!user.hasSecondFactor || factorAt !== null) return startSession(within, request)
  if (user.state === 'disabled') return 'notFound'
  const expiresAt = now + sessionTimes.pendingMs
  await auditOwn(within, user.id, { at: now, action: 'account.logInPending', ip })
  const connects = newIdentity === undefined ? '' : Buffer.from(JSON.stringify(newIdentity)).toString('base64url')
  const token = createSignedToken(getScope(user, connects), { secrets, expiresAt })
  return { pending: [user.id, token, ...(connects === '' ? [] : [connects])].join('.'), expiresAt }
}

/** Whether a log-in still needs a second factor. */
export const isPending = (started: LoggedIn | PendingLogIn): started is PendingLogIn => 'pending' in started

/**
 * Finds the user of a log-in that is pending, and what it connects.
 * @param within - To use the log-in up: a transaction that has locked the user.
 * @returns `undefined` if it was used or has expired, or the password has changed.
 */
export const findPendingLogIn = async (
  { secrets, now }: Pick<AccountContext, 'secrets' | 'now'>,
  within: Pick<Repositories, 'users' | 'identities'>,
  pending: string | undefined,
): Promise<
  { readonly user: User; readonly token: ValidToken; readonly newIdentity: NewIdentity | undefined } | undefined
> => {
  const [id = '', expiry, nonce, signature, connects = ''] = (pending ?? '').split('.')
  const user = await within.users.find(id)
  const text = [expiry, nonce, signature].join('.')
  const token = user && readSignedToken(text, getScope(user, connects), { secrets, now: now() })
  if (user?.state !== 'active' || token === undefined || (await within.identities.isUsed(token.hash))) return undefined
  const newIdentity =
    connects === '' ? undefined : (JSON.parse(Buffer.from(connects, 'base64url').toString()) as NewIdentity)
  return { user, token, newIdentity }
}
