import { z } from 'zod'
import { accessTokensView, createAccessTokenBody, newAccessTokenView } from './accessToken.ts'
import {
  accountView,
  changePasswordBody,
  confirmBody,
  logInBody,
  passwordBody,
  resetPasswordBody,
  sessionView,
  signUpBody,
} from './account.ts'
import { addAllowEntryBody, allowEntryView, allowListQuery, allowListView, editAllowEntryBody } from './allowEntry.ts'
import { apiKeySecret, apiKeysView, apiKeyView, createApiKeyBody, editApiKeyBody } from './apiKey.ts'
import { appSecret, appsQuery, appView, createAppBody, deleteAppBody, editAppBody, keyExpiryBody } from './app.ts'
import { auditEntryView } from './auditEntry.ts'
import { deploymentView } from './deployment.ts'
import { addJwtKeyBody, jwtKeysView, jwtKeyView, jwtTestView, testJwtBody } from './jwtKey.ts'
import { rotateBody } from './keyState.ts'
import { metricsCsvQuery, metricsQuery, metricsView } from './metrics.ts'
import { perNetwork } from './networks.ts'
import {
  inviteBody,
  invitesView,
  oneTimeLinkView,
  overviewView,
  userLimitsBody,
  usersQuery,
  userView,
} from './operator.ts'
import { pageOf, pageQuery } from './page.ts'
import type { AnyRoute, Route, RouteName } from './route.ts'
import { idText } from './texts.ts'
import { usageView } from './usage.ts'

const ids = { appId: idText('app'), keyId: idText('key'), userId: idText('usr') }
const appId = z.strictObject({ appId: ids.appId })
const keyId = z.strictObject({ keyId: ids.keyId })
const userId = z.strictObject({ userId: ids.userId })
const entryId = z.strictObject({ appId: ids.appId, entryId: idText('alw') })
const kid = z.strictObject({ appId: ids.appId, kid: z.string().regex(/^[\w-]{1,64}$/) })
const tokenId = z.strictObject({ tokenId: idText('tok') })
const inviteId = z.strictObject({ inviteId: idText('inv') })

const secretApp = z.strictObject({ app: appView, apiKey: z.string(), addresses: perNetwork })
const secretKey = z.strictObject({ key: apiKeyView, apiKey: z.string(), address: z.string() })
const apps = z.strictObject({ items: z.array(appView), next: z.string().nullable(), total: z.int() })
const audit = pageOf(auditEntryView)
const csv = z.string()

