import { openKey, sealKey } from '../../lib/secrets/sealKey.ts'
import type { SealedSecret } from '../../storage/sealedSecrets.ts'
import { accountErrors, isAccountError } from '../account/accountError.ts'
import type { AccountError } from '../account/accountError.ts'
import { findActingAccount } from '../account/actingAccount.ts'
import type { ActingAccount } from '../account/actingAccount.ts'
import { lacksSecondFactor } from '../account/startSession.ts'
import { apiErrors } from '../apiErrors.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import type { ActingAccountView, MemberInviteView, MemberView } from '../contract/controlApi.d.ts'
import { confirmBody } from '../contract/account.ts'
import {
  actingAccountView,
  actingAccountsView,
  createTeamBody,
  deleteTeamBody,
  joinTeamBody,
  memberInviteBody,
  memberInviteView,
  memberInvitesView,
  memberRoleBody,
  memberView,
  membersView,
  newMemberInviteView,
  renameTeamBody,
  teamRulesBody,
  transferAppBody,
} from '../contract/team.ts'
import { hasScope } from '../roles.ts'
import { requireAccount, requireAccountId, requireViewer, route } from '../route.ts'
import type { Caller, ControlParts, HandlerResult, Route } from '../route.ts'
import type { MemberInvite } from '../../storage/members.ts'
import type { TeamMember } from '../account/teamFunctions.ts'
import { createView } from '../views/createView.ts'
import { toActingAccountView } from '../views/toSessionView.ts'

const toMemberView: (member: TeamMember) => MemberView = createView(memberView)
const toInviteView: (invite: MemberInvite) => MemberInviteView = createView(memberInviteView)

const toRequest = (caller: Caller) => ({
  viewer: requireViewer(caller),
  account: requireAccount(caller),
  ip: caller.ip,
})

const toAccountResult = (result: ActingAccount | AccountError): HandlerResult<ActingAccountView> =>
  isAccountError(result) ? { error: apiErrors.fromAccountError(result) } : { response: toActingAccountView(result) }

const toEmptyResult = (result: true | AccountError): HandlerResult<undefined> =>
  result === true ? { response: undefined } : { error: apiErrors.fromAccountError(result) }

/** Seals the copy of a key for another account. A copy that cannot be opened is lost: the key still works. */
const reseal = (
  { secrets }: Pick<ControlParts, 'secrets'>,
  { sealed, ...owner }: SealedSecret,
  to: string,
): Uint8Array | null => {
  try {
    return sealKey(openKey(sealed, owner, secrets), { ...owner, userId: to }, secrets[0])
  } catch {
    return null
  }
}

