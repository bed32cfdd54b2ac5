import { audit } from './accountParts.ts'
import type { GuardedParts } from './accountParts.ts'
import { reject } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { Accounts, Viewer } from './accounts.ts'
import { canBePassword, findPasswordFault } from './findPasswordFault.ts'
import { hashEmail } from './hashEmail.ts'
import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { hashSecret, isSecretText } from './secretText.ts'
import { sessionTimes, startSession } from './startSession.ts'
import type { User } from '../../storage/users.ts'

/** Makes what asks for a password a second time, and what sets a new one. */
export const createPasswordChanges = ({
  storage,
  passwords,
  secrets,
  now,
  onChange,
  signUps,
  confirmations,
}: GuardedParts): Pick<Accounts, 'confirm' | 'changePassword' | 'resetPassword' | 'deleteAccount'> => {
  /** The viewer's account as it is stored, if the password is its own. */
  const askAgain = async (viewer: Viewer, password: string, field: string): Promise<User | AccountError> => {
    if (viewer.session === undefined) return reject.needsSession()
    const { hash } = viewer.session
    const waitMs = confirmations.waitMs(hash)
    if (waitMs > 0) return reject.tooManyTries(waitMs)
    const takeBack = confirmations.add(hash)
    let wrong = false
    try {
      const user = await storage.users.find(viewer.user.id)
      if (user === undefined) return reject.gone()
      if (user.state === 'disabled') return reject.disabled()
      const right = canBePassword(password) && (await passwords.verify(user.password, password))
      if (right === 'busy') return reject.busy()
      if (right) return user
      wrong = true
      await audit(storage, {
        at: now(),
        userId: user.id,
        actor: user.id,
        action: 'account.confirmFailed',
        subject: user.id,
      })
      return reject.wrongPassword(field)
    } finally {
      if (!wrong) takeBack()
    }
  }

  return {
    confirm: async (viewer, password) => {
      if (viewer.session === undefined) return reject.needsSession()
      if (now() - viewer.session.createdAt < sessionTimes.freshMs) return true
      if (password === undefined)
        return {
          status: 403,
          code: 'confirm_required',
          message: 'this asks for the password, as the session is older than 15 minutes',
          field: 'password',
        }
      const user = await askAgain(viewer, password, 'password')
      return 'code' in user ? user : true
    },

    changePassword: async ({ viewer, current, next, ip, userAgent }) => {
      if (viewer.session === undefined) return reject.needsSession()
      const fault = findPasswordFault(next, { email: viewer.user.email })
      if (fault !== undefined) return reject.password(fault, 'next')
      if (next.normalize('NFKC') === current.normalize('NFKC'))
        return reject.password('must be another than the one from before', 'next')
      const user = await askAgain(viewer, current, 'current')
      if ('code' in user) return user
      const hashed = await passwords.hash(next)
      if (hashed === 'busy') return reject.busy()
      const changed = await storage.transaction(async (within) => {
        const at = now()
        // Of two changes at once one holds: the other was asked for with a password that is no longer right.
        if (!(await within.users.setPassword(user.id, hashed.phc, { from: user.password }))) return 'notFound'
        await within.sessions.endAll(user.id)
        await within.oneTimeLinks.remove(user.id)
        await audit(within, {
          at,
          userId: user.id,
          actor: user.id,
          action: 'account.changePassword',
          subject: user.id,
          ip,
        })
        return startSession(within, { user: { ...user, password: hashed.phc }, ip, userAgent, now: at })
      })
      return changed === 'notFound' ? reject.wrongPassword('current') : changed
    },

    resetPassword: async ({ link, password, ip, userAgent }) => {
      if (!isSecretText('link', link)) return reject.link()
      const caller = toIpBlock(ip)
      const waitMs = signUps.waitMs(caller)
      if (waitMs > 0) return reject.tooManyTries(waitMs)
      signUps.add(caller)
      const hash = hashSecret(link)
      const found = await storage.oneTimeLinks.find(hash)
      const owner = found === undefined || found.expiresAt <= now() ? undefined : await storage.users.find(found.userId)
      if (owner === undefined) return reject.link()
      const fault = findPasswordFault(password, { email: owner.email })
      if (fault !== undefined) return reject.password(fault, 'password')
      const hashed = await passwords.hash(password)
      if (hashed === 'busy') return reject.busy()
      return storage.transaction(async (within) => {
        const at = now()
        // The account before its link, as whoever makes a link does.
        const user = await within.users.findForUpdate(owner.id)
        const held = await within.oneTimeLinks.find(hash)
        if (user === undefined || held === undefined || held.expiresAt <= at) return reject.link()
        // The link stays, for when the account is enabled again.
        if (user.state === 'disabled') return reject.disabled()
        await within.oneTimeLinks.remove(user.id)
        await within.users.setPassword(user.id, hashed.phc)
        await within.sessions.endAll(user.id)
        // Whoever had the account before may have made some.
        const accessTokens = await within.accessTokens.removeAll(user.id)
        await audit(within, {
          at,
          userId: user.id,
          actor: user.id,
          action: 'account.resetPassword',
          subject: user.id,
          ip,
          detail: { accessTokens },
        })
        const started = await startSession(within, {
          user: { ...user, password: hashed.phc },
          ip,
          userAgent,
          now: at,
        })
        if (started === 'notFound') throw new Error('a user whose password was just set is not there')
        return started
      })
    },

    deleteAccount: async ({ viewer, password, ip }) => {
      const user = await askAgain(viewer, password, 'password')
      if ('code' in user) return user
      const deleted = await storage.transaction(async (within) => {
        // Held, so that no app is created between the count and the deletion.
        const held = await within.users.findForUpdate(user.id)
        if (held === undefined) return false
        const [secret] = secrets
        if (secret !== undefined)
          await within.leftUsers.add({ emailHash: hashEmail(held.email, secret), user: held, now: now() })
        await audit(within, {
          at: now(),
          userId: user.id,
          actor: user.id,
          action: 'account.delete',
          subject: user.id,
          ip,
        })
        return within.users.remove(user.id)
      })
      if (!deleted) return reject.gone()
      onChange([{ kind: 'user', id: user.id }])
      return true
    },
  }
}
