import { auditOwn } from './accountContext.ts'
import type { AccountContext } from './accountContext.ts'
import type { Accounts } from './accounts.ts'
import { hashSecret } from './secretText.ts'
import { getSessionExpiry, isComplete } from './startSession.ts'

/** Gets the id of a session from its stored hash. Not a part of the hash, by which the session is found. */
export const toSessionId = (hash: string): string => `ses_${hashSecret(hash).slice(0, 20)}`

/** Creates the functions for the sessions of a user. */
export const createOpenSessions = ({
  storage,
  now,
}: AccountContext): Pick<Accounts, 'listSessions' | 'endSession' | 'endOtherSessions'> => ({
  listSessions: async ({ user, session }) => {
    const stored = await storage.sessions.list(user.id)
    return stored
      .filter((one) => now() < getSessionExpiry(one) && isComplete({ user, session: one }))
      .map((one) => ({
        id: toSessionId(one.hash),
        current: one.hash === session?.hash,
        createdAt: one.createdAt,
        seenAt: one.seenAt,
        expiresAt: getSessionExpiry(one),
        ip: one.ip,
        userAgent: one.userAgent,
      }))
      .toSorted((one, other) => Number(other.current) - Number(one.current) || other.seenAt - one.seenAt)
  },

  endSession: ({ viewer: { user }, id, ip }) =>
    storage.transaction(async (within) => {
      const session = (await within.sessions.list(user.id)).find(({ hash }) => toSessionId(hash) === id)
      if (session === undefined || !(await within.sessions.end(session.hash))) return false
      const detail = { loggedInAt: session.createdAt, address: session.ip }
      await auditOwn(within, user.id, { at: now(), action: 'account.endSession', subject: id, ip, detail })
      return true
    }),

  endOtherSessions: ({ viewer: { user, session }, ip }) =>
    storage.transaction(async (within) => {
      const ended = await within.sessions.endAll(user.id, session === undefined ? {} : { except: session.hash })
      if (ended > 0)
        await auditOwn(within, user.id, { at: now(), action: 'account.endSessions', ip, detail: { sessions: ended } })
    }),
})
