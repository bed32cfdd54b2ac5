import { toEmailIdentity } from '../../storage/emailIdentity.ts'
import type { Repositories } from '../../storage/repositories.ts'
import type { Team } from '../../storage/teams.ts'
import { audit, toAccount } from './accountContext.ts'
import type { AccountContext } from './accountContext.ts'
import { accountEmails, getSignUpFragment, sendFactorEmail } from './accountEmails.ts'
import { accountErrors } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { Account } from './account.ts'
import { findPasswordProblem } from './findPasswordProblem.ts'
import { findLimitsProblem } from './findLimitsProblem.ts'
import type { Actor, Operator } from './operator.ts'
import { createSecretText, hashSecret } from './secretText.ts'

const day = 86_400_000
const inviteValidMs = 7 * day
const linkValidMs = day
const maxValidMs = 366 * day

const findValidMsProblem = (validMs: number): AccountError | undefined =>
  Number.isSafeInteger(validMs) && validMs > 0 && validMs <= maxValidMs
    ? undefined
    : {
        status: 422,
        code: 'expiry_invalid',
        message: 'validMs is not valid. Use a positive whole number of milliseconds, at most 366 days.',
        field: 'validMs',
      }

/**
 * Creates account management for operators.
 * @example
 * declare const context: Parameters<typeof createOperator>[0]
 * const { resetLink } = createOperator(context)
 */
export const createOperator = (context: AccountContext): Operator => ({
  listUsers: (page) => listUsers(context, page),
  findUser: (by) => findUser(context, by),
  addUser: (options) => addUser(context, options),
  inviteUser: (options) => inviteUser(context, options),
  listInvites: (options) => listInvites(context, options),
  removeInvite: (options) => removeInvite(context, options),
  setUserState: (options) => setUserState(context, options),
  setUserRole: (options) => setUserRole(context, options),
  resetSecondFactor: (options) => resetSecondFactor(context, options),
  setUserLimits: (options) => setUserLimits(context, options),
  listTeams: (page) => context.storage.teams.list(page),
  findTeam: (id) => context.storage.teams.find(id),
  setTeamState: ({ id, state, ...by }) =>
    changeTeam(
      context,
      { id, ...by },
      { action: state === 'disabled' ? 'account.disable' : 'account.enable' },
      ({ users }) => users.setState(id, state),
    ),
  setTeamLimits: async ({ id, limits, ...by }) =>
    findLimitsProblem(limits, context.minBurst()) ??
    (await changeTeam(context, { id, ...by }, { action: 'account.limits', detail: { limits } }, ({ teams }) =>
      teams.setLimits(id, limits === null ? null : { ...limits }),
    )),
  addTeamOwner: (options) => addTeamOwner(context, options),
  resetLink: (options) => resetLink(context, options),
})

/** Changes an account and adds its audit log entry. The entry comes first, because the write that invalidates caches must be the transaction's last. */
const change = async (
  { storage, now, onChange }: AccountContext,
  { id, actor = 'operator', ip }: Actor & { id: string },
  {
    action,
    detail,
    work,
  }: {
    action: string
    detail?: Readonly<Record<string, unknown>>
    work: (within: Repositories) => Promise<unknown>
  },
): Promise<Account | AccountError> => {
  const changed = await storage.transaction(async (within) => {
    if ((await within.users.findForUpdate(id)) === undefined) return undefined
    await audit(within, { at: now(), userId: id, actor, action, subject: id, ip, detail: detail ?? null })
    await work(within)
    return within.users.find(id)
  })
  if (changed === undefined) return accountErrors.deleted()
  onChange([{ kind: 'user', id }])
  return toAccount(changed)
}

/** Changes a team and adds its audit log entry. @param entry.forget - Whether its keys are dropped from the caches. @default true */
const changeTeam = async (
  { storage, now, onChange }: AccountContext,
  { id, actor = 'operator', ip }: Actor & { id: string },
  {
    forget = true,
    ...entry
  }: { action: string; subject?: string; detail?: Readonly<Record<string, unknown>>; forget?: boolean },
  work: (within: Repositories) => Promise<unknown>,
): Promise<Team | AccountError> => {
  const changed = await storage.transaction(async (within) => {
    if ((await within.teams.lock(id, 'exclusive')) === undefined) return undefined
    await audit(within, { at: now(), userId: id, actor, subject: id, ip, ...entry })
    await work(within)
    return within.teams.find(id)
  })
  if (changed === undefined) return accountErrors.deleted()
  if (forget) onChange([{ kind: 'user', id }])
  return changed
}

