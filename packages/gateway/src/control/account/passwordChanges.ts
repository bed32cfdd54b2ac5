import { auditOwn, rollBackOnError } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'
import { accountErrors } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { Accounts } from './accounts.ts'
import type { Viewer } from './viewer.ts'
import { accountEmails } from './accountEmails.ts'
import { canBePassword, findPasswordProblem } from './findPasswordProblem.ts'
import { hashEmail } from './hashEmail.ts'
import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { hashSecret, isSecretText } from './secretText.ts'
import { leaveTeams } from './leaveTeams.ts'
import { findStaleFactor, isFresh, startLogIn, startSession } from './startSession.ts'
import type { Repositories } from '../../storage/repositories.ts'
import type { User } from '../../storage/users.ts'

/** Creates the functions that confirm or change a password. */
export const createPasswordChanges = (
  context: ThrottledContext,
): Pick<Accounts, 'confirm' | 'changePassword' | 'resetPassword' | 'deleteAccount'> => ({
  confirm: (viewer, password) => confirm(context, viewer, password),
  changePassword: (options) => changePassword(context, options),
  resetPassword: (options) => resetPassword(context, options),
  deleteAccount: (options) => deleteAccount(context, options),
})

/** Returns the viewer's stored account if the password is right. */
const verifyPassword = async (
  { confirmations, storage, passwords, now }: ThrottledContext,
  viewer: Viewer,
  password: string,
  field: string,
): Promise<User | AccountError> => {
  if (viewer.session === undefined) return accountErrors.sessionRequired()
  const { hash } = viewer.session
  const waitMs = confirmations.waitMs(hash)
  if (waitMs > 0) return accountErrors.tooManyTries(waitMs)
  const undo = confirmations.record(hash)
  let wrong = false
  try {
    const user = await storage.users.find(viewer.user.id)
    if (user === undefined) return accountErrors.deleted()
    if (user.state === 'disabled') return accountErrors.disabled()
    const right =
      canBePassword(password) && (await passwords.verify(user.password, password, viewer.session.ip ?? undefined))
    if (right === 'busy') return accountErrors.busy()
    if (right) return user
    wrong = true
    await auditOwn(storage, user.id, { at: now(), action: 'account.confirmFailed' })
    return accountErrors.wrongPassword(field)
  } finally {
    if (!wrong) undo()
  }
}

/** Whether the account has a password that can confirm something. */
const hasPassword = ({ passwordLogin }: ThrottledContext, viewer: Viewer): boolean =>
  viewer.user.hasPassword && passwordLogin()

const notify = ({ mailer }: ThrottledContext, to: string): void =>
  mailer.enqueue('passwordChanged', async () => accountEmails.passwordChanged({ to, siteUrl: mailer.siteUrl() }))

const confirm = async (
  context: ThrottledContext,
  viewer: Viewer,
  password: string | undefined,
): ReturnType<Accounts['confirm']> => {
  if (viewer.session === undefined) return accountErrors.sessionRequired()
  if (isFresh(viewer, context.now())) return true
  const stale = findStaleFactor(viewer, context.now())
  if (stale !== undefined) return stale
  if (!hasPassword(context, viewer)) return accountErrors.logInAgain()
  if (password === undefined)
    return {
      status: 403,
      code: 'confirm_required',
      message: 'The session is older than 15 minutes. Send your password to confirm.',
      field: 'password',
    }
  const user = await verifyPassword(context, viewer, password, 'password')
  return 'code' in user ? user : true
}

const changePassword = async (
  context: ThrottledContext,
  { viewer, current, next, ip, userAgent }: Parameters<Accounts['changePassword']>[0],
): ReturnType<Accounts['changePassword']> => {
  const { passwordLogin, passwords, storage, now } = context
  const { session } = viewer
  if (session === undefined) return accountErrors.sessionRequired()
  if (!passwordLogin()) return accountErrors.passwordLogInDisabled()
  const problem = findPasswordProblem(next, { email: viewer.user.email })
  if (problem !== undefined) return accountErrors.password(problem, 'next')
  if (next.normalize('NFKC') === current.normalize('NFKC'))
    return accountErrors.password('is the current one. Choose another one.', 'next')
  const user = await verifyPassword(context, viewer, current, 'current')
  if ('code' in user) return user
  const hashed = await passwords.hash(next, ip)
  if (hashed === 'busy') return accountErrors.busy()
  const changed = await storage.transaction(async (within) => {
    const at = now()
    // Of two concurrent changes only one succeeds: the other one used a password that is no longer current.
    if (!(await within.users.setPassword(user.id, hashed.phc, { from: user.password }))) return 'notFound'
    await endAccess(within, user.id, { at, action: 'account.changePassword', ip })
    const { factorAt } = session
    return startSession(within, { user: { ...user, password: hashed.phc }, ip, userAgent, factorAt, now: at })
  })
  if (changed === 'notFound') return accountErrors.wrongPassword('current')
  notify(context, user.email)
  return changed
}

