import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import type { OidcIdentity } from '../../oidc/oidcClient.ts'
import { isSameEmail, toEmailIdentity } from '../../storage/emailIdentity.ts'
import type { Repositories } from '../../storage/repositories.ts'
import type { User } from '../../storage/users.ts'
import { auditOwn } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'
import { getPageUrl } from './accountEmails.ts'
import { accountErrors, isAccountError } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { Accounts } from './accounts.ts'
import type { Viewer } from './viewer.ts'
import { addSignUp } from './addSignUp.ts'
import { auditFailedLogIn } from './auditFailedLogIn.ts'
import { findInvite } from './findInvite.ts'
import { pruneSome } from './pruneAccounts.ts'
import { hashSecret } from './secretText.ts'
import { createSignOnToken, deriveSignOnFlow, findSignOnFlow } from './signOnFlow.ts'
import type { SignOnTarget } from './signOnFlow.ts'
import { singleSignOnErrors } from './singleSignOnErrors.ts'
import { isFresh, isPending, recordLogIn, startLogIn } from './startSession.ts'
import type { NewIdentity } from './startSession.ts'
import { syncGroupRoles } from './syncGroupRoles.ts'

/** The page that the provider sends browsers back to. */
const page = 'log-in/single-sign-on'

/** Most characters of the list of groups in the cookie of a log-in. */
const maxGroupsText = 1_000

type SignOnContext = ThrottledContext & Pick<Accounts, 'authenticate'>

/** The account of an identity, and what is connected to it once the log-in is complete. */
interface Found {
  readonly user: User
  readonly newIdentity?: NewIdentity
}

interface SignOn {
  readonly identity: OidcIdentity
  readonly invite: string | undefined
  /** The account of the browser's session. */
  readonly viewer: Viewer | undefined
  readonly ip: string
  readonly now: number
}

/** Creates the functions that log in with an OpenID Connect provider. */
export const createSingleSignOn = (
  context: SignOnContext,
): Pick<Accounts, 'startSingleSignOn' | 'finishSingleSignOn' | 'listIdentities' | 'removeIdentity'> => ({
  startSingleSignOn: (options) => startSingleSignOn(context, options),
  listIdentities: (options) => listIdentities(context, options),
  removeIdentity: (options) => removeIdentity(context, options),
  finishSingleSignOn: (options) => finishSingleSignOn(context, options),
})

const getTarget = ({ oidc }: SignOnContext): SignOnTarget | undefined => {
  const config = oidc?.client.config()
  return oidc === undefined || config === undefined
    ? undefined
    : { config, redirectUri: getPageUrl(oidc.siteUrl(), page) }
}

/** Finds the account of an identity, or the account that has its email address, or signs it up. */
const findUser = async (
  context: SignOnContext,
  within: Repositories,
  signOn: SignOn,
): Promise<Found | AccountError> => {
  const { identity, viewer } = signOn
  const { issuer, subject, email } = identity
  const known = await within.identities.find(identity)
  const user = known && (await within.users.findForUpdate(known.userId))
  if (user !== undefined) return { user }
  if (email === undefined || !identity.isEmailVerified || toEmailIdentity(email) === undefined)
    return singleSignOnErrors.emailUnverified()
  const owner = await within.users.findByEmail(email)
  if (owner === undefined) return signUp(context, within, { ...signOn, email })
  const found = await within.users.findForUpdate(owner.id)
  if (found === undefined) return accountErrors.deleted()
  if (found.state === 'disabled') return accountErrors.disabled()
  // Somebody else may have signed up with this address. Its owner would then share an account with them.
  if (found.emailVerifiedAt === null && viewer?.user.id !== found.id) return singleSignOnErrors.notConnected()
  if ((await within.identities.list(found.id)).some((other) => other.issuer === issuer))
    return singleSignOnErrors.otherIdentity()
  return { user: found, newIdentity: { issuer, subject, groups: listUsedGroups(context, identity) } }
}

/** Lists the groups that give roles. They are part of a cookie, so roles of further groups are given by the next log-in. */
const listUsedGroups = ({ oidc }: SignOnContext, { groups }: Pick<OidcIdentity, 'groups'>): readonly string[] => {
  const used = new Set((oidc?.client.config()?.groups ?? []).map(({ group }) => group))
  const all = groups.filter((group) => used.has(group))
  while (JSON.stringify(all).length > maxGroupsText) all.pop()
  return all
}

const signUp = async (
  context: SignOnContext,
  within: Repositories,
  { identity: { issuer, subject }, email, invite, ip, now: at }: SignOn & { email: string },
): Promise<Found | AccountError> => {
  const { secrets } = context
  const mode = context.signUp()
  if (mode === 'closed') return accountErrors.signUpClosed()
  const found = mode === 'invite' ? await findInvite(within, { invite, email, now: at }) : undefined
  if (isAccountError(found)) return found
  const user = await addSignUp(within, {
    email,
    password: '',
    isVerified: true,
    invite: found,
    secrets,
    ip,
    detail: { issuer },
    now: at,
  })
  if (typeof user === 'string') return accountErrors.fromEmailProblem(user)
  if (!(await within.identities.add({ issuer, subject, userId: user.id, now: at })))
    throw new Error('an identity without an account belongs to an account')
  return { user }
}

