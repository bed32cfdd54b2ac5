import type { Scope } from '../control/useMay.ts'

/** A page of a frame. */
export interface PageLink {
  readonly to: string
  readonly title: string
  /** What the user's role must allow. @default nothing */
  readonly scope?: Scope
  /** Whether the pages below this one are not part of it. @default false */
  readonly isExact?: boolean
}

/** The pages of the account. */
export const accountPages = [
  { to: '/account', title: 'Usage', isExact: true },
  { to: '/account/members', title: 'Members' },
  { to: '/account/alerts', title: 'Alerts', scope: 'manage' },
  { to: '/account/tokens', title: 'Access tokens' },
  { to: '/account/audit', title: 'Audit log' },
  { to: '/account/security', title: 'Security' },
] as const satisfies readonly PageLink[]

/** The pages of operators. */
export const operatorPages = [
  { to: '/operator', title: 'Overview', isExact: true },
  { to: '/operator/users', title: 'Users' },
  { to: '/operator/teams', title: 'Teams' },
  { to: '/operator/upstreams', title: 'Upstreams' },
  { to: '/operator/invites', title: 'Invites' },
  { to: '/operator/audit', title: 'Audit log' },
] as const satisfies readonly PageLink[]

/** The pages of an app. */
export const appPages = [
  { to: '/apps/$appId/setup', title: 'Setup' },
  { to: '/apps/$appId/metrics', title: 'Metrics' },
  { to: '/apps/$appId/requests', title: 'Requests' },
  { to: '/apps/$appId/networks', title: 'Networks' },
  { to: '/apps/$appId/settings', title: 'Settings' },
] as const satisfies readonly PageLink[]

/** The pages of an app's settings. */
export const appSettingsPages = [
  { to: '/apps/$appId/settings/advanced', title: 'Advanced configuration' },
  { to: '/apps/$appId/settings/allow-list', title: 'Allow list' },
  { to: '/apps/$appId/settings/jwt-keys', title: 'JWT keys' },
  { to: '/apps/$appId/settings/delete', title: 'Delete app' },
] as const satisfies readonly PageLink[]

/** The pages of an API key. */
export const keyPages = [
  { to: '/keys/$keyId/setup', title: 'Setup' },
  { to: '/keys/$keyId/metrics', title: 'Metrics' },
  { to: '/keys/$keyId/requests', title: 'Requests' },
  { to: '/keys/$keyId/settings', title: 'Settings' },
] as const satisfies readonly PageLink[]
