import { z } from 'zod'
import { memberRoles } from '../../storage/tables.ts'
import { tokenScopes } from './accessToken.ts'
import { ownLimits } from './limits.ts'
import { pageMembers, pageOf } from './page.ts'
import { emailText, flag, idText, nameText, secretText, timeText } from './texts.ts'

/** The roles of members. */
export const memberRole = z
  .enum(memberRoles, { error: `must be one of ${memberRoles.join(', ')}` })
  .describe(
    '`viewer`: reads, without keys in plain text. `developer`: apps and keys, and may reveal them. `admin`: everything except owners and the deletion of the account. `owner`: everything.',
  )

/** What an owner requires of the members. */
const rules = {
  membersNeedSecondFactor: flag.describe(
    'Whether a member without a second factor has no access to the team, also with an access token. `false` for a personal account.',
  ),
}

/**
 * What a role may allow. Besides the scopes of tokens: `reveal`: keys in plain text. `manage`: alerts, webhooks, the name, and apps that go to another
 * account. `own`: the caller's own tokens and membership. `rules`: what members need for access. `delete`: the account. Tokens can have none of these.
 */
export const scopes = [...tokenScopes, 'reveal', 'manage', 'own', 'rules', 'delete'] as const

/** The name of a team. Without @, so that it cannot look like somebody's email address. */
const teamName = nameText.refine((name) => !name.includes('@'), { error: 'must not contain @' })

const password = secretText.exactOptional().describe('Required if the session is older than 15 minutes.')

export const actingAccountView = z
  .strictObject({
    id: z.string().describe('For the header `X-Keyrail-Account`.'),
    kind: z.enum(['personal', 'team']).describe('The id of a personal account is that of its user.'),
    name: z.string().describe('The name of the team, or the email address of the user.'),
    role: memberRole,
    scopes: z
      .array(z.enum(scopes))
      .describe('What the role allows. An access token can do only what its own scopes allow too.'),
    state: z.enum(['active', 'disabled']),
    createdAt: timeText,
    ...rules,
  })
  .meta({ id: 'ActingAccount', description: 'An account that the user is a member of, and the role there.' })

export const actingAccountsView = z
  .strictObject({ items: z.array(actingAccountView) })
  .describe('The accounts of the user, the personal one first.')

export const createTeamBody = z.strictObject({ name: teamName }).describe('Creates a team.')

export const renameTeamBody = z.strictObject({ name: teamName }).describe('Renames a team.')

export const teamRulesBody = z.strictObject({ ...rules, password }).describe('Sets what members need for access.')

export const deleteTeamBody = z
  .strictObject({ name: nameText.describe('The name of the team, as confirmation.'), password })
  .describe('Deletes a team.')

export const memberView = z
  .strictObject({ userId: z.string(), email: z.string(), role: memberRole, createdAt: timeText })
  .meta({ id: 'Member', description: 'A member of an account.' })

export const membersView = z
  .strictObject({ items: z.array(memberView) })
  .describe('The members, in the order in which they joined.')

export const memberRoleBody = z.strictObject({ role: memberRole, password }).describe('Gives a member another role.')

export const memberInviteBody = z
  .strictObject({
    email: emailText.describe('Only the user with this email address can use the invite.'),
    role: memberRole,
    send: flag.exactOptional().describe('Whether the service sends the invite to the address. @default false'),
    password,
  })
  .describe('Invites a user to the team.')

export const memberInviteView = z
  .strictObject({
    id: z.string(),
    email: z.string(),
    role: memberRole,
    createdBy: z.string().describe('The id of the member who created it.'),
    createdAt: timeText,
    expiresAt: timeText,
  })
  .meta({ id: 'MemberInvite', description: 'An unused invite to a team, without its secret.' })

export const memberInvitesView = z
  .strictObject({ items: z.array(memberInviteView) })
  .describe('The open invites, newest first.')

export const newMemberInviteView = z
  .strictObject({
    invite: memberInviteView,
    url: z
      .string()
      .describe('A page of the dashboard. The secret is in the fragment, which browsers do not send to servers.'),
  })
  .describe('A new invite with its link, which works once. A secret.')

export const joinTeamBody = z
  .strictObject({ invite: secretText.describe("The link's fragment, `krm_…`.") })
  .describe('Joins a team.')

export const transferAppBody = z
  .strictObject({
    accountId: z
      .string()
      .regex(/^(?:acc|usr)_[0-9a-z]{20}$/, { error: 'must be the id of an account' })
      .describe('The account that gets the app. Your role there must allow changing apps.'),
    password,
  })
  .describe('Moves an app to another account.')

export const teamView = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    state: z.enum(['active', 'disabled']),
    limits: ownLimits.nullable(),
    sharesLimits: z.boolean().describe('Whether it shares the limits of the user who created it.'),
    createdBy: z.string().describe('The id of that user, or of an owner, if that user left the team.'),
    createdAt: timeText,
    members: z.int(),
    apps: z.int(),
    apiKeys: z.int().describe('API keys that are not revoked.'),
  })
  .meta({ id: 'Team', description: 'The account of a team, as shown to operators.' })

export const teamOwnerBody = z
  .strictObject({ userId: idText('usr').describe('The user who becomes an owner.'), password })
  .describe('Makes a user an owner of a team.')

export const teamsView = pageOf(teamView).describe('A page of teams.')

export const teamsQuery = z.strictObject(pageMembers).describe('Selects a page of teams.')
