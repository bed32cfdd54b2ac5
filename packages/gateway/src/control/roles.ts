import type { MemberRole } from '../storage/tables.ts'
import { tokenScopes } from './contract/accessToken.ts'
import type { TokenScope } from './contract/controlApi.d.ts'
import type { scopes } from './contract/team.ts'

/** What a route of an account needs. */
export type Scope = (typeof scopes)[number]

const viewer = ['read', 'own'] as const
const developer = [...viewer, 'apps:write', 'keys:write', 'reveal'] as const
const admin = [...developer, 'members', 'manage'] as const

/** The scopes of each role. The user of a personal account is its owner. */
export const roleScopes: Readonly<Record<MemberRole, readonly Scope[]>> = {
  viewer,
  developer,
  admin,
  owner: [...admin, 'rules', 'delete'],
}

/** Whether a role has a scope. */
export const hasScope = (role: MemberRole, scope: Scope): boolean => roleScopes[role].includes(scope)

/** Whether an access token can have a scope. */
export const isTokenScope = (scope: string): scope is TokenScope => tokenScopes.some((one) => one === scope)

/** Whether a member may give a role, take it away, or remove a member who has it. Only owners may do so with owners. */
export const canGrant = (own: MemberRole, role: MemberRole): boolean =>
  hasScope(own, 'members') && (own === 'owner' || role !== 'owner')
