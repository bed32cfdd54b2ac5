import { generateKeyPairSync } from 'node:crypto'
import { vi } from 'vitest'
import { callNode } from './callNode.ts'
import { callApi } from './testUser.ts'
import type { TestUser } from './testUser.ts'
import type { Pages } from './startPages.ts'

/** A page to inspect. */
export interface PageEntry {
  readonly name: string
  readonly path: string
}

/** Creates something of each kind in an account. @returns Every page. */
export async function everyPage(user: TestUser, pages: Pages, appId: string): Promise<readonly PageEntry[]> {
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
  await call('POST', '/api/admin/invites', { email: 'grace@example.org' })
  await call('POST', '/api/alerts/webhooks', { url: 'https://hooks.example.org/keyrail' })
  const app = `/apps/${appId}`
  return [
    { name: 'apps', path: '/apps' },
    { name: 'create app', path: '/apps/new' },
    { name: 'setup', path: `${app}/setup` },
    { name: 'metrics', path: `${app}/metrics` },
    { name: 'requests', path: `${app}/requests` },
    { name: 'a request', path: `${app}/requests/${logId}` },
    { name: 'networks', path: `${app}/networks` },
    { name: 'advanced configuration', path: `${app}/settings/advanced` },
    { name: 'allow list', path: `${app}/settings/allow-list` },
    { name: 'JWT keys', path: `${app}/settings/jwt-keys` },
    { name: 'delete app', path: `${app}/settings/delete` },
    { name: 'keys', path: '/keys' },
    { name: 'create API key', path: '/keys/new' },
    { name: 'setup of an API key', path: `/keys/${key.id}/setup` },
    { name: 'metrics of an API key', path: `/keys/${key.id}/metrics` },
    { name: 'requests of an API key', path: `/keys/${key.id}/requests` },
    { name: 'a request of an API key', path: `/keys/${key.id}/requests/${keyLogId}` },
    { name: 'settings of an API key', path: `/keys/${key.id}/settings` },
    { name: 'usage', path: '/account' },
    { name: 'alerts', path: '/account/alerts' },
    { name: 'access tokens', path: '/account/tokens' },
    { name: 'audit log', path: '/account/audit' },
    { name: 'password', path: '/account/security' },
    { name: 'users', path: '/operator' },
    { name: 'a user', path: `/operator/users/${account.id}` },
    { name: 'upstreams', path: '/operator/upstreams' },
    { name: 'invites', path: '/operator/invites' },
    { name: 'audit log of all', path: '/operator/audit' },
    { name: 'no page', path: '/nothing-here' },
    { name: 'no app', path: '/apps/app_00000000000000000000/setup' },
  ]
}

/** The pages for visitors who are not logged in. */
export const guestPages: readonly PageEntry[] = [
  { name: 'log in', path: '/log-in' },
  { name: 'return from single sign-on', path: '/log-in/single-sign-on' },
  { name: 'log-in link', path: '/log-in/link#a-link' },
  { name: 'second factor', path: '/log-in/second-factor' },
  { name: 'sign up', path: '/sign-up' },
  { name: 'new password', path: '/reset-password#a-link' },
  { name: 'forgotten password', path: '/forgot-password' },
  { name: 'confirm an email address', path: '/verify-email#a-link' },
]