/** Ends everything that gave access to an account with its former password, also what an attacker may have created, and records the change. */
const endAccess = async (
  within: Repositories,
  id: string,
  entry: { readonly at: number; readonly action: string; readonly ip: string | undefined },
): Promise<void> => {
  await within.sessions.endAll(id)
  await within.oneTimeLinks.remove(id)
  await within.emailLinks.removeAll(id)
  const accessTokens = await within.accessTokens.removeAll(id)
  await auditOwn(within, id, { ...entry, detail: { accessTokens } })
}

const resetPassword = async (
  context: ThrottledContext,
  { link, password, ip, userAgent }: Parameters<Accounts['resetPassword']>[0],
): ReturnType<Accounts['resetPassword']> => {
  const { passwordLogin, signUps, storage, now, passwords } = context
  if (!passwordLogin()) return accountErrors.passwordLogInDisabled()
  if (!isSecretText('link', link)) return accountErrors.link()
  const caller = toIpBlock(ip)
  const waitMs = signUps.waitMs(caller)
  if (waitMs > 0) return accountErrors.tooManyTries(waitMs)
  signUps.record(caller)
  const hash = hashSecret(link)
  const found = await storage.oneTimeLinks.find(hash)
  const owner = found === undefined || found.expiresAt <= now() ? undefined : await storage.users.find(found.userId)
  if (owner === undefined) return accountErrors.link()
  const problem = findPasswordProblem(password, { email: owner.email })
  if (problem !== undefined) return accountErrors.password(problem, 'password')
  const hashed = await passwords.hash(password, ip)
  if (hashed === 'busy') return accountErrors.busy()
  const reset = await storage.transaction(async (within) => {
    const at = now()
    // Locks the account before its link, in the same order as resetLink does.
    const user = await within.users.findForUpdate(owner.id)
    const unused = await within.oneTimeLinks.find(hash)
    if (user === undefined || unused === undefined || unused.expiresAt <= at) return accountErrors.link()
    // The link remains valid for when the account is enabled again.
    if (user.state === 'disabled') return accountErrors.disabled()
    await within.users.setPassword(user.id, hashed.phc)
    await endAccess(within, user.id, { at, action: 'account.resetPassword', ip })
    const started = await startLogIn(context, within, {
      user: { ...user, password: hashed.phc },
      ip,
      userAgent,
      now: at,
    })
    if (started === 'notFound') throw new Error('a user whose password was just set does not exist')
    return started
  })
  if (!('code' in reset)) notify(context, owner.email)
  return reset
}

const deleteAccount = async (
  context: ThrottledContext,
  { viewer, password, ip }: Parameters<Accounts['deleteAccount']>[0],
): ReturnType<Accounts['deleteAccount']> => {
  const { storage, secrets, now, onChange } = context
  if (viewer.session === undefined) return accountErrors.sessionRequired()
  if (hasPassword(context, viewer)) {
    if (password === undefined) return accountErrors.passwordRequired()
    const verified = await verifyPassword(context, viewer, password, 'password')
    if ('code' in verified) return verified
  } else if (!isFresh(viewer, now())) return accountErrors.logInAgain()
  const { id } = viewer.user
  const deleted = await rollBackOnError(storage, async (within) => {
    const left = await leaveTeams(context, within, viewer.user, ip)
    if ('code' in left) return left
    // Locked, so that no app is created between the count and the deletion.
    const stored = await within.users.findForUpdate(id)
    if (stored === undefined) return accountErrors.deleted()
    const [secret] = secrets
    if (secret !== undefined)
      await within.leftUsers.add({ emailHash: hashEmail(stored.email, secret), user: stored, now: now() })
    await auditOwn(within, id, { at: now(), action: 'account.delete', ip })
    await within.users.remove(id)
    await within.teams.recordLimits(left)
    return left
  })
  if ('code' in deleted) return deleted
  onChange([id, ...deleted].map((user) => ({ kind: 'user', id: user })))
  return true
}
