import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { upstreamStatuses } from '../../proxy/upstream/groupMember.ts'
import type { UpstreamStatus } from '../../proxy/upstream/groupMember.ts'
import { ownLimits } from './limits.ts'
import type { OwnLimits } from './limits.ts'
import { pageMembers } from './page.ts'
import type { PageQuery } from './page.ts'
import { searchText, timeText } from './texts.ts'

/** An account, as shown to operators. */
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

/** Filters the accounts. */
export interface UsersQuery extends PageQuery {
  /** Part of the email address, ignoring letter case. */
  readonly search?: string
}

/** Creates an invite. */
export interface InviteBody {
  /** The only email address that may use the invite. @default anyone with the link */
  readonly email?: string
  /** Days until the invite expires, 1 to 30. @default 7 */
  readonly days?: number
  /** Whether the service sends the invite to `email`. @default false */
  readonly send?: boolean
}

/** An unused invite, without its secret. */
export interface InviteView {
  readonly id: string
  /** The only email address that may use the invite; `null` for anyone with the link. */
  readonly email: string | null
  readonly createdAt: string
  readonly expiresAt: string
}

/** The open invites, newest first. */
export interface InvitesView {
  readonly items: readonly InviteView[]
}

/** A link that works once. A secret. */
export interface OneTimeLinkView {
  /** A page of the dashboard. The secret is in the fragment, which browsers do not send to servers. */
  readonly url: string
  readonly expiresAt: string
}

/** Sets a user's limits. */
export interface UserLimitsBody {
  /** `null` for the service's limits. */
  readonly limits: OwnLimits | null
}

/** Totals of the whole service. */
export interface OverviewView {
  readonly users: number
  readonly apps: number
  /** API keys that are not revoked. */
  readonly apiKeys: number
  readonly startedAt: string
  /** The current problems, as `/readyz` reports them. */
  readonly degraded: readonly string[]
}

/** A node of a network, as this instance sees it. */
export interface UpstreamView {
  readonly network: Network
  /** Its name in the config. */
  readonly name: string
  readonly status: UpstreamStatus
  /** Why it is unreachable or on the wrong chain, such as `HTTP 401`; `null` if it is neither. */
  readonly reason: string | null
  /** Its newest block; `null` until its first response. */
  readonly head: number | null
  /** How many blocks it is behind the highest head of its network; `null` until its first response. */
  readonly lag: number | null
  /** Requests to it that have not ended. */
  readonly inFlight: number
  /** The moving average of its cheap calls, in milliseconds; `null` before the first. */
  readonly latencyMs: number | null
  /** How many calls that it was sent ended in each way since the config was loaded: `result`, or a kind of failure. */
  readonly outcomes: Readonly<Record<string, number>>
  /** The limits of its budget, by their names in the config. */
  readonly budgets: readonly { readonly name: string; readonly limit: number; readonly left: number }[]
}

/** The nodes, in the order of the config. */
export interface UpstreamsView {
  readonly items: readonly UpstreamView[]
}

/** The schema of `UserView`. */
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

/** The schema of `UsersQuery`. */
export const usersQuery: z.ZodType<UsersQuery, unknown> = z.strictObject({
  ...pageMembers,
  search: searchText.exactOptional(),
})

/** The schema of `InviteBody`. */
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
  send: z.boolean({ error: 'must be true or false' }).exactOptional(),
})

const invite = z
  .strictObject({
    id: z.string(),
    email: z.string().nullable(),
    createdAt: timeText,
    expiresAt: timeText,
  })
  .meta({ id: 'Invite' })

/** The schema of `InvitesView`. */
export const invitesView: z.ZodType<InvitesView> = z.strictObject({ items: z.array(invite) })

/** The schema of `OneTimeLinkView`. */
export const oneTimeLinkView: z.ZodType<OneTimeLinkView> = z
  .strictObject({ url: z.string(), expiresAt: timeText })
  .meta({ id: 'OneTimeLink' })

/** The schema of `UserLimitsBody`. */
export const userLimitsBody: z.ZodType<UserLimitsBody, UserLimitsBody> = z.strictObject({
  limits: ownLimits.nullable(),
})

/** The schema of `OverviewView`. */
export const overviewView: z.ZodType<OverviewView> = z
  .strictObject({
    users: z.int(),
    apps: z.int(),
    apiKeys: z.int(),
    startedAt: timeText,
    degraded: z.array(z.string()),
  })
  .meta({ id: 'Overview' })

const upstream = z
  .strictObject({
    network: z.string(),
    name: z.string(),
    status: z.enum(upstreamStatuses),
    reason: z.string().nullable(),
    head: z.int().nullable(),
    lag: z.int().nullable(),
    inFlight: z.int(),
    latencyMs: z.number().nullable(),
    outcomes: z.record(z.string(), z.int()),
    budgets: z.array(z.strictObject({ name: z.string(), limit: z.int(), left: z.int() })),
  })
  .meta({ id: 'Upstream' })

/** The schema of `UpstreamsView`. */
export const upstreamsView: z.ZodType<UpstreamsView> = z.strictObject({ items: z.array(upstream) })
