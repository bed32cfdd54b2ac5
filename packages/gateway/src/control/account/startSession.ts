import type { Repositories } from '../../storage/repositories.ts'
import type { User } from '../../storage/users.ts'
import { toAccount } from './accountContext.ts'
import type { LoggedIn, Origin } from './accounts.ts'
import { hashSecret } from './secretText.ts'
import { createSessionToken } from './sessionCookie.ts'

const day = 86_400_000

/** Session lifetimes, in milliseconds. */
export const sessionTimes: { readonly idleMs: number; readonly totalMs: number; readonly freshMs: number } =
  Object.freeze({
    /** Expiry after the last use. */
    idleMs: 7 * day,
    /** Expiry after log-in. */
    totalMs: 30 * day,
    /** How long after log-in sensitive actions do not require the password. */
    freshMs: 15 * 60_000,
  })

/**
 * Creates a session with a new secret.
 * @param request.user - The stored user, including the password hash.
 * @returns The session, or `'notFound'` if the user was deleted or disabled, or the password changed, since `user` was read.
 */
export const startSession = async (
  { sessions }: Pick<Repositories, 'sessions'>,
  { user, ip, userAgent, now }: Origin & { user: User; now: number },
): Promise<LoggedIn | 'notFound'> => {
  const token = createSessionToken()
  const hash = hashSecret(token)
  const session = await sessions.create({
    hash,
    userId: user.id,
    password: user.password,
    ip,
    ...(userAgent === undefined ? {} : { userAgent }),
    now,
  })
  if (session === 'notFound') return session
  return {
    viewer: { user: toAccount(user), session: { ...session, hash } },
    token,
    expiresAt: now + sessionTimes.totalMs,
  }
}
