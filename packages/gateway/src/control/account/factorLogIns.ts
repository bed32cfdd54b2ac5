import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { auditOwn } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'
import { accountErrors, isAccountError } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import { auditFailedLogIn } from './auditFailedLogIn.ts'
import type { Accounts, Viewer } from './accounts.ts'
import { createAssertionOptions } from './passkeys.ts'
import { challengeMs, createFactorOptions, proveFactor, usePasskey } from './proveFactor.ts'
import { hashSecret } from './secretText.ts'
import type { Throttle } from './createThrottle.ts'
import { createSessionToken, isSessionToken } from './sessionCookie.ts'
import { createSignedToken } from './signedToken.ts'
import { findPendingLogIn, startSession } from './startSession.ts'

/** Creates the functions that log in with a second factor or a passkey, and that prove one again. */
export const createFactorLogIns = (
  context: ThrottledContext,
): Pick<
  Accounts,
  'getLogInOptions' | 'finishLogIn' | 'startPasskeyLogIn' | 'logInWithPasskey' | 'getConfirmOptions' | 'confirmFactor'
> => ({
  getLogInOptions: async ({ pending, site }) => {
    const found = await findPendingLogIn(context, pending)
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
  const found = await findPendingLogIn(context, pending)
  if (found === undefined) return accountErrors.logInExpired()
  const rejected = take(secondSteps, `${found.user.id} ${toIpBlock(ip)}`)
  if (rejected !== undefined) return rejected
  const { token } = found
  const finished = await storage.transaction(async (within) => {
    const at = now()
    const user = await within.users.findForUpdate(found.user.id)
    if (user?.password !== found.user.password) return accountErrors.logInExpired()
    const proved = await proveFactor(context, within, { ...request, user, binding: token.hash })
    if (isAccountError(proved)) return proved
    if (!(await within.identities.useToken(token))) return accountErrors.logInExpired()
    const session = await startSession(within, { user, ip, userAgent, factorAt: at, now: at })
    if (session === 'notFound') return accountErrors.logInExpired()
    if (current !== undefined && isSessionToken(current)) await within.sessions.end(hashSecret(current))
    await auditOwn(within, user.id, { at, action: 'account.logIn', ip, detail: { factor: proved.kind } })
    return session
  })
  if (!isAccountError(finished)) passwords.remember(ip)
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
  const { secrets, now } = context
  const rejected = takePasskeyLogIn(context, ip)
  if (rejected !== undefined) return rejected
  const token = createSessionToken()
  const expiresAt = now() + challengeMs
  const challenge = createSignedToken(
    { purpose: 'passkeyResponse', binding: [hashSecret(token)] },
    { secrets, expiresAt },
  )
  return { kinds: ['passkey'], passkey: await createAssertionOptions(challenge, { site }), token, expiresAt }
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
    if (current !== undefined && isSessionToken(current)) await within.sessions.end(hashSecret(current))
    await auditOwn(within, user.id, { at, action: 'account.logIn', ip, detail: { factor: 'passkey' } })
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
    const proved = await proveFactor(context, within, { ...request, user, binding: session.hash })
    if (isAccountError(proved)) return proved
    if (!(await within.sessions.proveFactor(session.hash, at))) return accountErrors.logInExpired()
    return { ...viewer, session: { ...session, factorAt: at } }
  })
}
