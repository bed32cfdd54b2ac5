import type { Repositories } from '../../storage/repositories.ts'
import type { MemberInvite } from '../../storage/members.ts'
import type { MemberRole } from '../../storage/tables.ts'
import { isSameEmail, toEmailIdentity } from '../../storage/emailIdentity.ts'
import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { canGrant, hasScope } from '../roles.ts'
import type { Scope } from '../roles.ts'
import { audit } from './accountContext.ts'
import type { ThrottledContext } from './accountContext.ts'
import { accountEmails, getPageUrl } from './accountEmails.ts'
import { accountErrors, isAccountError } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import { endMembership } from './endMembership.ts'
import { findTeamAccount, toPersonalAccount } from './actingAccount.ts'
import type { ActingAccount } from './actingAccount.ts'
import { createSecretText, hashSecret, isSecretText } from './secretText.ts'
import { lacksSecondFactor } from './startSession.ts'
import { teamErrors } from './teamErrors.ts'
import { teamLimits } from './teamLimits.ts'
import type { TeamFunctions, TeamRequest } from './teamFunctions.ts'

const inviteMs = 7 * 86_400_000

/** Creates the functions for teams. */
export const createTeamFunctions = (context: ThrottledContext): TeamFunctions => ({
  list: (viewer) => list(context, viewer),
  create: (request) => create(context, request),
  rename: (request) =>
    change(context, request, 'manage', async (within) => {
      const { account, name } = request
      await within.teams.rename(account.id, name)
      await log(context, within, request, { action: 'team.rename', detail: { name } })
      return { ...account, name }
    }),
  setRules: (request) =>
    change(context, request, 'rules', async (within) => {
      const { account, viewer, rules } = request
      // Otherwise the owner would have no access either.
      if (lacksSecondFactor(viewer.user, rules)) return accountErrors.noSecondFactor()
      await within.teams.setRules(account.id, rules)
      await log(context, within, request, { action: 'team.rules', detail: { ...rules } })
      return { ...account, ...rules }
    }),
  remove: (request) => remove(context, request),
  listMembers: async (account) =>
    account.kind === 'team'
      ? context.storage.members.list(account.id)
      : [{ userId: account.id, email: account.name, role: account.role, createdAt: account.createdAt }],
  setRole: (request) => setRole(context, request),
  removeMember: (request) =>
    end(context, request, { scope: 'members', userId: request.userId, action: 'member.remove' }),
  leave: (request) => end(context, request, { scope: 'own', userId: request.viewer.user.id, action: 'member.leave' }),
  invite: (request) => invite(context, request),
  listInvites: async ({ id, kind }) =>
    kind === 'team' ? context.storage.members.listInvites({ accountId: id, now: context.now() }) : [],
  removeInvite: (request) => removeInvite(context, request),
  join: (request) => join(context, request),
})

/**
 * Changes a team in a transaction that has locked its members, if the caller's role there still has a scope.
 * @param work - Makes the change, and adds its audit log entry. Gets the role of the caller.
 */
const change = <Result>(
  { storage }: ThrottledContext,
  { viewer, account }: TeamRequest,
  scope: Scope,
  work: (within: Repositories, own: MemberRole) => Promise<Result | AccountError>,
): Promise<Result | AccountError> =>
  account.kind === 'personal'
    ? Promise.resolve(teamErrors.personal())
    : storage.transaction(async (within) => {
        await within.teams.lock(account.id, 'exclusive')
        const own = await findTeamAccount(within, { accountId: account.id, userId: viewer.user.id })
        if (own === undefined || !hasScope(own.role, scope)) return teamErrors.noMember()
        // A leaked token must not be able to take the team over.
        return work(within, own.role === 'owner' && viewer.tokenId !== undefined ? 'admin' : own.role)
      })

const log = (
  { now }: ThrottledContext,
  within: Repositories,
  { viewer, account, ip }: TeamRequest,
  entry: { action: string; subject?: string; detail?: Readonly<Record<string, unknown>> },
): Promise<void> =>
  audit(within, {
    subject: account.id,
    ...entry,
    at: now(),
    userId: account.id,
    actor: viewer.tokenId ?? viewer.user.id,
    ip,
  })

/** Why the caller may not give a role. */
const findGrantProblem = ({ viewer }: TeamRequest, own: MemberRole, role: MemberRole): AccountError | undefined => {
  if (!canGrant(own, role)) return teamErrors.ownersOnly()
  return viewer.tokenId !== undefined && hasScope(role, 'reveal') ? teamErrors.tokenRoles() : undefined
}