const addTeamOwner = async (
  context: AccountContext,
  { id, userId, ...by }: Parameters<Operator['addTeamOwner']>[0],
): ReturnType<Operator['addTeamOwner']> => {
  if ((await context.storage.users.find(userId)) === undefined) return accountErrors.deleted()
  const owner = { accountId: id, userId, role: 'owner' } as const
  const entry = { action: 'member.add', subject: userId, detail: { role: owner.role }, forget: false }
  return changeTeam(context, { id, ...by }, entry, async ({ members }) => {
    if ((await members.setRole(owner)) === 'notFound') await members.add({ ...owner, now: context.now() })
  })
}

const listUsers = async (
  { storage }: AccountContext,
  page: Parameters<Operator['listUsers']>[0],
): ReturnType<Operator['listUsers']> => (await storage.users.list(page)).map(toAccount)

const findUser = async (
  { storage }: AccountContext,
  by: Parameters<Operator['findUser']>[0],
): ReturnType<Operator['findUser']> => {
  const user = 'id' in by ? await storage.users.find(by.id) : await storage.users.findByEmail(by.email)
  return user && toAccount(user)
}

const addUser = async (
  { passwords, storage, now }: AccountContext,
  { email, password, role = 'user', actor = 'operator', ip }: Parameters<Operator['addUser']>[0],
): ReturnType<Operator['addUser']> => {
  if (toEmailIdentity(email) === undefined) return accountErrors.email()
  const problem = findPasswordProblem(password, { email })
  if (problem !== undefined) return accountErrors.password(problem, 'password')
  const hashed = await passwords.hash(password, ip)
  if (hashed === 'busy') return accountErrors.busy()
  return storage.transaction(async (within) => {
    const at = now()
    const user = await within.users.create({ email, password: hashed.phc, role, now: at })
    if (typeof user === 'string') return accountErrors.fromEmailProblem(user)
    await audit(within, {
      at,
      userId: user.id,
      actor,
      action: 'account.add',
      subject: user.id,
      ip,
      detail: { role },
    })
    return toAccount(user)
  })
}

const inviteUser = async (
  { signUp, mailer, storage, now }: AccountContext,
  { email, validMs = inviteValidMs, send = false, actor = 'operator', ip }: Parameters<Operator['inviteUser']>[0],
): ReturnType<Operator['inviteUser']> => {
  // An invite would be useless while sign-up is closed.
  if (signUp() === 'closed')
    return {
      status: 409,
      code: 'sign_up_closed',
      message: 'Sign-up is closed, so an invite could not be used. Set signUp to "invite" in the config first.',
    }
  if (email !== undefined && toEmailIdentity(email) === undefined) return accountErrors.email()
  if (send && email === undefined)
    return {
      status: 422,
      code: 'email_invalid',
      message: 'The email address is missing. Name the person to send the invite to.',
      field: 'email',
    }
  if (send && !mailer.isOn()) return accountErrors.emailDisabled()
  const problem = findValidMsProblem(validMs)
  if (problem !== undefined) return problem
  const text = createSecretText('invite')
  const created = await storage.transaction(async (within) => {
    const at = now()
    if (email !== undefined && (await within.users.findByEmail(email)) !== undefined) return accountErrors.emailTaken()
    const invite = await within.invites.create({
      hash: hashSecret(text),
      email: email?.trim() ?? null,
      createdBy: actor,
      expiresAt: at + validMs,
      mailed: send,
      now: at,
    })
    await audit(within, {
      at,
      userId: null,
      actor,
      action: 'invite.create',
      subject: invite.id,
      ip,
      detail: { email: invite.email, expiresAt: invite.expiresAt, ...(send ? { sent: true } : {}) },
    })
    return { invite, text }
  })
  if (send && email !== undefined && 'invite' in created) {
    const to = email.trim()
    mailer.enqueue('invite', async () =>
      accountEmails.invite(
        { to, siteUrl: mailer.siteUrl() },
        getSignUpFragment(text, { email: to }),
        created.invite.expiresAt,
      ),
    )
  }
  return created
}

