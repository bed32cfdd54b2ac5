import { z } from 'zod'
import { nameText, secretText, timeText } from './texts.ts'

/**
 * The scopes of personal access tokens. `read`: everything that does not need a password. `apps:write`: apps with their keys, lists and
 * settings. `keys:write`: API keys. No scope allows revealing a key, changing the account or creating another token.
 */
export const tokenScopes = ['read', 'apps:write', 'keys:write'] as const

/** A scope of a personal access token. */
export type TokenScope = (typeof tokenScopes)[number]

/** A personal access token, without its secret. */
export interface AccessTokenView {
  readonly id: string
  readonly label: string
  readonly scopes: readonly TokenScope[]
  readonly createdAt: string
  readonly seenAt: string | null
  readonly expiresAt: string | null
}

/** The account's personal access tokens, oldest first. */
export interface AccessTokensView {
  readonly items: readonly AccessTokenView[]
}

/** A new personal access token with its secret, which is shown only once. */
export interface NewAccessTokenView {
  readonly accessToken: AccessTokenView
  /** `krp_…`, for `Authorization: Bearer`. A secret. */
  readonly token: string
}

/** Creates a personal access token. */
export interface CreateAccessTokenBody {
  /** 1 to 64 characters. */
  readonly label: string
  /** At least one. */
  readonly scopes: readonly TokenScope[]
  /** Expiry time; `null` for no expiry. */
  readonly expiresAt: string | null
  /** Required if the session is older than 15 minutes. */
  readonly password?: string
}

const scope = z.enum(tokenScopes)

/** The schema of `AccessTokenView`. */
const accessTokenView: z.ZodType<AccessTokenView> = z
  .strictObject({
    id: z.string(),
    label: z.string(),
    scopes: z.array(scope),
    createdAt: timeText,
    seenAt: timeText.nullable(),
    expiresAt: timeText.nullable(),
  })
  .meta({ id: 'AccessToken' })

/** The schema of `AccessTokensView`. */
export const accessTokensView: z.ZodType<AccessTokensView> = z.strictObject({ items: z.array(accessTokenView) })

/** The schema of `NewAccessTokenView`. */
export const newAccessTokenView: z.ZodType<NewAccessTokenView> = z.strictObject({
  accessToken: accessTokenView,
  token: z.string(),
})

/** The schema of `CreateAccessTokenBody`. */
export const createAccessTokenBody: z.ZodType<CreateAccessTokenBody, CreateAccessTokenBody> = z.strictObject({
  label: nameText,
  scopes: z
    .array(scope)
    .refine((names) => names.length > 0, { error: `must contain at least one of ${tokenScopes.join(', ')}` })
    .refine((names) => new Set(names).size === names.length, { error: 'must not contain duplicates' }),
  expiresAt: timeText.nullable(),
  password: secretText.exactOptional(),
})
