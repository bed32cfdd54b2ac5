import { getPageUrl, getSignUpFragment } from '../account/accountEmails.ts'
import { accountErrors, isAccountError } from '../account/accountError.ts'
import type { AccountError } from '../account/accountError.ts'
import type { Account } from '../account/account.ts'
import type { Actor } from '../account/operator.ts'
import { confirmBody } from '../contract/account.ts'
import { metricsQuery, metricsView } from '../contract/metrics.ts'
import { defaultPageLimit } from '../contract/page.ts'
import { usageView } from '../contract/usage.ts'
import { apiErrors } from '../apiErrors.ts'
import { invalidCursor, fromCursor, toCursor } from '../cursor.ts'
import type { Invite } from '../../storage/invites.ts'
import type { Team } from '../../storage/teams.ts'
import { teamOwnerBody, teamView, teamsQuery, teamsView } from '../contract/team.ts'
import { createView } from '../views/createView.ts'
import { readMetricsView } from '../views/readMetricsView.ts'
import { isoTime } from '../views/times.ts'
import { readAccountUsage } from '../views/toUsageView.ts'
import {
  inviteBody,
  inviteView,
  invitesView,
  oneTimeLinkView,
  userLimitsBody,
  userView,
  usersQuery,
  usersView,
} from '../contract/operator.ts'
import type { InviteView, OwnLimits, TeamView, UserView } from '../contract/controlApi.d.ts'
import { getActor, route } from '../route.ts'
import type { Caller, ControlParts, HandlerResult, Route } from '../route.ts'

const dayMs = 86_400_000
const maxInvites = 1_000

const toActor = (caller: Caller): Required<Actor> => ({ actor: getActor(caller), ip: caller.ip })

const toUser = createView(userView)
const toInvite: (invite: Invite) => InviteView = createView(inviteView)

const toTeam = createView(teamView)

/** Adds the number of apps and API keys to the views of accounts. */
const addCounts = async <Listed extends Pick<Account, 'id' | 'limits'>, View extends object>(
  { storage }: ControlParts,
  accounts: readonly Listed[],
  toView: (account: Listed) => View,
) => {
  const ids = accounts.map(({ id }) => id)
  const [apps, apiKeys] = [await storage.apps.countByUser(ids), await storage.keys.countApiKeysByUser(ids)]
  return accounts.map((account) => ({
    ...toView(account),
    // Validated when it was stored.
    limits: account.limits as OwnLimits | null,
    apps: apps.get(account.id) ?? 0,
    apiKeys: apiKeys.get(account.id) ?? 0,
  }))
}

const toUserViews = (parts: ControlParts, users: readonly Account[]): Promise<readonly UserView[]> =>
  addCounts(parts, users, toUser)

const toTeamViews = async (parts: ControlParts, teams: readonly Team[]): Promise<readonly TeamView[]> => {
  const members = await parts.storage.teams.countMembers(teams.map(({ id }) => id))
  return addCounts(parts, teams, (team) => ({ ...toTeam(team), members: members.get(team.id) ?? 0 }))
}

type ToViews<Listed, View> = (parts: ControlParts, accounts: readonly Listed[]) => Promise<readonly View[]>

const toResult =
  <Listed extends object, View>(toViews: ToViews<Listed, View>) =>
  async (parts: ControlParts, account: Listed | AccountError | undefined): Promise<HandlerResult<View>> => {
    if (isAccountError(account)) return { error: apiErrors.fromAccountError(account) }
    const [view] = account === undefined ? [] : await toViews(parts, [account])
    return view === undefined ? { error: apiErrors.notFound() } : { response: view }
  }

const toUserResult = toResult(toUserViews)
const toTeamResult = toResult(toTeamViews)

/** Lists a page of accounts by id. */
const toPage = async <Listed extends Pick<Account, 'id'>, View>(
  parts: ControlParts,
  { cursor, limit = defaultPageLimit }: { readonly cursor?: string; readonly limit?: number },
  list: (page: { after?: string; limit: number }) => Promise<readonly Listed[]>,
  toViews: ToViews<Listed, View>,
): Promise<HandlerResult<{ readonly items: readonly View[]; readonly next: string | null }>> => {
  const [after] = (cursor === undefined ? [] : fromCursor(cursor, ['string'])) ?? []
  if (cursor !== undefined && typeof after !== 'string') return { error: invalidCursor() }
  const accounts = await list({ limit: limit + 1, ...(typeof after === 'string' ? { after } : {}) })
  const page = accounts.slice(0, limit)
  const last = accounts.length > limit ? page.at(-1) : undefined
  return { response: { items: await toViews(parts, page), next: last === undefined ? null : toCursor([last.id]) } }
}

