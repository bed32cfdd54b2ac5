import { generateKeyPairSync } from 'node:crypto'
import { vi } from 'vitest'
import { callNode } from './callNode.ts'
import { callApi } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import type { Pages } from './startPages.ts'

/** What the pages show, by its ids. */
export interface Shown {
  readonly app: string
  readonly log: string
  readonly key: string
  readonly keyLog: string
  readonly user: string
  readonly team: string
}

/** A page to inspect. */
export interface PageEntry {
  readonly name: string
  readonly path: (shown: Shown) => string
}

/** Creates something of each kind in an account. @returns Their ids. */
export async function showEverything(user: TestUser, pages: Pages, appId: string): Promise<Shown> {
  const call = <T>(method: string, path: string, body?: unknown): Promise<T> =>
    callApi<T>(user, pages.url, [method, path], body)
  const revealed = await call<{ urls: { testnet: string } }>('POST', `/api/apps/${appId}/key/reveal`, {})
  await callNode(revealed.urls.testnet)
  await callNode(revealed.urls.testnet, 'eth_nothing')
  for (const [type, value] of [
    ['origin', 'https://portfolio.example'],
    ['ip', '127.0.0.0/8'],
  ]) {
    await call('POST', `/api/apps/${appId}/allow-list`, { type, value, label: 'A label' })
  }
  const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' })
  await call('POST', `/api/apps/${appId}/jwt-keys`, { pem, label: 'Server 1' })
  await call('POST', `/api/apps/${appId}/key/rotate`, { graceDays: 1 })
  const { key, url: address } = await call<{ key: { id: string }; url: string }>('POST', '/api/keys', {
    name: 'Laptop',
    network: 'testnet',
  })
  await callNode(address)
  // Requests are written to the log some moments later.
  const findLogId = (subject: string): Promise<string> =>
    vi.waitFor(
      async () => {
        const { items } = await call<{ items: readonly { id: string }[] }>('GET', `/api/${subject}/requests`)
        if (items[0] === undefined) throw new Error('not logged yet')
        return items[0].id
      },
      { timeout: 60_000, interval: 200 },
    )
  const [logId, keyLogId] = [await findLogId(`apps/${appId}`), await findLogId(`keys/${key.id}`)]
  await call('POST', '/api/tokens', { label: 'Deploy script', scopes: ['read'], expiresAt: null })
  const { account } = await call<{ account: { id: string } }>('GET', '/api/session')
  await pages.service.accounts.operator.setUserRole({ id: account.id, role: 'operator' })
  const team = await call<{ id: string }>('POST', '/api/accounts', { name: 'Acme' })
  await call('POST', '/api/admin/invites', { email: 'grace@example.org' })
  await call('POST', '/api/alerts/webhooks', { url: 'https://hooks.example.org/keyrail' })
  return { app: appId, log: logId, key: key.id, keyLog: keyLogId, user: account.id, team: team.id }
}

/** The pages of an account that operates the service. */
export const everyPage: readonly PageEntry[] = [
  { name: 'apps', path: () => '/apps' },
  { name: 'create app', path: () => '/apps/new' },
  { name: 'setup', path: (shown) => `/apps/${shown.app}/setup` },
  { name: 'metrics', path: (shown) => `/apps/${shown.app}/metrics` },
  { name: 'requests', path: (shown) => `/apps/${shown.app}/requests` },
  { name: 'a request', path: (shown) => `/apps/${shown.app}/requests?request=${shown.log}` },
  { name: 'networks', path: (shown) => `/apps/${shown.app}/networks` },
  { name: 'advanced configuration', path: (shown) => `/apps/${shown.app}/settings/advanced` },
  { name: 'allow list', path: (shown) => `/apps/${shown.app}/settings/allow-list` },
  { name: 'JWT keys', path: (shown) => `/apps/${shown.app}/settings/jwt-keys` },
  { name: 'delete app', path: (shown) => `/apps/${shown.app}/settings/delete` },
  { name: 'keys', path: () => '/keys' },
  { name: 'create API key', path: () => '/keys/new' },
  { name: 'setup of an API key', path: (shown) => `/keys/${shown.key}/setup` },
  { name: 'metrics of an API key', path: (shown) => `/keys/${shown.key}/metrics` },
  { name: 'requests of an API key', path: (shown) => `/keys/${shown.key}/requests` },
  { name: 'a request of an API key', path: (shown) => `/keys/${shown.key}/requests?request=${shown.keyLog}` },
  { name: 'settings of an API key', path: (shown) => `/keys/${shown.key}/settings` },
  { name: 'usage', path: () => '/account' },
  { name: 'members', path: () => '/account/members' },
  { name: 'alerts', path: () => '/account/alerts' },
  { name: 'access tokens', path: () => '/account/tokens' },
  { name: 'audit log', path: () => '/account/audit' },
  { name: 'password', path: () => '/account/security' },
  { name: 'overview', path: () => '/operator' },
  { name: 'users', path: () => '/operator/users' },
  { name: 'a user', path: (shown) => `/operator/users/${shown.user}` },
  { name: 'teams', path: () => '/operator/teams' },
  { name: 'a team', path: (shown) => `/operator/teams/${shown.team}` },
  { name: 'upstreams', path: () => '/operator/upstreams' },
  { name: 'invites', path: () => '/operator/invites' },
  { name: 'audit log of all', path: () => '/operator/audit' },
  { name: 'no page', path: () => '/nothing-here' },
  { name: 'no app', path: () => '/apps/app_00000000000000000000/setup' },
]

/** The pages for visitors who are not logged in. */
export const guestPages: readonly PageEntry[] = [
  { name: 'log in', path: () => '/log-in' },
  { name: 'return from single sign-on', path: () => '/log-in/single-sign-on' },
  { name: 'log-in link', path: () => '/log-in/link#a-link' },
  { name: 'second factor', path: () => '/log-in/second-factor' },
  { name: 'sign up', path: () => '/sign-up' },
  { name: 'new password', path: () => '/reset-password#a-link' },
  { name: 'forgotten password', path: () => '/forgot-password' },
  { name: 'confirm an email address', path: () => '/verify-email#a-link' },
  { name: 'join a team', path: () => '/join#an-invite' },
]
