import { isAccountError } from '../account/accountError.ts'
import type { AccessToken } from '../../storage/accessTokens.ts'
import type { AccessTokenView, TokenScope } from '../contract/accessToken.ts'
import { defaultPageLimit } from '../contract/page.ts'
import type { Page, PageQuery } from '../contract/page.ts'
import { apiErrors } from '../apiErrors.ts'
import { badCursor, fromCursor, toCursor } from '../cursor.ts'
import { readExpiry } from '../expiry.ts'
import { viewerOf } from '../handler.ts'
import type { ControlParts, Handlers } from '../handler.ts'
import { toAuditEntryView } from '../views/toAuditEntryView.ts'
import { isoTime, isoTimeOrNull } from '../views/times.ts'
import type { AuditEntryView } from '../contract/auditEntry.ts'
import type { Reply } from '../reply.ts'

const show = ({ id, label, scopes, createdAt, seenAt, expiresAt }: AccessToken): AccessTokenView => ({
  id,
  label,
  // What was stored was checked when it was given.
  scopes: scopes as readonly TokenScope[],
  createdAt: isoTime(createdAt),
  seenAt: isoTimeOrNull(seenAt),
  expiresAt: isoTimeOrNull(expiresAt),
})

/** A page of the audit log: of one account, or of all. */
export const readAuditLog = async (
  { storage }: Pick<ControlParts, 'storage'>,
  { userId, query: { cursor, limit = defaultPageLimit } }: { userId?: string; query: PageQuery },
): Promise<Reply<Page<AuditEntryView>>> => {
  const [before] = (cursor === undefined ? [] : fromCursor(cursor, ['number'])) ?? []
  if (cursor !== undefined && typeof before !== 'number') return { rejection: badCursor() }
  const entries = await storage.auditLog.list({
    limit: limit + 1,
    ...(userId === undefined ? {} : { userId }),
    ...(typeof before === 'number' ? { before } : {}),
  })
  const shown = entries.slice(0, limit)
  const last = entries.length > limit ? shown.at(-1) : undefined
  return { answer: { items: shown.map(toAuditEntryView), next: last === undefined ? null : toCursor([last.id]) } }
}

/** Personal access tokens, and what was done to the account. */
export const tokenHandlers = ({
  storage,
  accounts,
  now,
}: ControlParts): Handlers<
  'GET /api/tokens' | 'POST /api/tokens' | 'DELETE /api/tokens/{tokenId}' | 'GET /api/audit-log'
> => ({
  'GET /api/tokens': async ({ caller }) => {
    const tokens = await accounts.listAccessTokens(viewerOf(caller))
    return { answer: { items: tokens.map(show) } }
  },

  'POST /api/tokens': async ({ body, caller }) => {
    const expiry = readExpiry(body.expiresAt, now())
    if ('problem' in expiry) return { rejection: apiErrors.invalid([expiry.problem]) }
    const viewer = viewerOf(caller)
    const { label, scopes } = body
    const made = await accounts.createAccessToken({ viewer, label, scopes, expiresAt: expiry.at, ip: caller.ip })
    if (isAccountError(made)) return { rejection: apiErrors.ofAccount(made) }
    return { answer: { accessToken: show(made.accessToken), token: made.text } }
  },

  'DELETE /api/tokens/{tokenId}': async ({ params, caller }) => {
    const removed = await accounts.removeAccessToken({
      viewer: viewerOf(caller),
      id: params.tokenId,
      ip: caller.ip,
    })
    return removed ? { answer: undefined } : { rejection: apiErrors.notFound() }
  },

  'GET /api/audit-log': ({ query, caller }) => readAuditLog({ storage }, { userId: viewerOf(caller).user.id, query }),
})
