import { sealKey } from '../../lib/secrets/sealKey.ts'
import { createId } from '../../storage/createId.ts'
import type { Factor } from '../../storage/factors.ts'
import type { Repositories } from '../../storage/repositories.ts'
import type { User } from '../../storage/users.ts'
import { auditOwn, toAccount } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'
import { getName, sendFactorEmail } from './accountEmails.ts'
import { accountErrors, isAccountError } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { Accounts, LoggedIn, Origin } from './accounts.ts'
import type { Viewer } from './viewer.ts'
import { createRegistrationOptions, verifyRegistration } from './passkeys.ts'
import { challengeMs } from './proveFactor.ts'
import { createRecoveryCodes, hashRecoveryCode } from './recoveryCodes.ts'
import { createSignedToken, getNewestSecret, readSignedToken } from './signedToken.ts'
import type { ValidToken } from './signedToken.ts'
import { findStaleFactor, startSession } from './startSession.ts'
import { createTotpSecret, findTotpStep, toTotpUrl } from './totp.ts'

const maxFactors = 10

/** Creates the functions that manage the second factors of a user. */
export const createFactorChanges = (
  context: ThrottledContext,
): Pick<Accounts, 'listFactors' | 'getNewFactorOptions' | 'addFactor' | 'removeFactor' | 'renewRecoveryCodes'> => ({
  listFactors: async ({ user: { id } }) => ({
    factors: await context.storage.factors.list(id),
    recoveryCodes: await context.storage.factors.countRecoveryCodes(id),
  }),
  getNewFactorOptions: (request) => getNewFactorOptions(context, request),
  addFactor: (request) => addFactor(context, request),
  removeFactor: (request) => removeFactor(context, request),
  renewRecoveryCodes: (request) => renewRecoveryCodes(context, request),
})

const getKindTitle = ({ kind, label }: Factor): string =>
  `${kind === 'totp' ? 'authenticator app' : 'passkey'} "${label}"`

const setNewRecoveryCodes = async (within: Repositories, userId: string): Promise<readonly string[]> => {
  const codes = createRecoveryCodes()
  await within.factors.setRecoveryCodes(userId, codes.map(hashRecoveryCode))
  return codes
}

/** What a new app is bound to: its secret and the session. So nothing is stored for apps that nobody adds. */
const getAppScope = (secret: string, session: string) => ({ purpose: 'newApp' as const, binding: [secret, session] })

const getNewFactorOptions = async (
  { secrets, storage, now }: ThrottledContext,
  { viewer: { user, session }, site }: Parameters<Accounts['getNewFactorOptions']>[0],
): ReturnType<Accounts['getNewFactorOptions']> => {
  if (session === undefined) return accountErrors.sessionRequired()
  const secret = createTotpSecret()
  const signing = { secrets, expiresAt: now() + challengeMs }
  const challenge = createSignedToken({ purpose: 'newPasskey', binding: [session.hash] }, signing)
  const factors = await storage.factors.list(user.id)
  return {
    totp: {
      setup: `${secret}.${createSignedToken(getAppScope(secret, session.hash), signing)}`,
      secret,
      url: toTotpUrl(secret, { issuer: getName(site), label: user.email }),
    },
    passkey: await createRegistrationOptions(challenge, { user, factors, site }),
  }
}

type NewFactor = Pick<Factor, 'kind' | 'sealed' | 'credentialId' | 'publicKey' | 'transports' | 'counter'>
type AddRequest = Parameters<Accounts['addFactor']>[0]

/**
 * Verifies what the browser sent, outside of a transaction.
 * @param id - The id of the new factor, to which its secret is bound.
 * @returns The factor, and the token to use up.
 */
const verifyNewFactor = async (
  { secrets, now }: ThrottledContext,
  id: string,
  { viewer: { user, session }, totp, passkey, site }: AddRequest,
): Promise<{ readonly factor: NewFactor; readonly token: ValidToken } | AccountError> => {
  if (session === undefined) return accountErrors.sessionRequired()
  if (totp !== undefined) {
    const [secret = '', ...rest] = totp.setup.split('.')
    const token = readSignedToken(rest.join('.'), getAppScope(secret, session.hash), { secrets, now: now() })
    const counter = token && findTotpStep(secret, totp.code.replaceAll(/\s/g, ''), now())
    if (token === undefined || counter === undefined) return accountErrors.wrongFactor()
    const sealed = sealKey(secret, { id, userId: user.id }, getNewestSecret(secrets))
    const factor = { kind: 'totp' as const, sealed, credentialId: null, publicKey: null, transports: [], counter }
    return { factor, token }
  }
  if (passkey === undefined) return accountErrors.wrongFactor()
  const scope = { purpose: 'newPasskey' as const, binding: [session.hash] }
  const findChallenge = (token: string) => readSignedToken(token, scope, { secrets, now: now() })
  const verified = await verifyRegistration(passkey, { site, findChallenge })
  if (verified === undefined) return accountErrors.wrongFactor()
  return { factor: { kind: 'passkey', sealed: null, ...verified.value }, token: verified.challenge }
}

