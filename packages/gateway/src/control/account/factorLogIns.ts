import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import type { ThrottledContext } from './accountContext.ts'
import { accountErrors, isAccountError } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import { auditFailedLogIn } from './auditFailedLogIn.ts'
import type { Accounts } from './accounts.ts'
import type { Viewer } from './viewer.ts'
import { challengeMs, createFactorOptions, proveFactor, usePasskey } from './proveFactor.ts'
import { hashSecret } from './secretText.ts'
import type { Throttle } from './createThrottle.ts'
import { createSessionToken } from './sessionCookie.ts'
import { syncGroups } from './singleSignOn.ts'
import { findPendingLogIn, recordLogIn, startSession } from './startSession.ts'

/** Creates the functions that log in with a second factor or a passkey, and that prove one again. */
export const createFactorLogIns = (
  context: ThrottledContext,
): Pick<
  Accounts,
  'getLogInOptions' | 'finishLogIn' | 'startPasskeyLogIn' | 'logInWithPasskey' | 'getConfirmOptions' | 'confirmFactor'
> => ({
  getLogInOptions: async ({ pending, site }) => {
    const found = await findPendingLogIn(context, context.storage, pending)
    if (found === undefined) return accountErrors.logInExpired()
    return createFactorOptions(context, { userId: found.user.id, binding: found.token.hash, site })
  },
  finishLogIn: (request) => finishLogIn(context, request),
  startPasskeyLogIn: (request) => startPasskeyLogIn(context, request),
  logInWithPasskey: (request) => logInWithPasskey(context, request),
  getConfirmOptions: async ({ viewer: { user, session }, site }) =>
    session === undefined
      ? accountErrors.sessionRequired()
      : createFactorOptions(context, { userId: user.id, binding: session.hash, site }),
  confirmFactor: (request) => confirmFactor(context, request),
})

const finishLogIn = async (
  context: ThrottledContext,
  { pending, current, ...request }: Parameters<Accounts['finishLogIn']>[0],
): ReturnType<Accounts['finishLogIn']> => {
  const { storage, passwords, secondSteps, now } = context
  const { ip, userAgent } = request
  const started = await findPendingLogIn(context, storage, pending)
  if (started === undefined) return accountErrors.logInExpired()
  const userId = started.user.id
  const rejected = take(secondSteps, `${userId} ${toIpBlock(ip)}`)
  if (rejected !== undefined) return rejected
  const finished = await storage.transaction(async (within) => {
    const at = now()
    await within.users.findForUpdate(userId)
    // Read again with the lock, before the proof: a log-in that was used must not use up a code.
    const found = await findPendingLogIn(context, within, pending)
    if (found === undefined) return accountErrors.logInExpired()
    const { user, token, newIdentity } = found
    const proved = await proveFactor(context, within, { ...request, user, binding: token.hash })
    if (isAccountError(proved)) return proved
    await within.identities.useToken(token)
    const session = await startSession(within, { user, newIdentity, ip, userAgent, factorAt: at, now: at })
    if (session === 'notFound') return accountErrors.logInExpired()
    await recordLogIn(within, userId, { at, ip, current, detail: { factor: proved.kind } })
    return session
  })
  if (isAccountError(finished)) return finished
  const { newIdentity } = started
  if (newIdentity !== undefined) await syncGroups(context, { userId, groups: newIdentity.groups, ip })
  passwords.remember(ip)
  return finished
}

/** Counts a request. @returns The error if there are too many. */
const take = (throttle: Throttle, key: string): AccountError | undefined => {
  const waitMs = throttle.waitMs(key)
  if (waitMs > 0) return accountErrors.tooManyTries(waitMs)
  throttle.record(key)
  return undefined
}

/** Counts a log-in with a passkey alone, which the service may not have. */
const takePasskeyLogIn = (context: ThrottledContext, ip: string): AccountError | undefined =>
  // Otherwise a user whom the provider of single sign-on has removed could still log in.
  context.passwordLogin() ? take(context.signOnStarts, toIpBlock(ip)) : accountErrors.passwordLogInDisabled()

const startPasskeyLogIn = async (
  context: ThrottledContext,
  { site, ip }: Parameters<Accounts['startPasskeyLogIn']>[0],
): ReturnType<Accounts['startPasskeyLogIn']> => {
  const rejected = takePasskeyLogIn(context, ip)
  if (rejected !== undefined) return rejected
  const token = createSessionToken()
  const expiresAt = context.now() + challengeMs
  return { ...(await createFactorOptions(context, { binding: hashSecret(token), site })), token, expiresAt }
}

const logInWithPasskey = async (
  context: ThrottledContext,
  { token, passkey, current, site, ip, userAgent }: Parameters<Accounts['logInWithPasskey']>[0],
): ReturnType<Accounts['logInWithPasskey']> => {
  const { storage, passwords, now } = context
  const rejected = takePasskeyLogIn(context, ip)
  if (rejected !== undefined) return rejected
  if (token === undefined) return accountErrors.logInExpired()
  const finished = await storage.transaction(async (within) => {
    const at = now()
    const fail = async (userId: string | null, why: string, error: AccountError): Promise<AccountError> => {
      await auditFailedLogIn(context, { userId, ip, detail: { why } }, within)
      return error
    }
    const factor = await within.factors.findPasskey(passkey.id)
    const user = factor && (await within.users.findForUpdate(factor.userId))
    const handle = Buffer.from(passkey.userHandle ?? '', 'base64url').toString()
    if (user === undefined || factor === undefined || handle !== user.id)
      return fail(null, 'unknownPasskey', accountErrors.wrongFactor())
    const binding = hashSecret(token)
    const used = await usePasskey(context, within, { response: passkey, factor, binding, site, mustVerifyUser: true })
    if (used === 'cloned') return fail(user.id, 'clonedPasskey', accountErrors.clonedPasskey())
    if (used === 'wrong') return fail(user.id, 'wrongPasskey', accountErrors.wrongFactor())
    if (user.state === 'disabled') return fail(user.id, 'disabled', accountErrors.disabled())
    const session = await startSession(within, { user, ip, userAgent, factorAt: at, now: at })
    if (session === 'notFound') return accountErrors.deleted()
    await recordLogIn(within, user.id, { at, ip, current, detail: { factor: 'passkey' } })
    return session
  })
  if (!isAccountError(finished)) passwords.remember(ip)
  return finished
}

const confirmFactor = async (
  context: ThrottledContext,
  { viewer, ...request }: Parameters<Accounts['confirmFactor']>[0],
): Promise<Viewer | AccountError> => {
  const { session } = viewer
  if (session === undefined) return accountErrors.sessionRequired()
  return context.storage.transaction(async (within) => {
    const at = context.now()
    const user = await within.users.findForUpdate(viewer.user.id)
    if (user === undefined) return accountErrors.deleted()
    // Locks the session before the proof: one that has ended must not use up a code.
    if (!(await within.sessions.touch(session.hash, at))) return accountErrors.logInExpired()
    const proved = await proveFactor(context, within, { ...request, user, binding: session.hash })
    if (isAccountError(proved)) return proved
    await within.sessions.proveFactor(session.hash, at)
    return { ...viewer, session: { ...session, factorAt: at } }
  })
}
