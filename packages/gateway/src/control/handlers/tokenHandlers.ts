import { isAccountError } from '../account/accountError.ts'
import type { AccessToken } from '../../storage/accessTokens.ts'
import type { AccessTokenView, TokenScope } from '../contract/accessToken.ts'
import { defaultPageLimit } from '../contract/page.ts'
import type { Page, PageQuery } from '../contract/page.ts'
import { apiErrors } from '../apiErrors.ts'
import { invalidCursor, fromCursor, toCursor } from '../cursor.ts'
import { readExpiry } from '../readExpiry.ts'
import { requireViewer } from '../handler.ts'
import type { ControlParts, HandlerResult, Handlers } from '../handler.ts'
import { toAuditEntryView } from '../views/toAuditEntryView.ts'
import { isoTime, isoTimeOrNull } from '../views/times.ts'
import type { AuditEntryView } from '../contract/auditEntry.ts'

const toAccessTokenView = ({ id, label, scopes, createdAt, seenAt, expiresAt }: AccessToken): AccessTokenView => ({
  id,
  label,
  // Validated when they were stored.
  scopes: scopes as readonly TokenScope[],
  createdAt: isoTime(createdAt),
  seenAt: isoTimeOrNull(seenAt),
  expiresAt: isoTimeOrNull(expiresAt),
})

/** Reads a page of the audit log of one account, or of all accounts. */
export const readAuditLog = async (
  { storage }: Pick<ControlParts, 'storage'>,
  { userId, query: { cursor, limit = defaultPageLimit } }: { userId?: string; query: PageQuery },
): Promise<HandlerResult<Page<AuditEntryView>>> => {
  const [before] = (cursor === undefined ? [] : fromCursor(cursor, ['number'])) ?? []
  if (cursor !== undefined && typeof before !== 'number') return { error: invalidCursor() }
  const entries = await storage.auditLog.list({
    limit: limit + 1,
    ...(userId === undefined ? {} : { userId }),
    ...(typeof before === 'number' ? { before } : {}),
  })
  const page = entries.slice(0, limit)
  const last = entries.length > limit ? page.at(-1) : undefined
  return { response: { items: page.map(toAuditEntryView), next: last === undefined ? null : toCursor([last.id]) } }
}

/** The routes of personal access tokens and the audit log. */
export const tokenHandlers = ({
  storage,
  accounts,
  now,
}: ControlParts): Handlers<
  'GET /api/tokens' | 'POST /api/tokens' | 'DELETE /api/tokens/{tokenId}' | 'GET /api/audit-log'
> => ({
  'GET /api/tokens': async ({ caller }) => {
    const tokens = await accounts.listAccessTokens(requireViewer(caller))
    return { response: { items: tokens.map(toAccessTokenView) } }
  },

  'POST /api/tokens': async ({ body, caller }) => {
    const expiry = readExpiry(body.expiresAt, now())
    if ('problem' in expiry) return { error: apiErrors.invalid([expiry.problem]) }
    const viewer = requireViewer(caller)
    const { label, scopes } = body
    const created = await accounts.createAccessToken({ viewer, label, scopes, expiresAt: expiry.at, ip: caller.ip })
    if (isAccountError(created)) return { error: apiErrors.fromAccountError(created) }
    return { response: { accessToken: toAccessTokenView(created.accessToken), token: created.text } }
  },

  'DELETE /api/tokens/{tokenId}': async ({ params, caller }) => {
    const removed = await accounts.removeAccessToken({
      viewer: requireViewer(caller),
      id: params.tokenId,
      ip: caller.ip,
    })
    return removed ? { response: undefined } : { error: apiErrors.notFound() }
  },

  'GET /api/audit-log': ({ query, caller }) =>
    readAuditLog({ storage }, { userId: requireViewer(caller).user.id, query }),
})
