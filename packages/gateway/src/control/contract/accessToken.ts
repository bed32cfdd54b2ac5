import { z } from 'zod'
import { nameText, secretText, timeText } from './texts.ts'

/**
 * What a personal access token may be allowed. `read`: all that is shown without a password. `apps:write`: apps, their keys, lists and
 * settings. `keys:write`: API keys. None of them shows a key again, changes the account, or makes another token.
 */
export const tokenScopes = ['read', 'apps:write', 'keys:write'] as const

/** What a personal access token may be allowed. */
export type TokenScope = (typeof tokenScopes)[number]

/** A personal access token, without its text. */
export interface AccessTokenView {
  readonly id: string
  readonly label: string
  readonly scopes: readonly TokenScope[]
  readonly createdAt: string
  readonly seenAt: string | null
  readonly expiresAt: string | null
}

/** The account's personal access tokens, the oldest first. */
export interface AccessTokensView {
  readonly items: readonly AccessTokenView[]
}

/** A personal access token that was made, with its text, which is shown this once. */
export interface NewAccessTokenView {
  readonly accessToken: AccessTokenView
  /** `krp_…`, for `Authorization: Bearer`. A secret. */
  readonly token: string
}

/** What makes a personal access token. */
export interface CreateAccessTokenBody {
  /** 1 to 64 characters. */
  readonly label: string
  /** At least one. */
  readonly scopes: readonly TokenScope[]
  /** When it ends; `null` for never. */
  readonly expiresAt: string | null
  /** Needed where the session is older than 15 minutes. */
  readonly password?: string
}

const scope = z.enum(tokenScopes)

/** @see AccessTokenView */
export const accessTokenView: z.ZodType<AccessTokenView> = z
  .strictObject({
    id: z.string(),
    label: z.string(),
    scopes: z.array(scope),
    createdAt: timeText,
    seenAt: timeText.nullable(),
    expiresAt: timeText.nullable(),
  })
  .meta({ id: 'AccessToken' })

/** @see AccessTokensView */
export const accessTokensView: z.ZodType<AccessTokensView> = z.strictObject({ items: z.array(accessTokenView) })

/** @see NewAccessTokenView */
export const newAccessTokenView: z.ZodType<NewAccessTokenView> = z.strictObject({
  accessToken: accessTokenView,
  token: z.string(),
})

/** @see CreateAccessTokenBody */
export const createAccessTokenBody: z.ZodType<CreateAccessTokenBody, CreateAccessTokenBody> = z.strictObject({
  label: nameText,
  scopes: z
    .array(scope)
    .refine((names) => names.length > 0, { error: `must name at least one: ${tokenScopes.join(', ')}` })
    .refine((names) => new Set(names).size === names.length, { error: 'must name nothing twice' }),
  expiresAt: timeText.nullable(),
  password: secretText.exactOptional(),
})
