import { isAccountError } from '../account/accountError.ts'
import type { AccessToken } from '../../storage/accessTokens.ts'
import type { AccessTokenView, TokenScope } from '../contract/accessToken.ts'
import { apiErrors } from '../apiErrors.ts'
import { readExpiry } from '../readExpiry.ts'
import { requireViewer } from '../handler.ts'
import type { ControlParts, Handlers } from '../handler.ts'
import { isoTime, isoTimeOrNull } from '../views/times.ts'

const toAccessTokenView = ({ id, label, scopes, createdAt, seenAt, expiresAt }: AccessToken): AccessTokenView => ({
  id,
  label,
  // Validated when they were stored.
  scopes: scopes as readonly TokenScope[],
  createdAt: isoTime(createdAt),
  seenAt: isoTimeOrNull(seenAt),
  expiresAt: isoTimeOrNull(expiresAt),
})

/** The routes of personal access tokens. */
export const tokenHandlers = ({
  accounts,
  now,
}: ControlParts): Handlers<'GET /api/tokens' | 'POST /api/tokens' | 'DELETE /api/tokens/{tokenId}'> => ({
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
})
