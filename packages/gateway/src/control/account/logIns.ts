import { isSameEmail, toEmailIdentity } from '../../storage/emailIdentity.ts'
import type { Invite } from '../../storage/invites.ts'
import type { Repositories } from '../../storage/repositories.ts'
import type { User } from '../../storage/users.ts'
import { auditOwn, toAccount } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'
import { accountErrors } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { Accounts } from './accounts.ts'
import { canBePassword, findPasswordProblem } from './findPasswordProblem.ts'
import { addSignUp } from './addSignUp.ts'
import { auditFailedLogIn } from './auditFailedLogIn.ts'
import { findInvite } from './findInvite.ts'
import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { hashSecret, isSecretText } from './secretText.ts'
import { pruneSome } from './pruneAccounts.ts'
import { isSessionToken } from './sessionCookie.ts'
import { getSessionExpiry, isComplete, isPending, recordLogIn, startLogIn, startSession } from './startSession.ts'

const touchEveryMs = 60_000

/** A permission to sign up. Creating the account uses it up. */
interface SignUpPermission {
  readonly invite: Invite | undefined
  readonly linkHash?: string | undefined
  /** Whether the email address is proved. */
  readonly isVerified: boolean
}

/** Creates the functions that start and end sessions. */
export const createLogIns = (
  context: ThrottledContext,
): Pick<Accounts, 'signUp' | 'logIn' | 'logOut' | 'authenticate'> => ({
  signUp: (options) => signUp(context, options),
  logIn: (options) => logIn(context, options),
  logOut: (token, origin) => logOut(context, token, origin),
  authenticate: (token) => authenticate(context, token),
})

/** Deletes more rows than one log-in adds. */
const prune = (context: ThrottledContext): Promise<boolean> => {
  const { storage, now } = context
  return pruneSome({ storage, now: now(), auditMs: context.auditMs })
}

/** Finds what lets somebody sign up: the invite, if sign-up needs one, and the proof of the email address, if the service sends emails. */
const findPermission = async (
  context: ThrottledContext,
  within: Pick<Repositories, 'invites' | 'emailLinks'>,
  { email, invite, link }: { email: string; invite: string | undefined; link: string | undefined },
): Promise<SignUpPermission | AccountError> => {
  const { now, mailer } = context
  const found = context.signUp() === 'invite' ? await findInvite(within, { invite, email, now: now() }) : undefined
  if (found !== undefined && 'code' in found) return found
  if (!mailer.isOn()) return { invite: found, isVerified: false }
  if (found?.mailed === true && found.email !== null) return { invite: found, isVerified: true }
  if (link === undefined) return accountErrors.emailUnverified()
  const linkHash = isSecretText('email', link) ? hashSecret(link) : undefined
  const proof = linkHash === undefined ? undefined : await within.emailLinks.find(linkHash)
  const isProof = proof?.userId === null && proof.expiresAt > now() && isSameEmail(proof.email, email)
  return isProof ? { invite: found, linkHash, isVerified: true } : accountErrors.link()
}

const rehash = async (
  { passwords, storage }: ThrottledContext,
  user: User,
  { password, ip }: { password: string; ip: string },
): Promise<User> => {
  const hashed = await passwords.hash(password, ip)
  // Not worth failing the log-in: the next one tries again.
  if (hashed === 'busy') return user
  const changed = await storage.users.setPassword(user.id, hashed.phc, { from: user.password })
  return changed ? { ...user, password: hashed.phc } : user
}

