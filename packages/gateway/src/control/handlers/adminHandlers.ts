import { isAccountError } from '../account/accountError.ts'
import type { AccountError } from '../account/accountError.ts'
import type { Account } from '../account/account.ts'
import type { Actor } from '../account/operator.ts'
import type { OwnLimits } from '../contract/limits.ts'
import type { UserView } from '../contract/operator.ts'
import { defaultPageLimit } from '../contract/page.ts'
import { apiErrors } from '../apiErrors.ts'
import { badCursor, fromCursor, toCursor } from '../cursor.ts'
import { actorOf } from '../handler.ts'
import type { Caller, ControlParts, Handlers } from '../handler.ts'
import type { Reply } from '../reply.ts'
import { isoTime } from '../views/times.ts'
import { readAuditLog } from './tokenHandlers.ts'

const dayMs = 86_400_000
const maxInvites = 1_000

const by = (caller: Caller): Required<Actor> => ({ actor: actorOf(caller), ip: caller.ip })

/** What operators see and do. */
export const adminHandlers = (
  parts: ControlParts,
): Handlers<
  | 'GET /api/admin/overview'
  | 'GET /api/admin/users'
  | 'GET /api/admin/users/{userId}'
  | 'POST /api/admin/users/{userId}/disable'
  | 'POST /api/admin/users/{userId}/enable'
  | 'POST /api/admin/users/{userId}/reset-link'
  | 'PUT /api/admin/users/{userId}/limits'
  | 'GET /api/admin/invites'
  | 'POST /api/admin/invites'
  | 'DELETE /api/admin/invites/{inviteId}'
  | 'GET /api/admin/audit-log'
> => {
  const { storage, accounts, deployment, degraded, startedAt } = parts
  const { operator } = accounts

  const show = async (users: readonly Account[]): Promise<readonly UserView[]> => {
    const ids = users.map(({ id }) => id)
    const [apps, apiKeys] = [await storage.apps.countByUser(ids), await storage.keys.countApiKeysByUser(ids)]
    return users.map(({ id, email, state, role, limits, createdAt }) => ({
      id,
      email,
      state,
      role,
      // What was stored was checked when it was given.
      limits: limits as OwnLimits | null,
      apps: apps.get(id) ?? 0,
      apiKeys: apiKeys.get(id) ?? 0,
      createdAt: isoTime(createdAt),
    }))
  }
  const shown = async (user: Account | AccountError | undefined): Promise<Reply<UserView>> => {
    if (user === undefined) return { rejection: apiErrors.notFound() }
    if (isAccountError(user)) return { rejection: apiErrors.ofAccount(user) }
    const [view] = await show([user])
    return view === undefined ? { rejection: apiErrors.notFound() } : { answer: view }
  }
  /** What works stands in the fragment, which browsers send to nobody. */
  const linkTo = (page: string, fragment: string): string => {
    const { publicUrl, controlUrl = publicUrl } = deployment()
    return `${controlUrl.replace(/\/+$/, '')}/${page}#${fragment}`
  }

  return {
    'GET /api/admin/overview': async () => ({
      answer: {
        users: await storage.users.count(),
        apps: await storage.apps.count(),
        apiKeys: await storage.keys.countApiKeys(),
        startedAt: isoTime(startedAt),
        degraded: degraded(),
      },
    }),

    'GET /api/admin/users': async ({ query }) => {
      const { cursor, search, limit = defaultPageLimit } = query
      const [after] = (cursor === undefined ? [] : fromCursor(cursor, ['string'])) ?? []
      if (cursor !== undefined && typeof after !== 'string') return { rejection: badCursor() }
      const users = await operator.listUsers({
        limit: limit + 1,
        ...(search === undefined || search === '' ? {} : { email: search }),
        ...(typeof after === 'string' ? { after } : {}),
      })
      const page = users.slice(0, limit)
      const last = users.length > limit ? page.at(-1) : undefined
      return { answer: { items: await show(page), next: last === undefined ? null : toCursor([last.id]) } }
    },

    'GET /api/admin/users/{userId}': async ({ params }) => shown(await operator.findUser({ id: params.userId })),

    'POST /api/admin/users/{userId}/disable': async ({ params, caller }) => {
      if (caller.viewer?.user.id === params.userId)
        return { rejection: apiErrors.inUse('this is your own account: another operator can disable it') }
      return shown(await operator.setUserState({ id: params.userId, state: 'disabled', ...by(caller) }))
    },

    'POST /api/admin/users/{userId}/enable': async ({ params, caller }) =>
      shown(await operator.setUserState({ id: params.userId, state: 'active', ...by(caller) })),

    'POST /api/admin/users/{userId}/reset-link': async ({ params, caller }) => {
      const made = await operator.resetLink({ id: params.userId, ...by(caller) })
      if (isAccountError(made)) return { rejection: apiErrors.ofAccount(made) }
      return { answer: { url: linkTo('reset-password', made.text), expiresAt: isoTime(made.expiresAt) } }
    },

    'PUT /api/admin/users/{userId}/limits': async ({ params, body, caller }) =>
      shown(await operator.setUserLimits({ id: params.userId, limits: body.limits, ...by(caller) })),

    'GET /api/admin/invites': async () => {
      const invites = await operator.listInvites({ limit: maxInvites })
      return {
        answer: {
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
      const { email, days } = body
      const made = await operator.inviteUser({
        ...(email === undefined ? {} : { email }),
        ...(days === undefined ? {} : { validMs: days * dayMs }),
        ...by(caller),
      })
      if (isAccountError(made)) return { rejection: apiErrors.ofAccount(made) }
      const { text, invite } = made
      // The page has the email address from the link then, and nobody can ask the service for whom an invite is.
      const fragment = invite.email === null ? text : `${text}&mail=${encodeURIComponent(invite.email)}`
      return { answer: { url: linkTo('sign-up', fragment), expiresAt: isoTime(invite.expiresAt) } }
    },

    'DELETE /api/admin/invites/{inviteId}': async ({ params, caller }) =>
      (await operator.removeInvite({ id: params.inviteId, ...by(caller) }))
        ? { answer: undefined }
        : { rejection: apiErrors.notFound() },

    'GET /api/admin/audit-log': ({ query }) => readAuditLog({ storage }, { query }),
  }
}
