import type { Repositories } from '../../storage/repositories.ts'
import type { User } from '../../storage/users.ts'
import { toAccount } from './accountParts.ts'
import type { LoggedIn, Origin } from './accounts.ts'
import { hashSecret } from './secretText.ts'
import { createSessionToken } from './sessionToken.ts'

const day = 86_400_000

/** How long a session lives, in milliseconds. */
export const sessionTimes: { readonly idleMs: number; readonly totalMs: number; readonly freshMs: number } =
  Object.freeze({
    /** After its last use. */
    idleMs: 7 * day,
    /** After its beginning. */
    totalMs: 30 * day,
    /** After its beginning, for what otherwise asks for the password. */
    freshMs: 15 * 60_000,
  })

/**
 * Makes a session with a new secret.
 * @param request.user - As it is stored now, the hash of the password included.
 * @returns The session, or `'notFound'` where the user was deleted, disabled or given another password meanwhile.
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