/** Locks the user of a session. @returns The error if the session has ended since the request was authorized, or its factor is not fresh. */
const lockUser = async (
  { now }: ThrottledContext,
  within: Repositories,
  { user: { id }, session }: Viewer,
): Promise<User | AccountError> => {
  if (session === undefined) return accountErrors.sessionRequired()
  const user = await within.users.findForUpdate(id)
  const current = await within.sessions.find(session.hash)
  if (user?.state !== 'active' || current === undefined) return accountErrors.logInExpired()
  return findStaleFactor({ user: toAccount(user), session: { ...current, hash: session.hash } }, now()) ?? user
}

/** Ends all sessions of a user who has just added a factor, and starts a new one: someone may have a copy of the cookie. */
const replaceSessions = async (
  within: Repositories,
  { userId, now, ...origin }: Origin & { userId: string; now: number },
): Promise<LoggedIn> => {
  await within.sessions.endAll(userId)
  const user = await within.users.find(userId)
  const started = user && (await startSession(within, { ...origin, user, factorAt: now, now }))
  if (started === undefined || started === 'notFound') throw new Error('a user who was just locked does not exist')
  return started
}

const addFactor = async (context: ThrottledContext, request: AddRequest): ReturnType<Accounts['addFactor']> => {
  const { viewer, label, ip, userAgent } = request
  const { session } = viewer
  if (session === undefined) return accountErrors.sessionRequired()
  const id = createId('fac')
  const verified = await verifyNewFactor(context, id, request)
  if (isAccountError(verified)) return verified
  const { factor, token } = verified
  const added = await context.storage.transaction(async (within) => {
    const at = context.now()
    const user = await lockUser(context, within, viewer)
    if (isAccountError(user)) return user
    if (!(await within.identities.useToken(token))) return accountErrors.wrongFactor()
    const isFirst = (await within.factors.list(user.id)).length === 0
    const stored = await within.factors.add({
      ...factor,
      id,
      userId: user.id,
      label,
      createdAt: at,
      usedAt: null,
      max: maxFactors,
    })
    if (stored === 'notFound') return accountErrors.deleted()
    if (stored === 'factorsFull') return accountErrors.factorsFull(maxFactors)
    if (stored === 'taken') return accountErrors.passkeyTaken()
    const recoveryCodes = isFirst ? await setNewRecoveryCodes(within, user.id) : null
    const newSession = isFirst ? await replaceSessions(within, { userId: user.id, ip, userAgent, now: at }) : null
    if (!isFirst) await within.sessions.proveFactor(session.hash, at)
    const { kind } = factor
    await auditOwn(within, user.id, { at, action: 'factor.add', subject: id, ip, detail: { kind } })
    return { factor: stored, recoveryCodes, newSession }
  })
  if ('factor' in added) sendFactorEmail(context, viewer.user.email, `The ${getKindTitle(added.factor)} was added.`)
  return added
}

const removeFactor = async (
  context: ThrottledContext,
  { viewer, id, ip }: Parameters<Accounts['removeFactor']>[0],
): ReturnType<Accounts['removeFactor']> => {
  const removed = await context.storage.transaction(async (within) => {
    const user = await lockUser(context, within, viewer)
    if (isAccountError(user)) return user
    const factor = await within.factors.remove({ id, userId: user.id })
    if (factor === undefined) return false
    const { kind } = factor
    await auditOwn(within, user.id, { at: context.now(), action: 'factor.remove', subject: id, ip, detail: { kind } })
    return factor
  })
  if (removed === false || isAccountError(removed)) return removed
  sendFactorEmail(context, viewer.user.email, `The ${getKindTitle(removed)} was removed.`)
  return true
}

const renewRecoveryCodes = async (
  context: ThrottledContext,
  { viewer, ip }: Parameters<Accounts['renewRecoveryCodes']>[0],
): ReturnType<Accounts['renewRecoveryCodes']> => {
  const codes = await context.storage.transaction(async (within) => {
    const user = await lockUser(context, within, viewer)
    if (isAccountError(user)) return user
    if ((await within.factors.list(user.id)).length === 0) return accountErrors.noSecondFactor()
    await auditOwn(within, user.id, { at: context.now(), action: 'factor.renewRecoveryCodes', ip })
    return setNewRecoveryCodes(within, user.id)
  })
  if (!isAccountError(codes))
    sendFactorEmail(context, viewer.user.email, 'New recovery codes were created. The old ones no longer work.')
  return codes
}
