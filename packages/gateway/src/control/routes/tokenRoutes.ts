import { isAccountError } from '../account/accountError.ts'
import type { AccessToken } from '../../storage/accessTokens.ts'
import { apiErrors } from '../apiErrors.ts'
import { readExpiry } from '../readExpiry.ts'
import { createView } from '../views/createView.ts'
import {
  accessTokenView,
  accessTokensView,
  createAccessTokenBody,
  newAccessTokenView,
} from '../contract/accessToken.ts'
import type { AccessTokenView, TokenScope } from '../contract/controlApi.d.ts'
import { hasScope } from '../roles.ts'
import { requireAccount, requireAccountId, requireViewer, route } from '../route.ts'
import type { Route } from '../route.ts'

const toToken = createView(accessTokenView)
const toAccessTokenView = (token: AccessToken): AccessTokenView => ({
  ...toToken(token),
  // Validated when they were stored.
  scopes: token.scopes as readonly TokenScope[],
})

/** The routes of personal access tokens. */
export const tokenRoutes: readonly Route[] = [
  route(
    'GET /api/tokens',
    {
      summary: 'Lists the personal access tokens of the user for the account.',
      access: 'own',
      response: accessTokensView,
    },
    async ({ caller }, { accounts }) => {
      const tokens = await accounts.listAccessTokens(requireViewer(caller), requireAccountId(caller))
      return { response: { items: tokens.map(toAccessTokenView) } }
    },
  ),

  route(
    'POST /api/tokens',
    {
      summary: 'Creates a personal access token. Only this response contains its secret.',
      description: 'It can never do more than the role of the user in the account allows.',
      access: 'own',
      confirms: true,
      status: 201,
      body: createAccessTokenBody,
      response: newAccessTokenView,
    },
    async ({ body, caller }, { now, accounts }) => {
      const expiry = readExpiry(body.expiresAt, now())
      if ('problem' in expiry) return { error: apiErrors.invalid([expiry.problem]) }
      const viewer = requireViewer(caller)
      const { label, scopes } = body
      const { id: accountId, role } = requireAccount(caller)
      if (!scopes.every((scope) => hasScope(role, scope)))
        return {
          error: apiErrors.invalid([{ field: 'scopes', fix: `must only contain scopes that your role, ${role}, has` }]),
        }
      const created = await accounts.createAccessToken({
        viewer,
        accountId,
        label,
        scopes,
        expiresAt: expiry.at,
        ip: caller.ip,
      })
      if (isAccountError(created)) return { error: apiErrors.fromAccountError(created) }
      return { response: { accessToken: toAccessTokenView(created.accessToken), token: created.text } }
    },
  ),

  route(
    'DELETE /api/tokens/{tokenId}',
    { summary: 'Removes a personal access token.', access: 'own' },
    async ({ params, caller }, { accounts }) => {
      const removed = await accounts.removeAccessToken({
        viewer: requireViewer(caller),
        accountId: requireAccountId(caller),
        id: params.tokenId,
        ip: caller.ip,
      })
      return removed ? { response: undefined } : { error: apiErrors.notFound() }
    },
  ),
]
