import { useRouterState } from '@tanstack/react-router'

/** A page of the documentation, and its subject. */
export interface HelpPage {
  /** The path without an extension, and the id of a heading. */
  readonly page: string
  readonly of: string
}

const app = '/inside/apps/$appId'
const key = '/inside/keys/$keyId'

/** The documentation of each page, by the id of its route. */
export const helpPages: Readonly<Record<string, HelpPage>> = {
  '/inside/apps': { page: 'dashboard#home', of: 'apps' },
  '/inside/apps/new': { page: 'dashboard#your-first-app', of: 'apps' },
  [`${app}/setup`]: { page: 'dashboard#your-first-app', of: 'the first request' },
  [`${app}/metrics`]: { page: 'dashboard#metrics', of: 'metrics' },
  [`${app}/requests`]: { page: 'dashboard#requests', of: 'the request log' },
  [`${app}/networks`]: { page: 'service/networks', of: 'networks' },
  [`${app}/settings/advanced`]: { page: 'dashboard#settings-of-an-app', of: 'the settings of an app' },
  [`${app}/settings/allow-list`]: { page: 'front-end-keys#a-key-with-lists', of: 'allow lists' },
  [`${app}/settings/jwt-keys`]: { page: 'front-end-keys#short-lived-tokens', of: 'JWTs' },
  [`${app}/settings/delete`]: { page: 'dashboard#settings-of-an-app', of: 'the settings of an app' },
  '/inside/keys': { page: 'dashboard#keys-account-and-operators', of: 'keys' },
  '/inside/keys/new': { page: 'dashboard#keys-account-and-operators', of: 'API keys' },
  [`${key}/setup`]: { page: 'dashboard#your-first-app', of: 'the first request' },
  [`${key}/metrics`]: { page: 'dashboard#metrics', of: 'metrics' },
  [`${key}/requests`]: { page: 'dashboard#requests', of: 'the request log' },
  [`${key}/settings`]: { page: 'dashboard#rotate-a-key', of: 'the settings of an API key' },
  '/inside/account/': { page: 'service/limits', of: 'limits and usage' },
  '/inside/account/members': { page: 'service/teams', of: 'teams' },
  '/inside/account/alerts': { page: 'service/alerts', of: 'alerts' },
  '/inside/account/tokens': { page: 'service/control-api#access-tokens', of: 'access tokens' },
  '/inside/account/audit': { page: 'dashboard#keys-account-and-operators', of: 'the audit log' },
  '/inside/account/security': { page: 'dashboard#security', of: 'security' },
  '/inside/operator/': { page: 'service/operating#overview', of: 'the overview' },
  '/inside/operator/users': { page: 'service/operating#accounts', of: 'accounts' },
  '/inside/operator/users/$userId': { page: 'service/operating#accounts', of: 'accounts' },
  '/inside/operator/teams': { page: 'service/teams#limits', of: 'teams' },
  '/inside/operator/teams/$accountId': { page: 'service/teams#limits', of: 'the limits of teams' },
  '/inside/operator/upstreams': { page: 'service/upstreams#status-of-nodes', of: 'upstreams' },
  '/inside/operator/invites': { page: 'service/operating#accounts', of: 'invites' },
  '/inside/operator/audit': { page: 'service/operating#accounts', of: 'the audit log' },
}

/** The documentation of the page that is open; `undefined` if it has none. */
export const useHelpPage = (): HelpPage | undefined =>
  useRouterState({ select: ({ matches }) => helpPages[matches.at(-1)?.routeId ?? ''] })
