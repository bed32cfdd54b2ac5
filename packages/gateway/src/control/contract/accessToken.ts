import { z } from 'zod'
import { nameText, secretText, timeText } from './texts.ts'

/**
 * The scopes of personal access tokens. `read`: everything that does not need a password. `apps:write`: apps with their keys, lists and
 * settings. `keys:write`: API keys. `members`: members of the team and invites to it, except owners. No scope allows revealing a key, changing the
 * account or creating another token.
 */
export const tokenScopes = ['read', 'apps:write', 'keys:write', 'members'] as const

export const tokenScope = z.enum(tokenScopes).describe('A scope of a personal access token.')

export const accessTokenView = z
  .strictObject({
    id: z.string(),
    label: z.string(),
    scopes: z.array(tokenScope),
    createdAt: timeText,
    seenAt: timeText.nullable(),
    expiresAt: timeText.nullable(),
  })
  .meta({ id: 'AccessToken', description: 'A personal access token, without its secret.' })

export const accessTokensView = z
  .strictObject({ items: z.array(accessTokenView) })
  .describe("The account's personal access tokens, oldest first.")

export const newAccessTokenView = z
  .strictObject({
    accessToken: accessTokenView,
    token: z.string().describe('`krp_…`, for `Authorization: Bearer`. A secret.'),
  })
  .describe('A new personal access token with its secret, which is shown only once.')

export const createAccessTokenBody = z
  .strictObject({
    label: nameText.describe('1 to 64 characters.'),
    scopes: z
      .array(tokenScope)
      .refine((names) => names.length > 0, { error: `must contain at least one of ${tokenScopes.join(', ')}` })
      .refine((names) => new Set(names).size === names.length, { error: 'must not contain duplicates' })
      .describe('At least one.'),
    expiresAt: timeText.nullable().describe('Expiry time; `null` for no expiry.'),
    password: secretText.exactOptional().describe('Required if the session is older than 15 minutes.'),
  })
  .describe('Creates a personal access token.')