const list = async (
  { storage }: ThrottledContext,
  { user, accountId }: Parameters<TeamFunctions['list']>[0],
): ReturnType<TeamFunctions['list']> => {
  const accounts: ActingAccount[] = []
  for (const member of await storage.members.listByUser(user.id)) {
    const account = await findTeamAccount(storage, member)
    if (account !== undefined) accounts.push(account)
  }
  return [toPersonalAccount(user), ...accounts].filter(({ id }) => accountId === undefined || accountId === id)
}

const create = (
  context: ThrottledContext,
  { viewer, name, ip }: Parameters<TeamFunctions['create']>[0],
): ReturnType<TeamFunctions['create']> =>
  context.storage.transaction(async (within) => {
    const { id: userId } = viewer.user
    const at = context.now()
    const created = await within.teams.create({ name, createdBy: userId, max: teamLimits.teams, now: at })
    if (created === 'notFound') return accountErrors.deleted()
    if (created === 'teamsFull') return teamErrors.tooMany(teamLimits.teams)
    await within.members.add({ accountId: created.id, userId, role: 'owner', now: at })
    const account: ActingAccount = { ...created, kind: 'team', role: 'owner' }
    await log(context, within, { viewer, account, ip }, { action: 'team.create', detail: { name } })
    return account
  })

const remove = async (
  context: ThrottledContext,
  request: Parameters<TeamFunctions['remove']>[0],
): ReturnType<TeamFunctions['remove']> => {
  const { account, name } = request
  const removed = await change(context, request, 'delete', async (within) => {
    const team = await within.teams.find(account.id)
    if (team?.name !== name.trim()) return teamErrors.wrongName()
    await log(context, within, request, { action: 'team.delete', detail: { name: team.name } })
    return within.teams.remove({ id: account.id, now: context.now() })
  })
  if (removed === true) context.onChange([{ kind: 'user', id: account.id }])
  return removed === false ? teamErrors.noMember() : removed
}

const setRole = (
  context: ThrottledContext,
  request: Parameters<TeamFunctions['setRole']>[0],
): ReturnType<TeamFunctions['setRole']> =>
  change(context, request, 'members', async (within, own) => {
    const { account, userId, role } = request
    const member = { accountId: account.id, userId }
    const before = await within.members.find(member)
    if (before === undefined) return teamErrors.unknownMember()
    if (!canGrant(own, before.role)) return teamErrors.ownersOnly()
    const problem = findGrantProblem(request, own, role)
    if (problem !== undefined) return problem
    const updated = await within.members.setRole({ ...member, role })
    if (updated === 'lastOwner') return teamErrors.lastOwner()
    if (updated === 'creator') return teamErrors.isCreator()
    const detail = { from: before.role, role }
    await log(context, within, request, { action: 'member.role', subject: userId, detail })
    return true
  })

/** Ends a membership, and drops the keys of teams whose limits changed from the caches. */
const end = async (
  context: ThrottledContext,
  request: TeamRequest,
  { scope, userId, action }: { scope: Scope; userId: string; action: 'member.leave' | 'member.remove' },
): Promise<true | AccountError> => {
  const { viewer, account, ip } = request
  const ended = await change(context, request, scope, async (within, own) => {
    const member = { accountId: account.id, userId }
    const before = await within.members.find(member)
    if (before === undefined) return teamErrors.unknownMember()
    if (scope === 'members' && !canGrant(own, before.role)) return teamErrors.ownersOnly()
    const actor = viewer.tokenId ?? viewer.user.id
    const by = viewer.tokenId === undefined ? viewer.user.id : undefined
    const changed = await endMembership(context, within, { ...member, by, actor, action, ip })
    if (!isAccountError(changed)) await within.teams.recordLimits(changed)
    return changed
  })
  if (isAccountError(ended)) return ended
  context.onChange(ended.map((id) => ({ kind: 'user', id })))
  return true
}

const addInvite = (
  context: ThrottledContext,
  request: Parameters<TeamFunctions['invite']>[0] & { hash: string },
): Promise<MemberInvite | AccountError> =>
  change(context, request, 'members', async (within, own) => {
    const { account, viewer, email, role, send, hash } = request
    const problem = findGrantProblem(request, own, role)
    if (problem !== undefined) return problem
    const now = context.now()
    const accountId = account.id
    const members = await within.members.list(accountId)
    if (members.some((member) => isSameEmail(member.email, email))) return teamErrors.alreadyMember()
    const invites = await within.members.listInvites({ accountId, now })
    if (members.length >= teamLimits.members) return teamErrors.tooManyMembers(teamLimits.members)
    if (invites.length >= teamLimits.invites) return teamErrors.tooManyInvites(teamLimits.invites)
    const createdBy = viewer.user.id
    const expiresAt = now + inviteMs
    const created = await within.members.createInvite({ hash, accountId, email, role, createdBy, expiresAt, now })
    const detail = { email, role, sent: send }
    await log(context, within, request, { action: 'member.invite', subject: created.id, detail })
    return created
  })

