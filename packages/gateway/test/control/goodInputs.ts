import type { ControlApi } from '../../src/control/contract/controlApi.ts'
import type { RouteName } from '../../src/control/contract/route.ts'
import { appBody, newMail, newPem, password } from './world.ts'
import type { World } from './world.ts'

type Input<Name extends RouteName> = {
  readonly [
    Part in 'params' | 'query' | 'body' as ControlApi[Name][Part] extends undefined ? never : Part
  ]: ControlApi[Name][Part]
}

const ofApp = ({ app }: World) => ({ params: { appId: app.id } })
const ofKey = ({ key }: World) => ({ params: { keyId: key.id } })
const ofUser = ({ userId }: World) => ({ params: { userId } })
const ofEntry = ({ app, entryId }: World) => ({ params: { appId: app.id, entryId } })

/** For each route what it takes and answers: a route that is not here does not compile. */
export const goodInputs: { readonly [Name in RouteName]: (world: World) => Input<Name> } = {
  'GET /api/deployment': () => ({}),
  'GET /api/openapi.json': () => ({}),
  'POST /api/account': () => ({ body: { email: newMail(), password } }),
  'GET /api/account': () => ({}),
  'POST /api/account/password': () => ({ body: { current: password, next: 'another long password' } }),
  'POST /api/account/password/reset': ({ link }) => ({ body: { link, password: 'another long password' } }),
  'POST /api/account/delete': () => ({ body: { password } }),
  'POST /api/session': ({ person }) => ({ body: { email: person.email, password } }),
  'GET /api/session': () => ({}),
  'DELETE /api/session': () => ({}),
  'GET /api/apps': () => ({ query: { limit: 2, search: 'a' } }),
  'POST /api/apps': () => ({ body: appBody() }),
  'GET /api/apps/{appId}': ofApp,
  'PATCH /api/apps/{appId}': (world) => ({
    ...ofApp(world),
    body: { version: world.app.version, description: 'new', limits: { perDay: 10 } },
  }),
  'POST /api/apps/{appId}/delete': (world) => ({ ...ofApp(world), body: { name: world.app.name } }),
  'PUT /api/apps/{appId}/key/expiry': (world) => ({ ...ofApp(world), body: { expiresAt: '2999-01-01T00:00:00Z' } }),
  'POST /api/apps/{appId}/key/reveal': (world) => ({ ...ofApp(world), body: {} }),
  'POST /api/apps/{appId}/key/rotate': (world) => ({ ...ofApp(world), body: { graceDays: 7 } }),
  'DELETE /api/apps/{appId}/key/old': ofApp,
  'GET /api/apps/{appId}/allow-list': (world) => ({ ...ofApp(world), query: { type: 'method' } }),
  'POST /api/apps/{appId}/allow-list': (world) => ({ ...ofApp(world), body: { type: 'ip', value: '10.0.0.0/8' } }),
  'PATCH /api/apps/{appId}/allow-list/{entryId}': (world) => ({ ...ofEntry(world), body: { label: 'reads' } }),
  'DELETE /api/apps/{appId}/allow-list/{entryId}': ofEntry,
  'GET /api/apps/{appId}/jwt-keys': ofApp,
  'POST /api/apps/{appId}/jwt-keys': (world) => ({ ...ofApp(world), body: { pem: newPem().publicPem, label: 'ci' } }),
  'DELETE /api/apps/{appId}/jwt-keys/{kid}': ({ app, kid }) => ({ params: { appId: app.id, kid } }),
  'POST /api/apps/{appId}/jwt-keys/test': (world) => ({ ...ofApp(world), body: { token: 'a.b.c' } }),
  'GET /api/apps/{appId}/metrics': (world) => ({ ...ofApp(world), query: { range: 'hour' } }),
  'GET /api/apps/{appId}/metrics.csv': (world) => ({ ...ofApp(world), query: { of: 'methods' } }),
  'GET /api/apps/{appId}/usage': ofApp,
  'GET /api/keys': () => ({}),
  'POST /api/keys': () => ({ body: { name: 'k', network: 'mainnet', expiresAt: null } }),
  'GET /api/keys/{keyId}': ofKey,
  'PATCH /api/keys/{keyId}': (world) => ({ ...ofKey(world), body: { version: world.key.version, name: 'New' } }),
  'POST /api/keys/{keyId}/reveal': (world) => ({ ...ofKey(world), body: { password } }),
  'POST /api/keys/{keyId}/rotate': (world) => ({ ...ofKey(world), body: {} }),
  'DELETE /api/keys/{keyId}/old': ofKey,
  'POST /api/keys/{keyId}/revoke': ofKey,
  'GET /api/keys/{keyId}/metrics': (world) => ({ ...ofKey(world), query: {} }),
  'GET /api/keys/{keyId}/metrics.csv': (world) => ({ ...ofKey(world), query: { range: 'week', of: 'outcomes' } }),
  'GET /api/usage': () => ({}),
  'GET /api/metrics': () => ({ query: { range: 'quarter' } }),
  'GET /api/metrics.csv': () => ({ query: { range: 'month', of: 'networks' } }),
  'GET /api/tokens': () => ({}),
  'POST /api/tokens': () => ({ body: { label: 'deploy', scopes: ['apps:write'], expiresAt: '2999-01-01T00:00:00Z' } }),
  'DELETE /api/tokens/{tokenId}': ({ tokenId }) => ({ params: { tokenId } }),
  'GET /api/audit-log': () => ({ query: { limit: 3 } }),
  'GET /api/admin/overview': () => ({}),
  'GET /api/admin/users': () => ({ query: { limit: 2, search: 'EXAMPLE' } }),
  'GET /api/admin/users/{userId}': ofUser,
  'POST /api/admin/users/{userId}/disable': ofUser,
  'POST /api/admin/users/{userId}/enable': ofUser,
  'POST /api/admin/users/{userId}/reset-link': ofUser,
  'PUT /api/admin/users/{userId}/limits': (world) => ({ ...ofUser(world), body: { limits: { perDay: 5 } } }),
  'GET /api/admin/invites': () => ({}),
  'POST /api/admin/invites': () => ({ body: { email: newMail(), days: 2 } }),
  'DELETE /api/admin/invites/{inviteId}': ({ inviteId }) => ({ params: { inviteId } }),
  'GET /api/admin/audit-log': () => ({ query: {} }),
}
