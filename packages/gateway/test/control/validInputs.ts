import type { ControlApi } from '../../src/control/contract/controlApi.d.ts'
import type { RouteName } from '../../src/control/contract/routeName.ts'
import { createAppBody, issuer, newEmail, newPem, password } from './accountFixture.ts'
import type { AccountFixture } from './accountFixture.ts'

type Input<Name extends RouteName> = {
  readonly [
    Part in 'params' | 'query' | 'body' as ControlApi[Name][Part] extends undefined ? never : Part
  ]: ControlApi[Name][Part]
}

const appInput = ({ app }: AccountFixture) => ({ params: { appId: app.id } })
const keyInput = ({ key }: AccountFixture) => ({ params: { keyId: key.id } })
const userInput = ({ userId }: AccountFixture) => ({ params: { userId } })
const teamInput = ({ team }: AccountFixture) => ({ params: { accountId: team.id } })
/** Another account of the user than that of the app. */
const getTransferTarget = ({ user, team }: AccountFixture): string =>
  user.as.account === undefined ? team.id : user.id
const entryInput = ({ app, entryId }: AccountFixture) => ({ params: { appId: app.id, entryId } })

/** A valid input for each route. A missing route does not compile. */
export const validInputs: { readonly [Name in RouteName]: (fixture: AccountFixture) => Input<Name> } = {
  'GET /api/deployment': () => ({}),
  'GET /api/networks': () => ({}),
  'GET /api/networks/status': () => ({}),
  'GET /api/openapi.json': () => ({}),
  'POST /api/account': () => ({ body: { email: newEmail(), password } }),
  'POST /api/account/sign-up-link': () => ({ body: { email: newEmail() } }),
  'GET /api/account': () => ({}),
  'POST /api/account/password': () => ({ body: { current: password, next: 'another long password' } }),
  'POST /api/account/password/reset': ({ link }) => ({ body: { link, password: 'another long password' } }),
  'POST /api/account/password/forgot': ({ user }) => ({ body: { email: user.email } }),
  'POST /api/account/email': () => ({ body: { email: newEmail(), password } }),
  'POST /api/account/email/verify': ({ emailLink }) => ({ body: { link: emailLink } }),
  'GET /api/account/identities': () => ({}),
  'POST /api/account/identities/disconnect': () => ({ body: { issuer, password } }),
  'POST /api/account/delete': () => ({ body: { password } }),
  'POST /api/session': ({ user }) => ({ body: { email: user.email, password } }),
  'POST /api/session/link': ({ logInLink }) => ({ body: { link: logInLink } }),
  'POST /api/session/single-sign-on': () => ({}),
  'POST /api/session/single-sign-on/finish': () => ({ body: { response: 'code=c&state=s' } }),
  'GET /api/session': () => ({}),
  'DELETE /api/session': () => ({}),
  'POST /api/session/second-factor/options': () => ({}),
  'POST /api/session/second-factor': () => ({ body: { code: '123456' } }),
  'POST /api/session/passkey/options': () => ({}),
  'POST /api/session/passkey': () => ({
    body: { passkey: { id: 'aWQ', clientDataJSON: 'e30', authenticatorData: 'YQ', signature: 'c2ln' } },
  }),
  'POST /api/session/confirm/options': () => ({}),
  'POST /api/session/confirm': () => ({ body: { code: '123456' } }),
  'GET /api/account/factors': () => ({}),
  'POST /api/account/factors/options': () => ({ body: {} }),
  'POST /api/account/factors': () => ({ body: { label: 'App', totp: { setup: 'c2V0dXA', code: '123456' } } }),
  'POST /api/account/factors/{factorId}/remove': ({ factorId }) => ({ params: { factorId }, body: {} }),
  'POST /api/account/recovery-codes': () => ({ body: {} }),
  'GET /api/apps': () => ({ query: { limit: 2, search: 'a' } }),
  'POST /api/apps': () => ({ body: createAppBody() }),
  'GET /api/apps/{appId}': appInput,
  'PATCH /api/apps/{appId}': (fixture) => ({
    ...appInput(fixture),
    body: { version: fixture.app.version, description: 'new', limits: { perDay: 10 } },
  }),
  'POST /api/apps/{appId}/delete': (fixture) => ({ ...appInput(fixture), body: { name: fixture.app.name } }),
  'PUT /api/apps/{appId}/key/expiry': (fixture) => ({
    ...appInput(fixture),
    body: { expiresAt: '2999-01-01T00:00:00Z' },
  }),
  'POST /api/apps/{appId}/key/reveal': (fixture) => ({ ...appInput(fixture), body: {} }),
  'POST /api/apps/{appId}/key/rotate': (fixture) => ({ ...appInput(fixture), body: { graceDays: 7 } }),
  'DELETE /api/apps/{appId}/key/old': appInput,
  'GET /api/apps/{appId}/key/traffic': appInput,
  'GET /api/apps/{appId}/allow-list': (fixture) => ({ ...appInput(fixture), query: { type: 'method' } }),
  'GET /api/apps/{appId}/allow-list/preview': (fixture) => ({
    ...appInput(fixture),
    query: { type: 'origin', value: 'https://dapp.example' },
  }),
  'GET /api/apps/{appId}/origins': appInput,
  'POST /api/apps/{appId}/allow-list': (fixture) => ({
    ...appInput(fixture),
    body: { type: 'ip', value: '10.0.0.0/8' },
  }),
  'PATCH /api/apps/{appId}/allow-list/{entryId}': (fixture) => ({ ...entryInput(fixture), body: { label: 'reads' } }),
  'DELETE /api/apps/{appId}/allow-list/{entryId}': entryInput,
  'GET /api/apps/{appId}/jwt-keys': appInput,
  'POST /api/apps/{appId}/jwt-keys': (fixture) => ({
    ...appInput(fixture),
    body: { pem: newPem().publicPem, label: 'ci' },
  }),
  'DELETE /api/apps/{appId}/jwt-keys/{kid}': ({ app, kid }) => ({ params: { appId: app.id, kid } }),
  'POST /api/apps/{appId}/jwt-keys/test': (fixture) => ({ ...appInput(fixture), body: { token: 'a.b.c' } }),
  'GET /api/apps/{appId}/metrics': (fixture) => ({ ...appInput(fixture), query: { range: 'hour' } }),
  'GET /api/apps/{appId}/metrics.csv': (fixture) => ({ ...appInput(fixture), query: { of: 'methods' } }),
  'GET /api/apps/{appId}/usage': appInput,
  'GET /api/apps/{appId}/requests': (fixture) => ({ ...appInput(fixture), query: { outcome: 'failed', limit: 2 } }),
  'GET /api/apps/{appId}/requests.csv': (fixture) => ({ ...appInput(fixture), query: { network: 'testnet' } }),
  'GET /api/apps/{appId}/requests/{logId}': ({ app, logId }) => ({ params: { appId: app.id, logId } }),
  'GET /api/keys': () => ({}),
  'POST /api/keys': () => ({ body: { name: 'k', network: 'mainnet', expiresAt: null } }),
  'GET /api/keys/{keyId}': keyInput,
  'PATCH /api/keys/{keyId}': (fixture) => ({
    ...keyInput(fixture),
    body: { version: fixture.key.version, name: 'New' },
  }),
  'POST /api/keys/{keyId}/reveal': (fixture) => ({ ...keyInput(fixture), body: { password } }),
  'POST /api/keys/{keyId}/rotate': (fixture) => ({ ...keyInput(fixture), body: {} }),
  'DELETE /api/keys/{keyId}/old': keyInput,
  'GET /api/keys/{keyId}/origins': keyInput,
  'GET /api/keys/{keyId}/traffic': keyInput,
  'POST /api/keys/{keyId}/revoke': keyInput,
  'GET /api/keys/{keyId}/metrics': (fixture) => ({ ...keyInput(fixture), query: {} }),
  'GET /api/keys/{keyId}/metrics.csv': (fixture) => ({
    ...keyInput(fixture),
    query: { range: 'week', of: 'outcomes' },
  }),
  'GET /api/keys/{keyId}/requests': (fixture) => ({
    ...keyInput(fixture),
    query: { method: 'eth_call', after: fixture.logId },
  }),
  'GET /api/keys/{keyId}/requests.csv': (fixture) => ({ ...keyInput(fixture), query: {} }),
  'GET /api/keys/{keyId}/requests/{logId}': ({ key, logId }) => ({ params: { keyId: key.id, logId } }),
  'GET /api/activity': () => ({}),
  'GET /api/usage': () => ({}),
  'GET /api/metrics': () => ({ query: { range: 'quarter' } }),
  'GET /api/metrics.csv': () => ({ query: { range: 'month', of: 'networks' } }),
  'GET /api/accounts': () => ({}),
  'POST /api/accounts': () => ({ body: { name: 'New team' } }),
  'POST /api/accounts/join': ({ team }) => ({ body: { invite: team.invite } }),
  'PATCH /api/team': () => ({ body: { name: 'Renamed' } }),
  'POST /api/team/delete': () => ({ body: { name: 'Team', password } }),
  'POST /api/team/leave': () => ({}),
  'GET /api/members': () => ({}),
  'PUT /api/members/{userId}/role': ({ team }) => ({
    params: { userId: team.memberId },
    body: { role: 'viewer', password },
  }),
  'POST /api/members/{userId}/remove': ({ team }) => ({ params: { userId: team.memberId }, body: { password } }),
  'GET /api/members/invites': () => ({}),
  'POST /api/members/invites': () => ({ body: { email: newEmail(), role: 'viewer', password } }),
  'DELETE /api/members/invites/{inviteId}': ({ team }) => ({ params: { inviteId: team.inviteId } }),
  'POST /api/apps/{appId}/transfer': (fixture) => ({
    ...appInput(fixture),
    body: { accountId: getTransferTarget(fixture), password },
  }),
  'GET /api/admin/accounts': () => ({ query: { limit: 2 } }),
  'GET /api/admin/accounts/{accountId}': teamInput,
  'POST /api/admin/accounts/{accountId}/disable': teamInput,
  'POST /api/admin/accounts/{accountId}/enable': teamInput,
  'PUT /api/admin/accounts/{accountId}/limits': (fixture) => ({
    ...teamInput(fixture),
    body: { limits: { perDay: 5 } },
  }),
  'PUT /api/admin/accounts/{accountId}/owner': (fixture) => ({
    ...teamInput(fixture),
    body: { userId: fixture.userId },
  }),
  'GET /api/tokens': () => ({}),
  'POST /api/tokens': () => ({ body: { label: 'deploy', scopes: ['apps:write'], expiresAt: '2999-01-01T00:00:00Z' } }),
  'DELETE /api/tokens/{tokenId}': ({ tokenId }) => ({ params: { tokenId } }),
  'GET /api/alerts': () => ({}),
  'PUT /api/alerts/emails': () => ({ body: { own: false, allUsers: false } }),
  'POST /api/alerts/webhooks': () => ({ body: { url: 'https://hooks.example.org/keyrail' } }),
  'DELETE /api/alerts/webhooks/{webhookId}': ({ webhookId }) => ({ params: { webhookId } }),
  'POST /api/alerts/webhooks/{webhookId}/rotate': ({ webhookId }) => ({ params: { webhookId }, body: {} }),
  'POST /api/alerts/webhooks/{webhookId}/test': ({ webhookId }) => ({ params: { webhookId } }),
  'GET /api/audit-log': () => ({ query: { limit: 3, action: 'app' } }),
  'GET /api/audit-log.csv': () => ({ query: { from: '2020-01-01T00:00:00Z' } }),
  'GET /api/admin/overview': () => ({}),
  'GET /api/admin/upstreams': () => ({}),
  'GET /api/admin/users': () => ({ query: { limit: 2, search: 'EXAMPLE' } }),
  'GET /api/admin/users/{userId}': userInput,
  'POST /api/admin/users/{userId}/disable': (fixture) => ({ ...userInput(fixture), body: {} }),
  'POST /api/admin/users/{userId}/enable': (fixture) => ({ ...userInput(fixture), body: {} }),
  'POST /api/admin/users/{userId}/reset-link': (fixture) => ({ ...userInput(fixture), body: {} }),
  'POST /api/admin/users/{userId}/second-factor/reset': (fixture) => ({ ...userInput(fixture), body: {} }),
  'PUT /api/admin/users/{userId}/limits': (fixture) => ({ ...userInput(fixture), body: { limits: { perDay: 5 } } }),
  'GET /api/admin/invites': () => ({}),
  'POST /api/admin/invites': () => ({ body: { email: newEmail(), days: 2 } }),
  'DELETE /api/admin/invites/{inviteId}': ({ inviteId }) => ({ params: { inviteId } }),
  'GET /api/admin/audit-log': ({ userId }) => ({ query: { userId } }),
  'GET /api/admin/audit-log.csv': () => ({ query: { action: 'app.create' } }),
  'GET /api/admin/usage': () => ({ query: { from: '2026-11-01', to: '2026-12-01', step: 'day' } }),
  'GET /api/admin/usage.csv': ({ userId }) => ({ query: { from: '2026-11-01', to: '2026-12-01', userId } }),
}
