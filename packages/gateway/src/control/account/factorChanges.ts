import { openKey, sealKey } from '../../lib/secrets/sealKey.ts'
import { createId } from '../../storage/createId.ts'
import type { Factor } from '../../storage/factors.ts'
import type { Repositories } from '../../storage/repositories.ts'
import { audit, auditOwn, toAccount } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'
import { accountEmails, getName } from './accountEmails.ts'
import { accountErrors, isAccountError } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { Accounts } from './accounts.ts'
import { createRegistrationOptions, verifyRegistration } from './passkeys.ts'
import { challengeMs } from './proveFactor.ts'
import { createRecoveryCodes, hashRecoveryCode } from './recoveryCodes.ts'
import { createSignedToken, readSignedToken } from './signedToken.ts'
import { findStaleFactor } from './startSession.ts'
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

const notify = ({ mailer }: ThrottledContext, to: string, what: string): void =>
  mailer.enqueue('secondFactor', async () => accountEmails.secondFactor({ to, siteUrl: mailer.siteUrl() }, what))

const getKindTitle = ({ kind, label }: Factor): string =>
  `${kind === 'totp' ? 'authenticator app' : 'passkey'} "${label}"`

const setNewRecoveryCodes = async (within: Repositories, userId: string): Promise<readonly string[]> => {
  const codes = createRecoveryCodes()
  await within.factors.setRecoveryCodes(userId, codes.map(hashRecoveryCode))
  return codes
}

const getNewFactorOptions = async (
  { secrets, storage, now }: ThrottledContext,
  { viewer: { user, session }, site }: Parameters<Accounts['getNewFactorOptions']>[0],
): ReturnType<Accounts['getNewFactorOptions']> => {
  const [newest] = secrets
  if (session === undefined || newest === undefined) return accountErrors.sessionRequired()
  const secret = createTotpSecret()
  const challenge = createSignedToken(
    { purpose: 'newPasskey', binding: [session.hash] },
    { secrets, expiresAt: now() + challengeMs },
  )
  const factors = await storage.factors.list(user.id)
  return {
    totp: {
      setup: Buffer.from(sealKey(secret, { id: session.hash, userId: user.id }, newest)).toString('base64url'),
      secret,
      url: toTotpUrl(secret, { issuer: getName(site), label: user.email }),
    },
    passkey: await createRegistrationOptions(challenge, { user, factors, site }),
  }
}

type NewFactor = Pick<Factor, 'kind' | 'sealed' | 'credentialId' | 'publicKey' | 'transports' | 'counter'>
type AddRequest = Parameters<Accounts['addFactor']>[0]

/** Reads what the browser sent. @param id - The id of the new factor, to which its secret is bound. */
const readNewFactor = async (
  { secrets, now }: ThrottledContext,
  within: Repositories,
  id: string,
  { viewer: { user, session }, totp, passkey, site }: AddRequest,
): Promise<NewFactor | AccountError> => {
  const [newest] = secrets
  if (session === undefined || newest === undefined) return accountErrors.sessionRequired()
  if (totp !== undefined) {
    let secret: string
    try {
      secret = openKey(Buffer.from(totp.setup, 'base64url'), { id: session.hash, userId: user.id }, secrets)
    } catch {
      return accountErrors.wrongFactor()
    }
    const counter = findTotpStep(secret, totp.code.replaceAll(/\s/g, ''), now())
    if (counter === undefined) return accountErrors.wrongFactor()
    const sealed = sealKey(secret, { id, userId: user.id }, newest)
    return { kind: 'totp', sealed, credentialId: null, publicKey: null, transports: [], counter }
  }
  if (passkey === undefined) return accountErrors.wrongFactor()
  const scope = { purpose: 'newPasskey' as const, binding: [session.hash] }
  const findChallenge = (token: string) => readSignedToken(token, scope, { secrets, now: now() })
  const verified = await verifyRegistration(passkey, { site, findChallenge })
  if (verified === undefined || !(await within.identities.useToken(verified.challenge)))
    return accountErrors.wrongFactor()
  return { kind: 'passkey', sealed: null, ...verified.value }
}

const addFactor = async (context: ThrottledContext, request: AddRequest): ReturnType<Accounts['addFactor']> => {
  const { viewer, label, ip } = request
  const { session } = viewer
  if (session === undefined) return accountErrors.sessionRequired()
  const added = await context.storage.transaction(async (within) => {
    const at = context.now()
    const user = await within.users.findForUpdate(viewer.user.id)
    const current = await within.sessions.find(session.hash)
    // Read again, because the owner may have just added the first factor in another session.
    if (user === undefined || current === undefined) return accountErrors.logInExpired()
    const stale = findStaleFactor({ user: toAccount(user), session: { ...current, hash: session.hash } }, at)
    if (stale !== undefined) return stale
    const isFirst = (await within.factors.list(user.id)).length === 0
    const id = createId('fac')
    const factor = await readNewFactor(context, within, id, request)
    if (isAccountError(factor)) return factor
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
    if (isFirst) await within.sessions.endAll(user.id, { except: session.hash })
    await within.sessions.proveFactor(session.hash, at)
    await audit(within, {
      at,
      userId: user.id,
      actor: user.id,
      action: 'factor.add',
      subject: id,
      ip,
      detail: { kind: factor.kind },
    })
    return { factor: stored, recoveryCodes }
  })
  if ('factor' in added) notify(context, viewer.user.email, `The ${getKindTitle(added.factor)} was added.`)
  return added
}

const removeFactor = async (
  context: ThrottledContext,
  { viewer: { user }, id, ip }: Parameters<Accounts['removeFactor']>[0],
): Promise<boolean> => {
  const removed = await context.storage.transaction(async (within) => {
    const factor = await within.factors.remove({ id, userId: user.id })
    if (factor === undefined) return undefined
    await audit(within, {
      at: context.now(),
      userId: user.id,
      actor: user.id,
      action: 'factor.remove',
      subject: id,
      ip,
      detail: { kind: factor.kind },
    })
    return factor
  })
  if (removed !== undefined) notify(context, user.email, `The ${getKindTitle(removed)} was removed.`)
  return removed !== undefined
}

const renewRecoveryCodes = async (
  context: ThrottledContext,
  { viewer: { user }, ip }: Parameters<Accounts['renewRecoveryCodes']>[0],
): ReturnType<Accounts['renewRecoveryCodes']> => {
  const codes = await context.storage.transaction(async (within) => {
    await within.users.findForUpdate(user.id)
    if ((await within.factors.list(user.id)).length === 0) return undefined
    await auditOwn(within, user.id, { at: context.now(), action: 'factor.renewRecoveryCodes', ip })
    return setNewRecoveryCodes(within, user.id)
  })
  if (codes === undefined) return accountErrors.noSecondFactor()
  notify(context, user.email, 'New recovery codes were created. The old ones no longer work.')
  return codes
}
