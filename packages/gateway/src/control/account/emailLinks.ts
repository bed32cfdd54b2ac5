import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { isSameEmail, toEmailIdentity } from '../../storage/emailIdentity.ts'
import { audit, auditOwn, toAccount } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'
import { accountErrors } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import { accountEmails, getSignUpFragment } from './accountEmails.ts'
import type { Accounts } from './accounts.ts'
import { findInvite } from './findInvite.ts'
import { createSecretText, hashSecret, isSecretText } from './secretText.ts'

/** How long the links work, in milliseconds. */
const linkMs = 60 * 60_000

/**
 * Creates the functions that send a link to an email address. They return before anything is looked up about the address, so neither the
 * response nor its time depends on whether the address has an account.
 */
export const createEmailLinks = (
  context: ThrottledContext,
): Pick<Accounts, 'requestSignUp' | 'forgotPassword' | 'requestEmail' | 'verifyEmail'> => ({
  requestSignUp: (options) => requestSignUp(context, options),
  forgotPassword: (options) => forgotPassword(context, options),
  requestEmail: (options) => requestEmail(context, options),
  verifyEmail: (options) => verifyEmail(context, options),
})

/** Counts a request from an IP address. @returns The error if it has made too many. */
const takeIp = ({ emailsByIp }: ThrottledContext, ip: string): AccountError | undefined => {
  const caller = toIpBlock(ip)
  const waitMs = emailsByIp.waitMs(caller)
  if (waitMs > 0) return accountErrors.tooManyTries(waitMs)
  emailsByIp.record(caller)
  return undefined
}

/** Counts an email to an address. @returns `false` if it gets too many. The caller must not notice. */
const takeAddress = ({ emailsByAddress }: ThrottledContext, email: string): boolean => {
  // Hashed, so that long addresses do not use more memory.
  const key = hashSecret(toEmailIdentity(email) ?? email).slice(0, 32)
  if (emailsByAddress.waitMs(key) > 0) return false
  emailsByAddress.record(key)
  return true
}

const createLink = async (
  { now, storage }: ThrottledContext,
  email: string,
  userId: string | null,
): Promise<string> => {
  const text = createSecretText('email')
  const at = now()
  await storage.emailLinks.create({ hash: hashSecret(text), email, userId, expiresAt: at + linkMs, now: at })
  return text
}

const requestSignUp = async (
  context: ThrottledContext,
  { email, invite, ip }: Parameters<Accounts['requestSignUp']>[0],
): ReturnType<Accounts['requestSignUp']> => {
  const { mailer, passwordLogin, storage, now } = context
  if (!mailer.isOn()) return accountErrors.emailDisabled()
  if (!passwordLogin()) return accountErrors.passwordLogInDisabled()
  const mode = context.signUp()
  if (mode === 'closed') return accountErrors.signUpClosed()
  if (toEmailIdentity(email) === undefined) return accountErrors.email()
  const rejected = takeIp(context, ip)
  if (rejected !== undefined) return rejected
  if (mode === 'invite') {
    const found = await findInvite(storage, { invite, email, now: now() })
    if ('code' in found) return found
  }
  if (!takeAddress(context, email)) return true
  const to = { to: email.trim(), siteUrl: mailer.siteUrl() }
  mailer.enqueue('signUp', async () => {
    if ((await storage.users.findByEmail(email)) !== undefined) return accountEmails.accountExists(to)
    const link = await createLink(context, email, null)
    const usedInvite = mode === 'invite' ? invite : undefined
    return accountEmails.signUp(to, getSignUpFragment(link, { email: to.to, invite: usedInvite }))
  })
  return true
}

