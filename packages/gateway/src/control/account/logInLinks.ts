import type { AccountContext } from './accountContext.ts'
import { accountErrors } from './accountError.ts'
import type { Accounts } from './accounts.ts'
import { createSecretText, hashSecret } from './secretText.ts'
import { isPending, recordLogIn, startLogIn } from './startSession.ts'

/** How long a link works, in milliseconds. */
const linkMs = 15 * 60_000

/** Creates the functions of links that log in once. The links are only in memory, so they end with the process. */
export const createLogInLinks = (context: AccountContext): Pick<Accounts, 'createLogInLink' | 'logInWithLink'> => {
  const { storage, now } = context
  const links = new Map<string, { readonly userId: string; readonly expiresAt: number }>()
  return {
    createLogInLink: (userId) => {
      for (const [hash, { expiresAt }] of links) if (expiresAt <= now()) links.delete(hash)
      const text = createSecretText('logIn')
      links.set(hashSecret(text), { userId, expiresAt: now() + linkMs })
      return text
    },

    logInWithLink: async ({ link, current, ip, userAgent }) => {
      const hash = hashSecret(link)
      const found = links.get(hash)
      // Before anything is awaited: of two concurrent requests only one gets a session.
      links.delete(hash)
      if (found === undefined || found.expiresAt <= now()) return accountErrors.logInLink()
      const { userId } = found
      let isUsed = false
      try {
        const user = await storage.users.find(userId)
        if (user === undefined) return accountErrors.deleted()
        if (user.state === 'disabled') return accountErrors.disabled()
        const started = await storage.transaction(async (within) => {
          const at = now()
          const session = await startLogIn(context, within, { user, ip, userAgent, now: at })
          if (session === 'notFound' || isPending(session)) return session
          await recordLogIn(within, userId, { at, ip, current })
          return session
        })
        isUsed = started !== 'notFound'
        return started === 'notFound' ? accountErrors.logInLink() : started
      } finally {
        // It still works once the account is enabled, or the database is back.
        if (!isUsed) links.set(hash, found)
      }
    },
  }
}