const signUp = async (
  context: ThrottledContext,
  { email, password, invite, link, ip, userAgent }: Parameters<Accounts['signUp']>[0],
): ReturnType<Accounts['signUp']> => {
  const { passwordLogin, signUps, storage, passwords, now } = context
  if (context.signUp() === 'closed') return accountErrors.signUpClosed()
  if (!passwordLogin()) return accountErrors.passwordLogInDisabled()
  if (toEmailIdentity(email) === undefined) return accountErrors.email()
  const problem = findPasswordProblem(password, { email })
  if (problem !== undefined) return accountErrors.password(problem, 'password')
  const caller = toIpBlock(ip)
  const waitMs = signUps.waitMs(caller)
  if (waitMs > 0) return accountErrors.tooManyTries(waitMs)
  const undo = signUps.record(caller)
  // Checked before the email address, so that a client without an invite or a link cannot find out which addresses have accounts.
  const checked = await findPermission(context, storage, { email, invite, link })
  if ('code' in checked) return checked
  if ((await storage.users.findByEmail(email)) !== undefined) return accountErrors.emailTaken()
  const hashed = await passwords.hash(password, ip)
  if (hashed === 'busy') {
    undo()
    return accountErrors.busy()
  }
  await prune(context)
  return storage.transaction(async (within) => {
    const at = now()
    const used = await findPermission(context, within, { email, invite, link })
    if ('code' in used) return used
    const { isVerified, linkHash, invite: usedInvite } = used
    const user = await addSignUp(within, {
      email,
      password: hashed.phc,
      isVerified,
      invite: usedInvite,
      secrets: context.secrets,
      ip,
      now: at,
    })
    if (typeof user === 'string') return accountErrors.fromEmailProblem(user)
    if (linkHash !== undefined) await within.emailLinks.remove(linkHash)
    const started = await startSession(within, { user, ip, userAgent, now: at })
    if (started === 'notFound') throw new Error('a user that was just created does not exist')
    return started
  })
}

const logIn = async (
  context: ThrottledContext,
  { email, password, current, ip, userAgent }: Parameters<Accounts['logIn']>[0],
): ReturnType<Accounts['logIn']> => {
  const { passwordLogin, logInThrottle, storage, passwords, now } = context
  if (!passwordLogin()) return accountErrors.passwordLogInDisabled()
  const attempt = logInThrottle.take({ email, ip })
  if (attempt.retryAfterMs > 0) return accountErrors.tooManyTries(attempt.retryAfterMs)
  let failed = false
  const fail = async (user: User | undefined, reason: string, error: AccountError): Promise<AccountError> => {
    failed = true
    await auditFailedLogIn(context, { userId: user?.id ?? null, ip, detail: { why: reason } })
    return error
  }
  try {
    // A text that cannot be a password is not hashed. The response then depends only on the input.
    const possible = toEmailIdentity(email) !== undefined && canBePassword(password)
    const user = possible ? await storage.users.findByEmail(email) : undefined
    const right = possible ? await passwords.verify(user?.password, password, ip) : false
    if (right === 'busy') return accountErrors.busy()
    if (!right || user === undefined) return await fail(user, 'wrongPassword', accountErrors.wrongCredentials())
    if (user.state === 'disabled') return await fail(user, 'disabled', accountErrors.disabled())
    const known = passwords.isWeak(user.password) ? await rehash(context, user, { password, ip }) : user
    await prune(context)
    const started = await storage.transaction(async (within) => {
      const at = now()
      const session = await startLogIn(context, within, { user: known, ip, userAgent, now: at })
      if (session === 'notFound' || isPending(session)) return session
      await recordLogIn(within, user.id, { at, ip, current })
      return session
    })
    if (started === 'notFound') return await fail(user, 'wrongPassword', accountErrors.wrongCredentials())
    passwords.remember(ip)
    return started
  } finally {
    if (!failed) attempt.succeeded()
  }
}

const logOut = async (
  { storage, now }: ThrottledContext,
  token: string,
  origin: Parameters<Accounts['logOut']>[1],
): ReturnType<Accounts['logOut']> => {
  if (!isSessionToken(token)) return
  const hash = hashSecret(token)
  await storage.transaction(async (within) => {
    const session = await within.sessions.find(hash)
    if (session === undefined || !(await within.sessions.end(hash))) return
    const { userId } = session
    await auditOwn(within, userId, { at: now(), action: 'account.logOut', ip: origin?.ip })
  })
}

const authenticate = async (
  { storage, now }: ThrottledContext,
  token: string,
): ReturnType<Accounts['authenticate']> => {
  if (!isSessionToken(token)) return undefined
  const hash = hashSecret(token)
  const session = await storage.sessions.find(hash)
  if (session === undefined) return undefined
  const at = now()
  if (at >= getSessionExpiry(session)) return undefined
  const user = await storage.users.find(session.userId)
  if (user?.state !== 'active') return undefined
  const viewer = { user: toAccount(user), session: { ...session, hash } }
  if (!isComplete(viewer)) return undefined
  if (at - session.seenAt < touchEveryMs) return viewer
  // The session ended between the two queries.
  if (!(await storage.sessions.touch(hash, at))) return undefined
  return { ...viewer, session: { ...viewer.session, seenAt: at } }
}