const forgotPassword = async (
  context: ThrottledContext,
  { email, ip }: Parameters<Accounts['forgotPassword']>[0],
): ReturnType<Accounts['forgotPassword']> => {
  const { mailer, passwordLogin, storage, now } = context
  if (!mailer.isOn()) return accountErrors.emailDisabled()
  if (!passwordLogin()) return accountErrors.passwordLogInDisabled()
  if (toEmailIdentity(email) === undefined) return accountErrors.email()
  const rejected = takeIp(context, ip)
  if (rejected !== undefined) return rejected
  if (!takeAddress(context, email)) return true
  mailer.enqueue('resetPassword', async () => {
    const user = await storage.users.findByEmail(email)
    if (user?.state !== 'active') return undefined
    const text = createSecretText('link')
    const created = await storage.transaction(async (within) => {
      const at = now()
      const link = await within.oneTimeLinks.create({
        hash: hashSecret(text),
        userId: user.id,
        expiresAt: at + linkMs,
        now: at,
      })
      if (link === 'notFound') return false
      await audit(within, {
        at,
        userId: user.id,
        actor: 'nobody',
        action: 'account.forgotPassword',
        subject: user.id,
        ip,
      })
      return true
    })
    return created ? accountEmails.resetPassword({ to: user.email, siteUrl: mailer.siteUrl() }, text) : undefined
  })
  return true
}

const requestEmail = async (
  context: ThrottledContext,
  { viewer, email, ip }: Parameters<Accounts['requestEmail']>[0],
): ReturnType<Accounts['requestEmail']> => {
  const { mailer, storage, now } = context
  if (!mailer.isOn()) return accountErrors.emailDisabled()
  if (viewer.session === undefined) return accountErrors.sessionRequired()
  if (toEmailIdentity(email) === undefined) return accountErrors.email()
  const rejected = takeIp(context, ip)
  if (rejected !== undefined) return rejected
  const userId = viewer.user.id
  await auditOwn(storage, userId, { at: now(), action: 'account.requestEmail', ip })
  if (!takeAddress(context, email)) return true
  const to = { to: email.trim(), siteUrl: mailer.siteUrl() }
  mailer.enqueue('verifyEmail', async () => {
    const owner = await storage.users.findByEmail(email)
    if (owner !== undefined && owner.id !== userId) return accountEmails.accountExists(to)
    // The account may have been deleted since.
    if ((await storage.users.find(userId)) === undefined) return undefined
    return accountEmails.verifyEmail(to, await createLink(context, email, userId))
  })
  return true
}

const verifyEmail = async (
  context: ThrottledContext,
  { viewer, link, ip }: Parameters<Accounts['verifyEmail']>[0],
): ReturnType<Accounts['verifyEmail']> => {
  const { storage, now, mailer } = context
  if (viewer.session === undefined) return accountErrors.sessionRequired()
  if (!isSecretText('email', link)) return accountErrors.link()
  const rejected = takeIp(context, ip)
  if (rejected !== undefined) return rejected
  const hash = hashSecret(link)
  const userId = viewer.user.id
  const changed = await storage.transaction(async (within) => {
    const at = now()
    // Locks the account before its link, in the same order as other changes of the account.
    const user = await within.users.findForUpdate(userId)
    const unused = await within.emailLinks.find(hash)
    // Only in a session of the account: an attacker can have a link sent to someone else, whose click must not prove the attacker's account.
    const isValid = unused !== undefined && unused.userId === userId && unused.expiresAt > at
    if (user === undefined || !isValid) return accountErrors.link()
    const set = await within.users.setVerifiedEmail(userId, unused.email, at)
    if (typeof set === 'string') return accountErrors.fromEmailProblem(set)
    await within.emailLinks.remove(hash)
    const isOther = !isSameEmail(unused.email, user.email)
    // Sent to the address that the account no longer has.
    if (isOther) await within.oneTimeLinks.remove(userId)
    await auditOwn(within, userId, { at, action: isOther ? 'account.changeEmail' : 'account.verifyEmail', ip })
    return { user: toAccount({ ...user, email: unused.email, emailVerifiedAt: at }), before: user.email, isOther }
  })
  if ('code' in changed) return changed
  const { user, before, isOther } = changed
  if (isOther)
    mailer.enqueue('emailChanged', async () => accountEmails.emailChanged({ to: before, siteUrl: mailer.siteUrl() }))
  return user
}