const invite = async (
  context: ThrottledContext,
  request: Parameters<TeamFunctions['invite']>[0],
): ReturnType<TeamFunctions['invite']> => {
  const { mailer, emailsByIp, emailsByAddress } = context
  const { viewer, account, send, siteUrl, ip } = request
  const email = request.email.trim()
  const identity = toEmailIdentity(email)
  if (identity === undefined) return accountErrors.email()
  if (send && !mailer.isOn()) return accountErrors.emailDisabled()
  // Also by the user, who may have many IP addresses.
  const senders = [toIpBlock(ip), viewer.user.id]
  const address = hashSecret(identity).slice(0, 32)
  const waits = [...senders.map((sender) => emailsByIp.waitMs(sender)), emailsByAddress.waitMs(address)]
  const waitMs = send ? Math.max(...waits) : 0
  if (waitMs > 0) return accountErrors.tooManyTries(waitMs)
  // Counted before the result is known. Otherwise concurrent requests would all pass.
  const recorded = send ? [...senders.map((sender) => emailsByIp.record(sender)), emailsByAddress.record(address)] : []
  const text = createSecretText('memberInvite')
  const created = await addInvite(context, { ...request, email, hash: hashSecret(text) })
  if (isAccountError(created)) {
    for (const undo of recorded) undo()
    return created
  }
  if (send) {
    const to = { to: email, siteUrl: mailer.siteUrl() }
    mailer.enqueue('memberInvite', async () =>
      accountEmails.memberInvite(to, { team: account.name, secret: text, expiresAt: created.expiresAt }),
    )
  }
  return { invite: created, url: getPageUrl(siteUrl, 'join', text) }
}

const removeInvite = (
  context: ThrottledContext,
  request: Parameters<TeamFunctions['removeInvite']>[0],
): ReturnType<TeamFunctions['removeInvite']> =>
  change(context, request, 'members', async (within, own) => {
    const { id, account } = request
    const invites = await within.members.listInvites({ accountId: account.id, now: context.now() })
    const known = invites.find((one) => one.id === id)
    if (known === undefined) return teamErrors.unknownInvite()
    if (!canGrant(own, known.role)) return teamErrors.ownersOnly()
    await within.members.removeInvite({ id, accountId: account.id })
    await log(context, within, request, { action: 'member.removeInvite', subject: id })
    return true
  })

const join = (
  context: ThrottledContext,
  { viewer, invite: text, ip }: Parameters<TeamFunctions['join']>[0],
): ReturnType<TeamFunctions['join']> =>
  context.storage.transaction(async (within) => {
    const { user } = viewer
    const hash = isSecretText('memberInvite', text) ? hashSecret(text) : undefined
    const known = hash === undefined ? undefined : await within.members.findInvite(hash)
    if (hash === undefined || known === undefined) return teamErrors.invite()
    const { accountId } = known
    await within.teams.lock(accountId, 'exclusive')
    // Read again with the lock: another request may have used it.
    const invite = await within.members.findInvite(hash)
    const at = context.now()
    if (invite === undefined || invite.expiresAt <= at || !isSameEmail(invite.email, user.email))
      return teamErrors.invite()
    // Otherwise anybody could sign up with the address of somebody else, and use an invite that went astray.
    if (context.mailer.isOn() && user.emailVerifiedAt === null) return teamErrors.emailUnverified()
    const members = await within.members.list(accountId)
    if (members.some(({ userId }) => userId === user.id)) return teamErrors.alreadyMember()
    if (members.length >= teamLimits.members) return teamErrors.tooManyMembers(teamLimits.members)
    await within.members.removeInvitesTo({ accountId, email: invite.email })
    await within.members.add({ accountId, userId: user.id, role: invite.role, now: at })
    const account = await findTeamAccount(within, { accountId, userId: user.id })
    if (account === undefined) throw new Error('a member who was just added does not exist')
    await log(
      context,
      within,
      { viewer, account, ip },
      { action: 'member.join', subject: user.id, detail: { invite: invite.id, role: invite.role } },
    )
    return account
  })