const listInvites = (
  { storage, now }: AccountContext,
  { limit }: Parameters<Operator['listInvites']>[0],
): ReturnType<Operator['listInvites']> => storage.invites.list({ now: now(), limit })

const removeInvite = (
  { storage, now }: AccountContext,
  { id, actor = 'operator', ip }: Parameters<Operator['removeInvite']>[0],
): ReturnType<Operator['removeInvite']> =>
  storage.transaction(async (within) => {
    const removed = await within.invites.remove(id)
    if (removed) await audit(within, { at: now(), userId: null, actor, action: 'invite.remove', subject: id, ip })
    return removed
  })

const setUserState = (
  context: AccountContext,
  { id, state, ...by }: Parameters<Operator['setUserState']>[0],
): ReturnType<Operator['setUserState']> =>
  change(
    context,
    { id, ...by },
    {
      action: state === 'disabled' ? 'account.disable' : 'account.enable',
      work: async ({ sessions, users }) => {
        // The account is locked, so a concurrent log-in waits and is then rejected.
        if (state === 'disabled') await sessions.endAll(id)
        await users.setState(id, state)
      },
    },
  )

const setUserRole = (
  context: AccountContext,
  { id, role, ...by }: Parameters<Operator['setUserRole']>[0],
): ReturnType<Operator['setUserRole']> =>
  change(
    context,
    { id, ...by },
    { action: 'account.role', detail: { role }, work: ({ users }) => users.setRole(id, role) },
  )

const resetSecondFactor = async (
  context: AccountContext,
  { id, actor = 'operator', ip }: Parameters<Operator['resetSecondFactor']>[0],
): ReturnType<Operator['resetSecondFactor']> => {
  const user = await context.storage.transaction(async (within) => {
    if ((await within.users.findForUpdate(id)) === undefined) return undefined
    await within.factors.removeAll(id)
    await within.sessions.endAll(id)
    await audit(within, { at: context.now(), userId: id, actor, action: 'factor.reset', subject: id, ip })
    return within.users.find(id)
  })
  if (user === undefined) return accountErrors.deleted()
  const what =
    'An operator removed all your second factors and recovery codes, and ended your sessions. You can now log in without them.'
  sendFactorEmail(context, user.email, what)
  return toAccount(user)
}

const setUserLimits = async (
  context: AccountContext,
  { id, limits, ...by }: Parameters<Operator['setUserLimits']>[0],
): ReturnType<Operator['setUserLimits']> => {
  const { minBurst, storage, onChange } = context
  const problem = findLimitsProblem(limits, minBurst())
  if (problem !== undefined) return problem
  const changed = await change(
    context,
    { id, ...by },
    {
      action: 'account.limits',
      detail: { limits },
      work: ({ users }) => users.setLimits(id, limits === null ? null : { ...limits }),
    },
  )
  onChange((await storage.teams.listSharing(id)).map((team) => ({ kind: 'user', id: team })))
  return changed
}

const resetLink = async (
  { passwordLogin, storage, now }: AccountContext,
  { id, validMs = linkValidMs, actor = 'operator', ip }: Parameters<Operator['resetLink']>[0],
): ReturnType<Operator['resetLink']> => {
  // A link would be useless.
  if (!passwordLogin()) return accountErrors.passwordLogInDisabled()
  const problem = findValidMsProblem(validMs)
  if (problem !== undefined) return problem
  const text = createSecretText('link')
  const created = await storage.transaction(async (within) => {
    const at = now()
    // Not for a team, as which nobody can log in.
    if ((await within.users.findForUpdate(id)) === undefined) return 'notFound'
    const link = await within.oneTimeLinks.create({
      hash: hashSecret(text),
      userId: id,
      expiresAt: at + validMs,
      now: at,
    })
    if (link === 'notFound') return link
    await audit(within, {
      at,
      userId: id,
      actor,
      action: 'account.resetLink',
      subject: id,
      ip,
      detail: { expiresAt: link.expiresAt },
    })
    return link
  })
  return created === 'notFound' ? accountErrors.deleted() : { text, expiresAt: created.expiresAt }
}
