import { z } from 'zod'
import { problemKinds } from '../../alerts/findProblems.ts'
import { upstreamStatuses } from '../../proxy/upstream/groupMember.ts'
import { accountMembers, confirmBody } from './account.ts'
import { auditEntryView } from './auditEntry.ts'
import { instanceView } from './instance.ts'
import { ownLimits } from './limits.ts'
import { network } from './networks.ts'
import { pageMembers, pageOf } from './page.ts'
import { emailText, flag, searchText, timeText, wholeNumber } from './texts.ts'

export const userView = z
  .strictObject({
    ...accountMembers,
    state: z.enum(['active', 'disabled']),
    limits: ownLimits.nullable(),
    apps: z.int(),
    apiKeys: z.int().describe('API keys that are not revoked.'),
  })
  .meta({ id: 'User', description: 'An account, as shown to operators.' })

export const usersView = pageOf(userView).describe('A page of accounts.')

export const usersQuery = z
  .strictObject({
    ...pageMembers,
    search: searchText.exactOptional().describe('Part of the email address, ignoring letter case.'),
  })
  .describe('Filters the accounts.')

export const inviteBody = z
  .strictObject({
    email: emailText
      .exactOptional()
      .describe('The only email address that may use the invite. @default anyone with the link'),
    days: wholeNumber(1, 30).exactOptional().describe('Days until the invite expires, 1 to 30. @default 7'),
    send: flag.exactOptional().describe('Whether the service sends the invite to `email`. @default false'),
    ...confirmBody.shape,
  })
  .describe('Creates an invite.')

export const inviteView = z
  .strictObject({
    id: z.string(),
    email: z
      .string()
      .nullable()
      .describe('The only email address that may use the invite; `null` for anyone with the link.'),
    createdAt: timeText,
    expiresAt: timeText,
  })
  .meta({ id: 'Invite', description: 'An unused invite, without its secret.' })

export const invitesView = z.strictObject({ items: z.array(inviteView) }).describe('The open invites, newest first.')

export const oneTimeLinkView = z
  .strictObject({
    url: z
      .string()
      .describe('A page of the dashboard. The secret is in the fragment, which browsers do not send to servers.'),
    expiresAt: timeText,
  })
  .meta({ id: 'OneTimeLink', description: 'A link that works once. A secret.' })

export const userLimitsBody = z
  .strictObject({
    limits: ownLimits.nullable().describe("`null` for the service's limits."),
  })
  .describe("Sets a user's limits.")

export const problemView = z
  .strictObject({
    kind: z
      .enum(problemKinds)
      .describe(
        '`store`: it is unavailable; `network`: it has no healthy node; `disk`: less than 10 % of it is free; `certificate`: it expires within 14 days; `errors`: more than 5 % of the calls of the last 5 minutes failed because of nodes.',
      ),
    subject: z.string().describe('The store, the network, or what is on the disk; `service` for other kinds.'),
    share: z
      .number()
      .nullable()
      .describe('From 0 to 1: the free part of the disk, or the failed part of the calls; `null` for other kinds.'),
    expiresAt: timeText.nullable().describe('When the certificate expires; `null` for other kinds.'),
  })
  .meta({ id: 'Problem', description: 'A problem of the service that operators can get alerts about.' })

export const overviewView = z
  .strictObject({
    users: z.int(),
    apps: z.int(),
    apiKeys: z.int().describe('API keys that are not revoked.'),
    startedAt: timeText.describe('When this instance started.'),
    degraded: z.array(z.string()).describe('The current problems, as `/readyz` reports them.'),
    problems: z.array(problemView).describe('The problems that this instance sees, the worst first.'),
    changes: z
      .array(auditEntryView)
      .describe('The last 20 entries of the audit log that changed something. Log-ins and revealed keys are left out.'),
    instance: instanceView,
  })
  .meta({ id: 'Overview', description: 'The state of the whole service, and of the instance that responds.' })

export const upstreamView = z
  .strictObject({
    network,
    name: z.string().describe('Its name in the config.'),
    status: z.enum(upstreamStatuses),
    reason: z
      .string()
      .nullable()
      .describe('Why it is unreachable or on the wrong chain, such as `HTTP 401`; `null` if it is neither.'),
    head: z.int().nullable().describe('Its newest block; `null` until its first response.'),
    lag: z
      .int()
      .nullable()
      .describe('How many blocks it is behind the highest head of its network; `null` until its first response.'),
    inFlight: z.int().describe('Requests to it that have not ended.'),
    latencyMs: z
      .number()
      .nullable()
      .describe('The moving average of its cheap calls, in milliseconds; `null` before the first.'),
    outcomes: z
      .record(z.string(), z.int())
      .describe(
        'How many calls that it was sent ended in each way since the config was loaded: `result`, or a kind of failure.',
      ),
    budgets: z
      .array(z.strictObject({ name: z.string(), limit: z.int(), left: z.int() }))
      .describe('The limits of its budget, by their names in the config.'),
  })
  .meta({ id: 'Upstream', description: 'A node of a network, as this instance sees it.' })

export const upstreamDaysQuery = z
  .strictObject({
    days: z.coerce
      .number()
      .int({ error: 'must be a whole number' })
      .min(1, { error: 'must be from 1 to 400' })
      .max(400, { error: 'must be from 1 to 400' })
      .exactOptional()
      .describe('How many days (UTC), today included: 1 to 400. @default 31'),
  })
  .describe('Selects days.')

export const upstreamDaysView = z
  .strictObject({
    items: z.array(
      z.strictObject({
        day: z.string().describe('The UTC day, such as `2026-11-21`.'),
        network,
        upstreams: z.array(
          z.strictObject({
            name: z.string().describe('Its name in the config.'),
            calls: z.int().describe('Each attempt at a call, and each query of the service itself.'),
            units: z.int().describe('The calls, by the weights of the node.'),
          }),
        ),
        savedByCache: z.int().describe('Calls whose result was in the cache.'),
        savedInFlight: z.int().describe('Calls that got the result of an identical one in flight.'),
      }),
    ),
  })
  .meta({
    id: 'UpstreamDays',
    description:
      'What the nodes of the config were sent by all instances, the newest day first. Days without calls are left out.',
  })

export const upstreamsView = z
  .strictObject({ items: z.array(upstreamView) })
  .describe('The nodes, in the order of the config.')