const createLink = ({ deployment }: ControlParts, page: string, fragment: string): string => {
  const { publicUrl, controlUrl = publicUrl } = deployment()
  return getPageUrl(controlUrl, page, fragment)
}

/** The routes for operators about users, teams and invites. */
export const userAdminRoutes: readonly Route[] = [
  route(
    'GET /api/admin/users',
    { summary: 'Lists the accounts.', access: 'operator', query: usersQuery, response: usersView },
    ({ query: { search, ...query } }, parts) => {
      const filter = search === undefined || search === '' ? {} : { email: search }
      return toPage(parts, query, (page) => parts.accounts.operator.listUsers({ ...page, ...filter }), toUserViews)
    },
  ),

  route(
    'GET /api/admin/users/{userId}',
    { summary: 'Gets an account.', access: 'operator', response: userView },
    async ({ params }, parts) => toUserResult(parts, await parts.accounts.operator.findUser({ id: params.userId })),
  ),

  route(
    'GET /api/admin/users/{userId}/usage',
    {
      summary: "Gets the usage of a user's API key limits.",
      access: 'operator',
      response: usageView,
    },
    async ({ params }, parts) => {
      const user = await parts.accounts.operator.findUser({ id: params.userId })
      if (user === undefined) return { error: apiErrors.notFound() }
      return { response: await readAccountUsage(parts, user) }
    },
  ),

  route(
    'GET /api/admin/users/{userId}/metrics',
    {
      summary: 'Gets the metrics of the apps and API keys of a user.',
      access: 'operator',
      isExpensive: true,
      query: metricsQuery,
      response: metricsView,
    },
    async ({ params, query }, parts) => {
      const user = await parts.accounts.operator.findUser({ id: params.userId })
      if (user === undefined) return { error: apiErrors.notFound() }
      return readMetricsView(parts, { subject: { userId: user.id }, createdAt: user.createdAt }, query)
    },
  ),

  route(
    'POST /api/admin/users/{userId}/disable',
    {
      summary: 'Disables an account: its sessions end, and its keys and tokens stop working.',
      access: 'operator',
      confirms: true,
      body: confirmBody,
      response: userView,
    },
    async ({ params, caller }, parts) => {
      if (caller.viewer?.user.id === params.userId)
        return { error: apiErrors.inUse('You cannot disable your own account. Ask another operator to disable it.') }
      return toUserResult(
        parts,
        await parts.accounts.operator.setUserState({ id: params.userId, state: 'disabled', ...toActor(caller) }),
      )
    },
  ),

  route(
    'POST /api/admin/users/{userId}/enable',
    {
      summary: 'Enables a disabled account and its keys.',
      access: 'operator',
      confirms: true,
      body: confirmBody,
      response: userView,
    },
    async ({ params, caller }, parts) =>
      toUserResult(
        parts,
        await parts.accounts.operator.setUserState({ id: params.userId, state: 'active', ...toActor(caller) }),
      ),
  ),

  route(
    'POST /api/admin/users/{userId}/reset-link',
    {
      summary: 'Creates a one-time link with which the user sets a new password.',
      access: 'operator',
      confirms: true,
      status: 201,
      body: confirmBody,
      response: oneTimeLinkView,
    },
    async ({ params, caller }, parts) => {
      const created = await parts.accounts.operator.resetLink({ id: params.userId, ...toActor(caller) })
      if (isAccountError(created)) return { error: apiErrors.fromAccountError(created) }
      return {
        response: { url: createLink(parts, 'reset-password', created.text), expiresAt: isoTime(created.expiresAt) },
      }
    },
  ),

  route(
    'POST /api/admin/users/{userId}/second-factor/reset',
    {
      summary: 'Removes all second factors of an account, ends its sessions, and notifies the user by email.',
      access: 'operator',
      confirms: true,
      body: confirmBody,
      response: userView,
    },
    async ({ params, caller }, parts) =>
      toUserResult(parts, await parts.accounts.operator.resetSecondFactor({ id: params.userId, ...toActor(caller) })),
  ),

  route(
    'PUT /api/admin/users/{userId}/limits',
    { summary: "Sets a user's limits.", access: 'operator', body: userLimitsBody, response: userView },
    async ({ params, body, caller }, parts) =>
      toUserResult(
        parts,
        await parts.accounts.operator.setUserLimits({ id: params.userId, limits: body.limits, ...toActor(caller) }),
      ),
  ),

  route(
    'GET /api/admin/accounts',
    { summary: 'Lists the accounts of teams.', access: 'operator', query: teamsQuery, response: teamsView },
    ({ query }, parts) => toPage(parts, query, parts.accounts.operator.listTeams, toTeamViews),
  ),

  route(
    'GET /api/admin/accounts/{accountId}',
    { summary: 'Gets the account of a team.', access: 'operator', response: teamView },
    async ({ params: { accountId } }, parts) =>
      toTeamResult(parts, (await parts.accounts.operator.findTeam(accountId)) ?? accountErrors.deleted()),
  ),

  route(
    'POST /api/admin/accounts/{accountId}/disable',
    {
      summary: 'Disables the account of a team: its keys and tokens stop working.',
      access: 'operator',
      confirms: true,
      body: confirmBody,
      response: teamView,
    },
    async ({ params: { accountId: id }, caller }, parts) =>
      toTeamResult(parts, await parts.accounts.operator.setTeamState({ id, state: 'disabled', ...toActor(caller) })),
  ),

  route(
    'POST /api/admin/accounts/{accountId}/enable',
    {
      summary: 'Enables a disabled account of a team.',
      access: 'operator',
      confirms: true,
      body: confirmBody,
      response: teamView,
    },
    async ({ params: { accountId: id }, caller }, parts) =>
      toTeamResult(parts, await parts.accounts.operator.setTeamState({ id, state: 'active', ...toActor(caller) })),
  ),

  route(
    'PUT /api/admin/accounts/{accountId}/limits',
    {
      summary: 'Gives the account of a team limits and a quota of its own.',
      description: 'With `null`, it shares those of the user who created it.',
      access: 'operator',
      body: userLimitsBody,
      response: teamView,
    },
    async ({ params: { accountId: id }, body: { limits }, caller }, parts) =>
      toTeamResult(parts, await parts.accounts.operator.setTeamLimits({ id, limits, ...toActor(caller) })),
  ),

  route(
    'PUT /api/admin/accounts/{accountId}/owner',
    {
      summary: 'Makes a user an owner of a team, who may not be a member yet.',
      description: 'For a team whose owners have all left the service or lost their access.',
      access: 'operator',
      confirms: true,
      body: teamOwnerBody,
      response: teamView,
    },
    async ({ params: { accountId: id }, body: { userId }, caller }, parts) =>
      toTeamResult(parts, await parts.accounts.operator.addTeamOwner({ id, userId, ...toActor(caller) })),
  ),

  route(
    'GET /api/admin/invites',
    { summary: 'Lists the open invites, newest first.', access: 'operator', response: invitesView },
    async (_, { accounts }) => {
      const invites = await accounts.operator.listInvites({ limit: maxInvites })
      return {
        response: {
          items: invites.map(toInvite),
        },
      }
    },
  ),

  route(
    'POST /api/admin/invites',
    {
      summary: 'Creates a one-time sign-up link.',
      access: 'operator',
      confirms: true,
      status: 201,
      body: inviteBody,
      response: oneTimeLinkView,
    },
    async ({ body, caller }, parts) => {
      const { email, days, send } = body
      const created = await parts.accounts.operator.inviteUser({
        ...(email === undefined ? {} : { email }),
        ...(days === undefined ? {} : { validMs: days * dayMs }),
        ...(send === undefined ? {} : { send }),
        ...toActor(caller),
      })
      if (isAccountError(created)) return { error: apiErrors.fromAccountError(created) }
      const { text, invite } = created
      return {
        response: {
          url: createLink(parts, 'sign-up', getSignUpFragment(text, invite)),
          expiresAt: isoTime(invite.expiresAt),
        },
      }
    },
  ),

  route(
    'DELETE /api/admin/invites/{inviteId}',
    { summary: 'Revokes an invite.', access: 'operator' },
    async ({ params, caller }, { accounts }) =>
      (await accounts.operator.removeInvite({ id: params.inviteId, ...toActor(caller) }))
        ? { response: undefined }
        : { error: apiErrors.notFound() },
  ),
]
