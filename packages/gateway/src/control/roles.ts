import type { MemberRole } from '../storage/tables.ts'
import { tokenScopes } from './contract/accessToken.ts'
import type { TokenScope } from './contract/controlApi.d.ts'

/**
 * What a route of an account needs. Besides the scopes of tokens: `reveal`: keys in plain text. `manage`: alerts, webhooks, the name, and apps that
 * go to another account. `own`: the caller's own tokens and membership. `delete`: the account. Tokens can have none of these.
 */
export type Scope = TokenScope | 'reveal' | 'manage' | 'own' | 'delete'

const viewer = ['read', 'own'] as const
const developer = [...viewer, 'apps:write', 'keys:write', 'reveal'] as const
const admin = [...developer, 'members', 'manage'] as const

/** The scopes of each role. The user of a personal account is its owner. */
const roleScopes: Readonly<Record<MemberRole, readonly Scope[]>> = {
  viewer,
  developer,
  admin,
  owner: [...admin, 'delete'],
}

/** Whether a role has a scope. */
export const hasScope = (role: MemberRole, scope: Scope): boolean => roleScopes[role].includes(scope)

/** Whether an access token can have a scope. */
export const isTokenScope = (scope: string): scope is TokenScope => tokenScopes.some((one) => one === scope)

/** Whether a member may give a role, take it away, or remove a member who has it. Only owners may do so with owners. */
export const canGrant = (own: MemberRole, role: MemberRole): boolean =>
  hasScope(own, 'members') && (own === 'owner' || role !== 'owner')