const startSingleSignOn = async (
  context: SignOnContext,
  { ip }: Parameters<Accounts['startSingleSignOn']>[0],
): ReturnType<Accounts['startSingleSignOn']> => {
  const { secrets, oidc, signOnStarts, now } = context
  const target = getTarget(context)
  const [secret] = secrets
  if (oidc === undefined || target === undefined || secret === undefined) return singleSignOnErrors.disabled()
  const caller = toIpBlock(ip)
  const waitMs = signOnStarts.waitMs(caller)
  if (waitMs > 0) return accountErrors.tooManyTries(waitMs)
  signOnStarts.record(caller)
  const token = createSignOnToken(now())
  const flow = deriveSignOnFlow(token, target, secret)
  const url = await oidc.client.start(flow)
  return typeof url === 'string'
    ? singleSignOnErrors.fromFailure(url)
    : { url: url.href, token, expiresAt: flow.expiresAt }
}

const listIdentities = (
  { storage }: SignOnContext,
  { user }: Parameters<Accounts['listIdentities']>[0],
): ReturnType<Accounts['listIdentities']> => storage.identities.list(user.id)

/** Gives and takes away the roles of a user's groups. Its own transaction, because it locks teams before users. */
export const syncGroups = async (
  context: ThrottledContext,
  user: { userId: string; groups: readonly string[]; ip: string | undefined },
): Promise<void> => {
  const { groups: config = [] } = context.oidc?.client.config() ?? {}
  const changed = await context.storage.transaction((within) => syncGroupRoles(context, within, { ...user, config }))
  context.onChange(changed.map((id) => ({ kind: 'user', id })))
}

const removeIdentity = async (
  context: SignOnContext,
  { viewer, issuer, ip }: Parameters<Accounts['removeIdentity']>[0],
): ReturnType<Accounts['removeIdentity']> => {
  const { storage, now } = context
  const userId = viewer.user.id
  const isRemoved = await storage.transaction(async (within) => {
    const removed = await within.identities.remove({ userId, issuer })
    if (removed) await auditOwn(within, userId, { at: now(), action: 'account.disconnect', ip, detail: { issuer } })
    return removed
  })
  // No log-in with it can take the roles of its groups away any more.
  if (isRemoved) await syncGroups(context, { userId, groups: [], ip })
  return isRemoved
}

const finishSingleSignOn = async (
  context: SignOnContext,
  { token, response, invite, connect = false, current, ip, userAgent }: Parameters<Accounts['finishSingleSignOn']>[0],
): ReturnType<Accounts['finishSingleSignOn']> => {
  const { oidc, signOnFailures, secrets, now, storage } = context
  const target = getTarget(context)
  if (oidc === undefined || target === undefined) return singleSignOnErrors.disabled()
  const caller = toIpBlock(ip)
  const waitMs = signOnFailures.waitMs(caller)
  if (waitMs > 0) return accountErrors.tooManyTries(waitMs)
  // Counted before the result is known. Otherwise concurrent attempts would all pass.
  const undo = signOnFailures.record(caller)
  const fail = async (error: AccountError, userId: string | null = null): Promise<AccountError> => {
    await auditFailedLogIn(context, { userId, ip, detail: { why: error.code } })
    return error
  }
  const flow = findSignOnFlow({ token, response }, { ...target, secrets, now: now() })
  if (token === undefined || flow === undefined) return fail(singleSignOnErrors.invalid())
  const identity = await oidc.client.finish(flow, response)
  if (typeof identity === 'string') return singleSignOnErrors.fromFailure(identity)
  const viewer = current === undefined ? undefined : await context.authenticate(current)
  if (connect && !isSameEmail(viewer?.user.email, identity.email))
    return fail(singleSignOnErrors.otherEmail(), viewer?.user.id)
  await pruneSome({ storage, now: now(), auditMs: context.auditMs })
  const finished = await storage.transaction(async (within) => {
    const at = now()
    if (!(await within.identities.useToken({ hash: hashSecret(token), expiresAt: flow.expiresAt })))
      return singleSignOnErrors.invalid()
    const found = await findUser(context, within, { identity, invite, viewer, ip, now: at })
    if (isAccountError(found)) return found
    const { user, newIdentity } = found
    // Connecting the provider is part of a session, and needs its factor no second time while it is fresh.
    const isProved = connect && viewer?.user.id === user.id && isFresh(viewer, at)
    const factorAt = isProved ? (viewer.session?.factorAt ?? null) : null
    const session = await startLogIn(context, within, { user, newIdentity, ip, userAgent, factorAt, now: at })
    if (session === 'notFound') return accountErrors.disabled()
    // A new identity has no groups here until it is connected.
    if (isPending(session)) return { session, userId: newIdentity === undefined ? user.id : undefined }
    await recordLogIn(within, user.id, { at, ip, current, detail: { issuer: identity.issuer } })
    return { session, userId: user.id }
  })
  if (isAccountError(finished)) return fail(finished)
  // The browser gets the session only if it succeeds.
  const { userId } = finished
  if (userId !== undefined) await syncGroups(context, { userId, groups: identity.groups, ip })
  undo()
  context.passwords.remember(ip)
  return finished.session
}