/** The routes of accounts, their members and invites to them. */
export const teamRoutes: readonly Route[] = [
  route(
    'GET /api/accounts',
    {
      summary: 'Lists the accounts that the user is a member of: the personal one, and teams.',
      description: 'An access token sees only the account that it belongs to.',
      access: 'read',
      whenDisabled: true,
      response: actingAccountsView,
    },
    async ({ caller }, { accounts }) => ({
      response: { items: (await accounts.teams.list(requireViewer(caller))).map(toActingAccountView) },
    }),
  ),

  route(
    'POST /api/accounts',
    {
      summary: 'Creates a team, whose owner is the user.',
      description: 'It shares the limits of the user, until an operator gives it its own.',
      access: 'session',
      status: 201,
      body: createTeamBody,
      response: actingAccountView,
    },
    async ({ body, caller }, { accounts }) =>
      toAccountResult(await accounts.teams.create({ viewer: requireViewer(caller), name: body.name, ip: caller.ip })),
  ),

  route(
    'POST /api/accounts/join',
    {
      summary: 'Joins a team with an invite to the email address of the user.',
      access: 'session',
      body: joinTeamBody,
      response: actingAccountView,
    },
    async ({ body, caller }, { accounts }) =>
      toAccountResult(await accounts.teams.join({ viewer: requireViewer(caller), invite: body.invite, ip: caller.ip })),
  ),

  route(
    'PATCH /api/team',
    { summary: 'Renames the team.', access: 'manage', body: renameTeamBody, response: actingAccountView },
    async ({ body, caller }, { accounts }) =>
      toAccountResult(await accounts.teams.rename({ ...toRequest(caller), name: body.name })),
  ),

  route(
    'PUT /api/team/rules',
    {
      summary: 'Sets whether members need a second factor.',
      description: 'Who requires it must have one. The personal accounts of members are not affected.',
      access: 'rules',
      confirms: true,
      body: teamRulesBody,
      response: actingAccountView,
    },
    async ({ body, caller }, { accounts }) => {
      const { password: _, ...rules } = body
      return toAccountResult(await accounts.teams.setRules({ ...toRequest(caller), rules }))
    },
  ),

  route(
    'POST /api/team/delete',
    {
      summary: 'Deletes the team and everything it owns, except the audit log. The body must contain its name.',
      access: 'delete',
      confirms: true,
      body: deleteTeamBody,
    },
    async ({ body, caller }, { accounts, storage, requestRecorder }) => {
      const keyIds = await storage.keys.listIds(requireAccountId(caller))
      const result = await accounts.teams.remove({ ...toRequest(caller), name: body.name })
      // Not awaited: there may be many.
      if (result === true) void requestRecorder.remove(keyIds)
      return toEmptyResult(result)
    },
  ),

  route(
    'POST /api/team/leave',
    {
      summary: "Ends the user's membership in the team, and removes the user's access tokens for it.",
      description:
        'The last owner cannot leave, and neither can the user whose limits the team shares: another owner can remove that user.',
      access: 'own',
      confirms: true,
      body: confirmBody,
    },
    async ({ caller }, { accounts }) => toEmptyResult(await accounts.teams.leave(toRequest(caller))),
  ),

  route(
    'GET /api/members',
    { summary: 'Lists the members of the account.', access: 'read', response: membersView },
    async ({ caller }, { accounts }) => ({
      response: { items: (await accounts.teams.listMembers(requireAccount(caller))).map(toMemberView) },
    }),
  ),

  route(
    'PUT /api/members/{userId}/role',
    {
      summary: 'Gives a member another role.',
      description: 'Only an owner can do that with owners. An access token can only give the role viewer.',
      access: 'members',
      confirms: true,
      body: memberRoleBody,
    },
    async ({ params, body, caller }, { accounts }) =>
      toEmptyResult(await accounts.teams.setRole({ ...toRequest(caller), userId: params.userId, role: body.role })),
  ),

  route(
    'POST /api/members/{userId}/remove',
    {
      summary: 'Removes a member. The access tokens of the member for the team stop working.',
      access: 'members',
      confirms: true,
      body: confirmBody,
    },
    async ({ params, caller }, { accounts }) =>
      toEmptyResult(await accounts.teams.removeMember({ ...toRequest(caller), userId: params.userId })),
  ),

  route(
    'GET /api/members/invites',
    { summary: 'Lists the open invites to the team, newest first.', access: 'members', response: memberInvitesView },
    async ({ caller }, { accounts }) => ({
      response: { items: (await accounts.teams.listInvites(requireAccount(caller))).map(toInviteView) },
    }),
  ),

  route(
    'POST /api/members/invites',
    {
      summary: 'Invites a user to the team. Only this response contains the link.',
      description:
        'It works once, within 7 days, for the user with that email address. It does not allow to sign up. An access token can only give the role viewer.',
      access: 'members',
      confirms: true,
      status: 201,
      body: memberInviteBody,
      response: newMemberInviteView,
    },
    async ({ body, caller }, { accounts, deployment }) => {
      const { publicUrl, controlUrl = publicUrl } = deployment()
      const { email, role, send = false } = body
      const created = await accounts.teams.invite({ ...toRequest(caller), email, role, send, siteUrl: controlUrl })
      return isAccountError(created)
        ? { error: apiErrors.fromAccountError(created) }
        : { response: { invite: toInviteView(created.invite), url: created.url } }
    },
  ),

  route(
    'DELETE /api/members/invites/{inviteId}',
    { summary: 'Revokes an invite to the team.', access: 'members' },
    async ({ params, caller }, { accounts }) =>
      toEmptyResult(await accounts.teams.removeInvite({ ...toRequest(caller), id: params.inviteId })),
  ),

  route(
    'POST /api/apps/{appId}/transfer',
    {
      summary: 'Moves an app to another account of the user, with its key, lists, limits and history.',
      description: 'Calls with its key go on.',
      access: 'manage',
      confirms: true,
      body: transferAppBody,
    },
    async ({ params: { appId: id }, body, caller }, parts) => {
      const { config, now } = parts
      const userId = requireAccountId(caller)
      const to = body.accountId
      const invalid = (fix: string) => ({ error: apiErrors.invalid([{ field: 'accountId', fix }]) })
      if (to === userId) return invalid('must be another account than that of the app')
      const moved = await changeWithAudit(
        { ...parts, otherAccountId: to },
        caller,
        async (within) => {
          const { apps } = within
          if ((await apps.find({ id, userId })) === undefined) return 'notFound'
          const viewer = requireViewer(caller)
          const target = await findActingAccount(within, viewer, to)
          if (target?.state !== 'active' || !hasScope(target.role, 'apps:write')) return 'noTarget'
          if (lacksSecondFactor(viewer.user, target)) return 'noFactor'
          return apps.transfer({
            id,
            userId,
            to,
            max: config().maxApps,
            reseal: (sealed) => reseal(parts, sealed, to),
            now: now(),
          })
        },
        ({ name }) => ({
          action: 'app.transfer',
          subject: id,
          detail: { name, to },
          forget: { kind: 'app', id },
        }),
      )
      if (moved === 'noTarget') return invalid('must be an account in which your role allows changing apps')
      if (moved === 'noFactor') return { error: apiErrors.fromAccountError(accountErrors.noSecondFactor()) }
      if (moved === 'notFound') return { error: apiErrors.notFound() }
      if (moved === 'nameTaken') return { error: apiErrors.nameTakenInTarget() }
      if (moved === 'appsFull')
        return { error: apiErrors.tooMany(`The other account has ${config().maxApps} apps, the maximum. Delete one.`) }
      return { response: undefined }
    },
  ),
]
