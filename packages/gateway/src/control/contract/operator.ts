import { z } from 'zod'
import { ownLimits } from './limits.ts'
import type { OwnLimits } from './limits.ts'
import { pageMembers } from './page.ts'
import type { PageQuery } from './page.ts'
import { searchText, timeText } from './texts.ts'

/** An account, as operators see it. */
export interface UserView {
  readonly id: string
  readonly email: string
  readonly state: 'active' | 'disabled'
  readonly role: 'user' | 'operator'
  readonly limits: OwnLimits | null
  readonly apps: number
  /** API keys that are not revoked. */
  readonly apiKeys: number
  readonly createdAt: string
}

/** Which accounts. */
export interface UsersQuery extends PageQuery {
  /** A part of the email address, whatever its case. */
  readonly search?: string
}

/** What invites somebody. */
export interface InviteBody {
  /** For whom it is; without it whoever has it may use it. */
  readonly email?: string
  /** How long it holds, 1 to 30. @default 7 */
  readonly days?: number
}

/** An invite that was not used yet, without its text. */
export interface InviteView {
  readonly id: string
  /** For whom it is; `null`: for whoever has it. */
  readonly email: string | null
  readonly createdAt: string
  readonly expiresAt: string
}

/** The invites that are open, the newest first. */
export interface InvitesView {
  readonly items: readonly InviteView[]
}

/** Something that is given to a person, and works once. A secret. */
export interface OneTimeLinkView {
  /** A page of the dashboard; what works is in its fragment, which no server is sent. */
  readonly url: string
  readonly expiresAt: string
}

/** What sets a user's limits. */
export interface UserLimitsBody {
  /** `null`: the service's own. */
  readonly limits: OwnLimits | null
}

/** The whole instance. */
export interface OverviewView {
  readonly users: number
  readonly apps: number
  /** API keys that are not revoked. */
  readonly apiKeys: number
  readonly startedAt: string
  /** What does not work as it should, as `/readyz` tells it. */
  readonly degraded: readonly string[]
}

/** @see UserView */
export const userView: z.ZodType<UserView> = z
  .strictObject({
    id: z.string(),
    email: z.string(),
    state: z.enum(['active', 'disabled']),
    role: z.enum(['user', 'operator']),
    limits: ownLimits.nullable(),
    apps: z.int(),
    apiKeys: z.int(),
    createdAt: timeText,
  })
  .meta({ id: 'User' })

/** @see UsersQuery */
export const usersQuery: z.ZodType<UsersQuery, unknown> = z.strictObject({
  ...pageMembers,
  search: searchText.exactOptional(),
})

/** @see InviteBody */
export const inviteBody: z.ZodType<InviteBody, InviteBody> = z.strictObject({
  email: z
    .string()
    .trim()
    .min(1, { error: 'must not be empty' })
    .max(254, { error: 'must have at most 254 characters' })
    .exactOptional(),
  days: z
    .int({ error: 'must be a whole number from 1 to 30' })
    .min(1, { error: 'must be a whole number from 1 to 30' })
    .max(30, { error: 'must be a whole number from 1 to 30' })
    .exactOptional(),
})

const invite = z
  .strictObject({
    id: z.string(),
    email: z.string().nullable(),
    createdAt: timeText,
    expiresAt: timeText,
  })
  .meta({ id: 'Invite' })

/** @see InvitesView */
export const invitesView: z.ZodType<InvitesView> = z.strictObject({ items: z.array(invite) })

/** @see OneTimeLinkView */
export const oneTimeLinkView: z.ZodType<OneTimeLinkView> = z
  .strictObject({ url: z.string(), expiresAt: timeText })
  .meta({ id: 'OneTimeLink' })

/** @see UserLimitsBody */
export const userLimitsBody: z.ZodType<UserLimitsBody, UserLimitsBody> = z.strictObject({
  limits: ownLimits.nullable(),
})

/** @see OverviewView */
export const overviewView: z.ZodType<OverviewView> = z
  .strictObject({
    users: z.int(),
    apps: z.int(),
    apiKeys: z.int(),
    startedAt: timeText,
    degraded: z.array(z.string()),
  })
  .meta({ id: 'Overview' })
