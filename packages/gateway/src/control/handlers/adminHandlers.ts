import { getPageUrl, getSignUpFragment } from '../account/accountEmails.ts'
import { isAccountError } from '../account/accountError.ts'
import type { AccountError } from '../account/accountError.ts'
import type { Account } from '../account/account.ts'
import type { Actor } from '../account/operator.ts'
import type { OwnLimits } from '../contract/limits.ts'
import type { UserView } from '../contract/operator.ts'
import { defaultPageLimit } from '../contract/page.ts'
import { apiErrors } from '../apiErrors.ts'
import { invalidCursor, fromCursor, toCursor } from '../cursor.ts'
import { getActor } from '../handler.ts'
import type { Caller, ControlParts, HandlerResult, Handlers } from '../handler.ts'
import { isoTime } from '../views/times.ts'

const dayMs = 86_400_000
const maxInvites = 1_000

const toActor = (caller: Caller): Required<Actor> => ({ actor: getActor(caller), ip: caller.ip })

/** The routes for operators. */
export const adminHandlers = (
  parts: ControlParts,
): Handlers<
  | 'GET /api/admin/overview'
  | 'GET /api/admin/upstreams'
  | 'GET /api/admin/users'
  | 'GET /api/admin/users/{userId}'
  | 'POST /api/admin/users/{userId}/disable'
  | 'POST /api/admin/users/{userId}/enable'
  | 'POST /api/admin/users/{userId}/reset-link'
  | 'PUT /api/admin/users/{userId}/limits'
  | 'GET /api/admin/invites'
  | 'POST /api/admin/invites'
  | 'DELETE /api/admin/invites/{inviteId}'
> => {
  const { storage, accounts, deployment, degraded, upstreams, startedAt } = parts
  const { operator } = accounts

  const toUserViews = async (users: readonly Account[]): Promise<readonly UserView[]> => {
    const ids = users.map(({ id }) => id)
    const [apps, apiKeys] = [await storage.apps.countByUser(ids), await storage.keys.countApiKeysByUser(ids)]
    return users.map(({ id, email, state, role, limits, createdAt }) => ({
      id,
      email,
      state,
      role,
      // Validated when it was stored.
      limits: limits as OwnLimits | null,
      apps: apps.get(id) ?? 0,
      apiKeys: apiKeys.get(id) ?? 0,
      createdAt: isoTime(createdAt),
    }))
  }
  const toUserResult = async (user: Account | AccountError | undefined): Promise<HandlerResult<UserView>> => {
    if (user === undefined) return { error: apiErrors.notFound() }
    if (isAccountError(user)) return { error: apiErrors.fromAccountError(user) }
    const [view] = await toUserViews([user])
    return view === undefined ? { error: apiErrors.notFound() } : { response: view }
  }
  const createLink = (page: string, fragment: string): string => {
    const { publicUrl, controlUrl = publicUrl } = deployment()
    return getPageUrl(controlUrl, page, fragment)
  }

  return {
    'GET /api/admin/overview': async () => ({
      response: {
        users: await storage.users.count(),
        apps: await storage.apps.count(),
        apiKeys: await storage.keys.countApiKeys(),
        startedAt: isoTime(startedAt),
        degraded: degraded(),
      },
    }),

    'GET /api/admin/upstreams': async () => ({
      response: {
        items: upstreams().map(({ network, upstream, outcomes, ...state }) => ({
          network,
          name: upstream,
          status: state.status,
          reason: state.reason,
          head: state.head,
          lag: state.lag,
          inFlight: state.inFlight,
          latencyMs: state.latencyMs,
          outcomes: Object.fromEntries(outcomes),
          budgets: state.budgets,
        })),
      },
    }),

    'GET /api/admin/users': async ({ query }) => {
      const { cursor, search, limit = defaultPageLimit } = query
      const [after] = (cursor === undefined ? [] : fromCursor(cursor, ['string'])) ?? []
      if (cursor !== undefined && typeof after !== 'string') return { error: invalidCursor() }
      const users = await operator.listUsers({
        limit: limit + 1,
        ...(search === undefined || search === '' ? {} : { email: search }),
        ...(typeof after === 'string' ? { after } : {}),
      })
      const page = users.slice(0, limit)
      const last = users.length > limit ? page.at(-1) : undefined
      return { response: { items: await toUserViews(page), next: last === undefined ? null : toCursor([last.id]) } }
    },

    'GET /api/admin/users/{userId}': async ({ params }) => toUserResult(await operator.findUser({ id: params.userId })),

    'POST /api/admin/users/{userId}/disable': async ({ params, caller }) => {
      if (caller.viewer?.user.id === params.userId)
        return { error: apiErrors.inUse('You cannot disable your own account. Ask another operator to disable it.') }
      return toUserResult(await operator.setUserState({ id: params.userId, state: 'disabled', ...toActor(caller) }))
    },

    'POST /api/admin/users/{userId}/enable': async ({ params, caller }) =>
      toUserResult(await operator.setUserState({ id: params.userId, state: 'active', ...toActor(caller) })),

    'POST /api/admin/users/{userId}/reset-link': async ({ params, caller }) => {
      const created = await operator.resetLink({ id: params.userId, ...toActor(caller) })
      if (isAccountError(created)) return { error: apiErrors.fromAccountError(created) }
      return { response: { url: createLink('reset-password', created.text), expiresAt: isoTime(created.expiresAt) } }
    },

    'PUT /api/admin/users/{userId}/limits': async ({ params, body, caller }) =>
      toUserResult(await operator.setUserLimits({ id: params.userId, limits: body.limits, ...toActor(caller) })),

    'GET /api/admin/invites': async () => {
      const invites = await operator.listInvites({ limit: maxInvites })
      return {
        response: {
          items: invites.map(({ id, email, createdAt, expiresAt }) => ({
            id,
            email,
            createdAt: isoTime(createdAt),
            expiresAt: isoTime(expiresAt),
          })),
        },
      }
    },

    'POST /api/admin/invites': async ({ body, caller }) => {
      const { email, days, send } = body
      const created = await operator.inviteUser({
        ...(email === undefined ? {} : { email }),
        ...(days === undefined ? {} : { validMs: days * dayMs }),
        ...(send === undefined ? {} : { send }),
        ...toActor(caller),
      })
      if (isAccountError(created)) return { error: apiErrors.fromAccountError(created) }
      const { text, invite } = created
      return {
        response: { url: createLink('sign-up', getSignUpFragment(text, invite)), expiresAt: isoTime(invite.expiresAt) },
      }
    },

    'DELETE /api/admin/invites/{inviteId}': async ({ params, caller }) =>
      (await operator.removeInvite({ id: params.inviteId, ...toActor(caller) }))
        ? { response: undefined }
        : { error: apiErrors.notFound() },
  }
}