/** All routes of the control API: what handlers, the OpenAPI document and the tests are made from. */
const table: { readonly [Name in RouteName]: Route<Name> } = {
  'GET /api/deployment': {
    summary: 'What this service offers: its chain, networks, services and limits.',
    who: 'anyone',
    status: 200,
    answer: deploymentView,
  },
  'GET /api/openapi.json': {
    summary: 'This document.',
    who: 'anyone',
    status: 200,
    answer: z.record(z.string(), z.unknown()),
  },

  'POST /api/account': {
    summary: 'Signs up, and logs in.',
    who: 'anyone',
    status: 201,
    body: signUpBody,
    answer: sessionView,
  },
  'GET /api/account': { summary: 'The account.', who: 'read', status: 200, answer: accountView },
  'POST /api/account/password': {
    summary: 'Changes the password, and ends all other sessions.',
    who: 'session',
    status: 200,
    body: changePasswordBody,
    answer: sessionView,
  },
  'POST /api/account/password/reset': {
    summary: 'Sets a new password by a link that the operator gave, and logs in.',
    who: 'anyone',
    status: 200,
    body: resetPasswordBody,
    answer: sessionView,
  },
  'POST /api/account/delete': {
    summary: 'Deletes the account with all that it has. Only the audit log stays.',
    who: 'session',
    status: 204,
    body: passwordBody,
  },
  'POST /api/session': { summary: 'Logs in.', who: 'anyone', status: 200, body: logInBody, answer: sessionView },
  'GET /api/session': { summary: 'Who asks, and by what right.', who: 'read', status: 200, answer: sessionView },
  'DELETE /api/session': { summary: 'Logs out.', who: 'session', status: 204 },

  'GET /api/apps': { summary: 'The apps, the oldest first.', who: 'read', status: 200, query: appsQuery, answer: apps },
  'POST /api/apps': {
    summary: 'Makes an app. The answer holds its key.',
    who: 'apps:write',
    status: 201,
    body: createAppBody,
    answer: secretApp,
  },
  'GET /api/apps/{appId}': { summary: 'An app.', who: 'read', status: 200, params: appId, answer: appView },
  'PATCH /api/apps/{appId}': {
    summary: 'Changes an app, where it still is as it was seen.',
    who: 'apps:write',
    status: 200,
    params: appId,
    body: editAppBody,
    answer: appView,
  },
  'POST /api/apps/{appId}/delete': {
    summary: 'Deletes an app with its key and its lists. Its name is asked for.',
    who: 'apps:write',
    status: 204,
    params: appId,
    body: deleteAppBody,
  },
  'PUT /api/apps/{appId}/key/expiry': {
    summary: "Sets when an app's key ends.",
    who: 'apps:write',
    status: 200,
    params: appId,
    body: keyExpiryBody,
    answer: appView,
  },
  'POST /api/apps/{appId}/key/reveal': {
    summary: "Shows an app's key and its addresses.",
    who: 'session',
    confirms: true,
    status: 200,
    params: appId,
    body: confirmBody,
    answer: appSecret,
  },
  'POST /api/apps/{appId}/key/rotate': {
    summary: 'Gives an app a new key. The old one goes on working for as long as is asked.',
    who: 'apps:write',
    status: 200,
    params: appId,
    body: rotateBody,
    answer: secretApp,
  },
  'DELETE /api/apps/{appId}/key/old': {
    summary: "Ends an app's old key at once.",
    who: 'apps:write',
    status: 200,
    params: appId,
    answer: appView,
  },
  'GET /api/apps/{appId}/allow-list': {
    summary: "An app's allow list.",
    who: 'read',
    status: 200,
    params: appId,
    query: allowListQuery,
    answer: allowListView,
  },
  'POST /api/apps/{appId}/allow-list': {
    summary: 'Adds an entry to an allow list.',
    who: 'apps:write',
    status: 201,
    params: appId,
    body: addAllowEntryBody,
    answer: allowEntryView,
  },
  'PATCH /api/apps/{appId}/allow-list/{entryId}': {
    summary: "Changes an entry's label.",
    who: 'apps:write',
    status: 200,
    params: entryId,
    body: editAllowEntryBody,
    answer: allowEntryView,
  },
  'DELETE /api/apps/{appId}/allow-list/{entryId}': {
    summary: 'Takes an entry off an allow list.',
    who: 'apps:write',
    status: 204,
    params: entryId,
  },
  'GET /api/apps/{appId}/jwt-keys': {
    summary: "An app's JWT keys.",
    who: 'read',
    status: 200,
    params: appId,
    answer: jwtKeysView,
  },
  'POST /api/apps/{appId}/jwt-keys': {
    summary: 'Imports a public key. A private one is rejected, and not stored.',
    who: 'apps:write',
    status: 201,
    params: appId,
    body: addJwtKeyBody,
    answer: jwtKeyView,
  },
  'DELETE /api/apps/{appId}/jwt-keys/{kid}': {
    summary: 'Removes a JWT key: tokens that it signed are rejected from then on.',
    who: 'apps:write',
    status: 204,
    params: kid,
  },
  'POST /api/apps/{appId}/jwt-keys/test': {
    summary: "Checks a token as the app's callers' are checked, and names the first check that fails.",
    who: 'read',
    status: 200,
    params: appId,
    body: testJwtBody,
    answer: jwtTestView,
  },
  'GET /api/apps/{appId}/metrics': {
    summary: "An app's metrics.",
    who: 'read',
    status: 200,
    params: appId,
    query: metricsQuery,
    answer: metricsView,
  },
  'GET /api/apps/{appId}/metrics.csv': {
    summary: "An app's metrics as a table.",
    who: 'read',
    status: 200,
    type: 'text/csv',
    params: appId,
    query: metricsCsvQuery,
    answer: csv,
  },
  'GET /api/apps/{appId}/usage': {
    summary: "How much of an app's limits is used.",
    who: 'read',
    status: 200,
    params: appId,
    answer: usageView,
  },

  'GET /api/keys': {
    summary: 'The API keys that are not revoked, the oldest first.',
    who: 'read',
    status: 200,
    answer: apiKeysView,
  },
  'POST /api/keys': {
    summary: 'Makes an API key. The answer holds it.',
    who: 'keys:write',
    status: 201,
    body: createApiKeyBody,
    answer: secretKey,
  },
  'GET /api/keys/{keyId}': { summary: 'An API key.', who: 'read', status: 200, params: keyId, answer: apiKeyView },
  'PATCH /api/keys/{keyId}': {
    summary: 'Changes an API key, where it still is as it was seen.',
    who: 'keys:write',
    status: 200,
    params: keyId,
    body: editApiKeyBody,
    answer: apiKeyView,
  },
  'POST /api/keys/{keyId}/reveal': {
    summary: 'Shows an API key and its address.',
    who: 'session',
    confirms: true,
    status: 200,
    params: keyId,
    body: confirmBody,
    answer: apiKeySecret,
  },
  'POST /api/keys/{keyId}/rotate': {
    summary: 'Puts a new key in the place of one. The old one goes on working for as long as is asked.',
    who: 'keys:write',
    status: 200,
    params: keyId,
    body: rotateBody,
    answer: secretKey,
  },
  'DELETE /api/keys/{keyId}/old': {
    summary: 'Ends the old key at once.',
    who: 'keys:write',
    status: 200,
    params: keyId,
    answer: apiKeyView,
  },
  'POST /api/keys/{keyId}/revoke': {
    summary: 'Ends an API key at once and for good, and frees its place.',
    who: 'keys:write',
    status: 200,
    params: keyId,
    answer: apiKeyView,
  },
  'GET /api/keys/{keyId}/metrics': {
    summary: "An API key's metrics.",
    who: 'read',
    status: 200,
    params: keyId,
    query: metricsQuery,
    answer: metricsView,
  },
  'GET /api/keys/{keyId}/metrics.csv': {
    summary: "An API key's metrics as a table.",
    who: 'read',
    status: 200,
    type: 'text/csv',
    params: keyId,
    query: metricsCsvQuery,
    answer: csv,
  },

  'GET /api/usage': {
    summary: "How much of the account's limits for API keys is used.",
    who: 'read',
    status: 200,
    answer: usageView,
  },
  'GET /api/metrics': {
    summary: 'Metrics of all that the account has.',
    who: 'read',
    status: 200,
    query: metricsQuery,
    answer: metricsView,
  },
  'GET /api/metrics.csv': {
    summary: 'Metrics of all that the account has, as a table.',
    who: 'read',
    status: 200,
    type: 'text/csv',
    query: metricsCsvQuery,
    answer: csv,
  },
  'GET /api/tokens': { summary: 'The personal access tokens.', who: 'session', status: 200, answer: accessTokensView },
  'POST /api/tokens': {
    summary: 'Makes a personal access token. The answer holds it, this once.',
    who: 'session',
    confirms: true,
    status: 201,
    body: createAccessTokenBody,
    answer: newAccessTokenView,
  },
  'DELETE /api/tokens/{tokenId}': {
    summary: 'Removes a personal access token.',
    who: 'session',
    status: 204,
    params: tokenId,
  },
  'GET /api/audit-log': {
    summary: 'What was done to the account and what it has, the newest first.',
    who: 'read',
    status: 200,
    query: pageQuery,
    answer: audit,
  },

  'GET /api/admin/overview': { summary: 'The whole instance.', who: 'operator', status: 200, answer: overviewView },
  'GET /api/admin/users': {
    summary: 'The accounts.',
    who: 'operator',
    status: 200,
    query: usersQuery,
    answer: pageOf(userView),
  },
  'GET /api/admin/users/{userId}': {
    summary: 'An account.',
    who: 'operator',
    status: 200,
    params: userId,
    answer: userView,
  },
  'POST /api/admin/users/{userId}/disable': {
    summary: 'Ends the sessions of an account, and stops its keys and tokens, at once.',
    who: 'operator',
    status: 200,
    params: userId,
    answer: userView,
  },
  'POST /api/admin/users/{userId}/enable': {
    summary: 'Lets an account and its keys work again.',
    who: 'operator',
    status: 200,
    params: userId,
    answer: userView,
  },
  'POST /api/admin/users/{userId}/reset-link': {
    summary: 'Makes a link by which the user sets a new password, once.',
    who: 'operator',
    status: 201,
    params: userId,
    answer: oneTimeLinkView,
  },
  'PUT /api/admin/users/{userId}/limits': {
    summary: "Sets a user's limits.",
    who: 'operator',
    status: 200,
    params: userId,
    body: userLimitsBody,
    answer: userView,
  },
  'GET /api/admin/invites': {
    summary: 'The invites that are open, the newest first.',
    who: 'operator',
    status: 200,
    answer: invitesView,
  },
  'POST /api/admin/invites': {
    summary: 'Makes a link by which somebody signs up, once.',
    who: 'operator',
    status: 201,
    body: inviteBody,
    answer: oneTimeLinkView,
  },
  'DELETE /api/admin/invites/{inviteId}': {
    summary: 'Takes an invite back.',
    who: 'operator',
    status: 204,
    params: inviteId,
  },
  'GET /api/admin/audit-log': {
    summary: 'What was done, by whom, on the whole instance, the newest first.',
    who: 'operator',
    status: 200,
    query: pageQuery,
    answer: audit,
  },
}

/** All routes' names. */
export const routeNames: readonly RouteName[] = Object.keys(table) as RouteName[]

/** A route as whoever goes through the table sees it. */
export const routeOf = (name: RouteName): AnyRoute => table[name]
