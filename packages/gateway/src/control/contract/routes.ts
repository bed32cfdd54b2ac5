import { z } from 'zod'
import { accessTokensView, createAccessTokenBody, newAccessTokenView } from './accessToken.ts'
import {
  accountView,
  changePasswordBody,
  confirmBody,
  emailBody,
  finishSignOnBody,
  forgotPasswordBody,
  logInBody,
  passwordBody,
  resetPasswordBody,
  sessionView,
  signOnView,
  signUpBody,
  signUpLinkBody,
  verifyEmailBody,
} from './account.ts'
import { activityView, keyTrafficView } from './activity.ts'
import { addAllowEntryBody, allowEntryView, allowListQuery, allowListView, editAllowEntryBody } from './allowEntry.ts'
import { apiKeySecret, apiKeysView, apiKeyView, createApiKeyBody, editApiKeyBody } from './apiKey.ts'
import { alertEmailsView, alertsView, createWebhookBody, newWebhookView, webhookTestView } from './alerts.ts'
import { appSecret, appsQuery, appView, createAppBody, deleteAppBody, editAppBody, keyExpiryBody } from './app.ts'
import { adminAuditFilters, adminAuditQuery, auditEntryView, auditFilters, auditQuery } from './auditEntry.ts'
import { deploymentView, networksView } from './deployment.ts'
import { addJwtKeyBody, jwtKeysView, jwtKeyView, jwtTestView, testJwtBody } from './jwtKey.ts'
import { rotateBody } from './keyState.ts'
import { metricsCsvQuery, metricsQuery, metricsView } from './metrics.ts'
import { perNetwork } from './networks.ts'
import { networkStatusesView } from './networkStatus.ts'
import {
  inviteBody,
  invitesView,
  oneTimeLinkView,
  overviewView,
  upstreamsView,
  userLimitsBody,
  usersQuery,
  userView,
} from './operator.ts'
import { pageSchema } from './page.ts'
import { requestDetails, requestEntry, requestsCsvQuery, requestsQuery } from './requestLog.ts'
import type { AnyRoute, Route, RouteName } from './route.ts'
import { idText } from './texts.ts'
import { usageView } from './usage.ts'

const ids = { appId: idText('app'), keyId: idText('key'), userId: idText('usr') }
const appId = z.strictObject({ appId: ids.appId })
const keyId = z.strictObject({ keyId: ids.keyId })
const userId = z.strictObject({ userId: ids.userId })
const entryId = z.strictObject({ appId: ids.appId, entryId: idText('alw') })
const logId = idText('log')
const kid = z.strictObject({ appId: ids.appId, kid: z.string().regex(/^[\w-]{1,64}$/) })
const tokenId = z.strictObject({ tokenId: idText('tok') })
const webhookId = z.strictObject({ webhookId: idText('whk') })
const inviteId = z.strictObject({ inviteId: idText('inv') })

const secretApp = z.strictObject({ app: appView, apiKey: z.string(), addresses: perNetwork })
const secretKey = z.strictObject({ key: apiKeyView, apiKey: z.string(), address: z.string() })
const apps = z.strictObject({
  items: z.array(appView),
  next: z.string().nullable(),
  total: z.int(),
  free: z.int(),
})
const audit = pageSchema(auditEntryView)
const requests = pageSchema(requestEntry)
const csv = z.string()

/** All routes of the control API. Handlers, the OpenAPI document and tests are derived from this table. */
const table: { readonly [Name in RouteName]: Route<Name> } = {
  'GET /api/deployment': {
    summary: "Gets the service's chain, networks, services and limits.",
    access: 'anyone',
    status: 200,
    response: deploymentView,
  },
  'GET /api/networks': {
    summary: 'Lists the networks of the service, with their chain ids and endpoints.',
    access: 'anyone',
    status: 200,
    response: networksView,
  },
  'GET /api/networks/status': {
    summary: 'Counts the healthy, lagging and down nodes of each network, as this instance sees them.',
    access: 'read',
    status: 200,
    response: networkStatusesView,
  },
  'GET /api/openapi.json': {
    summary: 'Gets this OpenAPI document.',
    access: 'anyone',
    status: 200,
    response: z.record(z.string(), z.unknown()),
  },

  'POST /api/account': {
    summary: 'Signs up and logs in.',
    access: 'anyone',
    status: 201,
    body: signUpBody,
    response: sessionView,
  },
  'POST /api/account/sign-up-link': {
    summary: 'Sends a link to sign up with to an email address.',
    access: 'anyone',
    status: 204,
    body: signUpLinkBody,
  },
  'GET /api/account': { summary: 'Gets the account.', access: 'read', status: 200, response: accountView },
  'POST /api/account/password': {
    summary: 'Changes the password and ends all other sessions.',
    access: 'session',
    status: 200,
    body: changePasswordBody,
    response: sessionView,
  },
  'POST /api/account/password/reset': {
    summary: 'Sets a new password with a link from an email or from the operator, and logs in.',
    access: 'anyone',
    status: 200,
    body: resetPasswordBody,
    response: sessionView,
  },
  'POST /api/account/password/forgot': {
    summary: 'Sends a link to set a new password to the email address of an account.',
    access: 'anyone',
    status: 204,
    body: forgotPasswordBody,
  },
  'POST /api/account/email': {
    summary: "Sends a link that changes or verifies the account's email address.",
    access: 'session',
    confirms: true,
    status: 204,
    body: emailBody,
  },
  'POST /api/account/email/verify': {
    summary: 'Gives the account the email address that a link was sent to.',
    access: 'session',
    status: 200,
    body: verifyEmailBody,
    response: accountView,
  },
  'POST /api/account/delete': {
    summary: 'Deletes the account and everything it owns, except the audit log.',
    access: 'session',
    status: 204,
    body: passwordBody,
  },
  'POST /api/session': { summary: 'Logs in.', access: 'anyone', status: 200, body: logInBody, response: sessionView },
  'POST /api/session/single-sign-on': {
    summary: 'Starts a log-in at the OpenID Connect provider.',
    access: 'anyone',
    status: 200,
    response: signOnView,
  },
  'POST /api/session/single-sign-on/finish': {
    summary: 'Finishes a log-in at the OpenID Connect provider, and logs in.',
    access: 'anyone',
    status: 200,
    body: finishSignOnBody,
    response: sessionView,
  },
  'GET /api/session': {
    summary: 'Gets the authenticated account, and its session or scopes.',
    access: 'read',
    status: 200,
    response: sessionView,
  },
  'DELETE /api/session': { summary: 'Logs out.', access: 'session', status: 204 },

  'GET /api/apps': {
    summary: 'Lists the apps, oldest first.',
    access: 'read',
    status: 200,
    query: appsQuery,
    response: apps,
  },
  'POST /api/apps': {
    summary: 'Creates an app. The response contains its key.',
    access: 'apps:write',
    status: 201,
    body: createAppBody,
    response: secretApp,
  },
  'GET /api/apps/{appId}': { summary: 'Gets an app.', access: 'read', status: 200, params: appId, response: appView },
  'PATCH /api/apps/{appId}': {
    summary: 'Changes an app, if its version is still the one you read.',
    access: 'apps:write',
    status: 200,
    params: appId,
    body: editAppBody,
    response: appView,
  },
  'POST /api/apps/{appId}/delete': {
    summary: 'Deletes an app with its key and lists. The body must contain its name.',
    access: 'apps:write',
    status: 204,
    params: appId,
    body: deleteAppBody,
  },
  'PUT /api/apps/{appId}/key/expiry': {
    summary: "Sets when an app's key expires.",
    access: 'apps:write',
    status: 200,
    params: appId,
    body: keyExpiryBody,
    response: appView,
  },
  'POST /api/apps/{appId}/key/reveal': {
    summary: "Reveals an app's key and endpoints.",
    access: 'session',
    confirms: true,
    status: 200,
    params: appId,
    body: confirmBody,
    response: appSecret,
  },
  'POST /api/apps/{appId}/key/rotate': {
    summary: "Rotates an app's key. The old key keeps working for the given grace period.",
    access: 'apps:write',
    status: 200,
    params: appId,
    body: rotateBody,
    response: secretApp,
  },
  'DELETE /api/apps/{appId}/key/old': {
    summary: "Ends the grace period of an app's old key.",
    access: 'apps:write',
    status: 200,
    params: appId,
    response: appView,
  },
  'GET /api/apps/{appId}/key/traffic': {
    summary:
      "Gets the requests of the last 24 hours and the last use of an app's key, and of its old key during a grace period.",
    access: 'read',
    status: 200,
    params: appId,
    response: keyTrafficView,
  },
  'GET /api/apps/{appId}/allow-list': {
    summary: "Gets an app's allow list.",
    access: 'read',
    status: 200,
    params: appId,
    query: allowListQuery,
    response: allowListView,
  },
  'POST /api/apps/{appId}/allow-list': {
    summary: 'Adds an entry to an allow list.',
    access: 'apps:write',
    status: 201,
    params: appId,
    body: addAllowEntryBody,
    response: allowEntryView,
  },
  'PATCH /api/apps/{appId}/allow-list/{entryId}': {
    summary: "Changes an entry's label.",
    access: 'apps:write',
    status: 200,
    params: entryId,
    body: editAllowEntryBody,
    response: allowEntryView,
  },
  'DELETE /api/apps/{appId}/allow-list/{entryId}': {
    summary: 'Removes an entry from an allow list.',
    access: 'apps:write',
    status: 204,
    params: entryId,
  },
  'GET /api/apps/{appId}/jwt-keys': {
    summary: "Lists an app's JWT keys.",
    access: 'read',
    status: 200,
    params: appId,
    response: jwtKeysView,
  },
  'POST /api/apps/{appId}/jwt-keys': {
    summary: 'Imports a public key. A private key is rejected and not stored.',
    access: 'apps:write',
    status: 201,
    params: appId,
    body: addJwtKeyBody,
    response: jwtKeyView,
  },
  'DELETE /api/apps/{appId}/jwt-keys/{kid}': {
    summary: 'Removes a JWT key. JWTs that it signed are rejected from then on.',
    access: 'apps:write',
    status: 204,
    params: kid,
  },
  'POST /api/apps/{appId}/jwt-keys/test': {
    summary: 'Verifies a JWT like one of a request to the app, and reports the first failed check.',
    access: 'read',
    status: 200,
    params: appId,
    body: testJwtBody,
    response: jwtTestView,
  },
  'GET /api/apps/{appId}/metrics': {
    summary: "Gets an app's metrics.",
    access: 'read',
    status: 200,
    params: appId,
    query: metricsQuery,
    response: metricsView,
  },
  'GET /api/apps/{appId}/metrics.csv': {
    summary: "Gets an app's metrics as CSV.",
    access: 'read',
    status: 200,
    type: 'text/csv',
    params: appId,
    query: metricsCsvQuery,
    response: csv,
  },
  'GET /api/apps/{appId}/usage': {
    summary: "Gets the usage of an app's limits.",
    access: 'read',
    status: 200,
    params: appId,
    response: usageView,
  },
  'GET /api/apps/{appId}/requests': {
    summary: "Lists an app's requests in the log, newest first: failed ones, and a sample of the others.",
    access: 'read',
    status: 200,
    params: appId,
    query: requestsQuery,
    response: requests,
  },
  'GET /api/apps/{appId}/requests.csv': {
    summary: "Gets the newest 10,000 of an app's requests in the log as CSV.",
    access: 'read',
    status: 200,
    type: 'text/csv',
    params: appId,
    query: requestsCsvQuery,
    response: csv,
  },
  'GET /api/apps/{appId}/requests/{logId}': {
    summary:
      "Gets one of an app's requests in the log, with excerpts of its params and response if they were recorded.",
    access: 'read',
    status: 200,
    params: z.strictObject({ appId: ids.appId, logId }),
    response: requestDetails,
  },

  'GET /api/keys': {
    summary: 'Lists the API keys that are not revoked, oldest first.',
    access: 'read',
    status: 200,
    response: apiKeysView,
  },
  'POST /api/keys': {
    summary: 'Creates an API key. The response contains it.',
    access: 'keys:write',
    status: 201,
    body: createApiKeyBody,
    response: secretKey,
  },
  'GET /api/keys/{keyId}': {
    summary: 'Gets an API key.',
    access: 'read',
    status: 200,
    params: keyId,
    response: apiKeyView,
  },
  'PATCH /api/keys/{keyId}': {
    summary: 'Changes an API key, if its version is still the one you read.',
    access: 'keys:write',
    status: 200,
    params: keyId,
    body: editApiKeyBody,
    response: apiKeyView,
  },
  'POST /api/keys/{keyId}/reveal': {
    summary: 'Reveals an API key and its endpoint.',
    access: 'session',
    confirms: true,
    status: 200,
    params: keyId,
    body: confirmBody,
    response: apiKeySecret,
  },
  'POST /api/keys/{keyId}/rotate': {
    summary: 'Rotates an API key. The old key keeps working for the given grace period.',
    access: 'keys:write',
    status: 200,
    params: keyId,
    body: rotateBody,
    response: secretKey,
  },
  'DELETE /api/keys/{keyId}/old': {
    summary: 'Ends the grace period of the old key.',
    access: 'keys:write',
    status: 200,
    params: keyId,
    response: apiKeyView,
  },
  'GET /api/keys/{keyId}/traffic': {
    summary:
      'Gets the requests of the last 24 hours and the last use of an API key, and of the old key during a grace period.',
    access: 'read',
    status: 200,
    params: keyId,
    response: keyTrafficView,
  },
  'POST /api/keys/{keyId}/revoke': {
    summary: 'Revokes an API key permanently. It no longer counts toward the maximum.',
    access: 'keys:write',
    status: 200,
    params: keyId,
    response: apiKeyView,
  },
  'GET /api/keys/{keyId}/metrics': {
    summary: "Gets an API key's metrics.",
    access: 'read',
    status: 200,
    params: keyId,
    query: metricsQuery,
    response: metricsView,
  },
  'GET /api/keys/{keyId}/metrics.csv': {
    summary: "Gets an API key's metrics as CSV.",
    access: 'read',
    status: 200,
    type: 'text/csv',
    params: keyId,
    query: metricsCsvQuery,
    response: csv,
  },
  'GET /api/keys/{keyId}/requests': {
    summary: "Lists an API key's requests in the log, newest first: failed ones, and a sample of the others.",
    access: 'read',
    status: 200,
    params: keyId,
    query: requestsQuery,
    response: requests,
  },
  'GET /api/keys/{keyId}/requests.csv': {
    summary: "Gets the newest 10,000 of an API key's requests in the log as CSV.",
    access: 'read',
    status: 200,
    type: 'text/csv',
    params: keyId,
    query: requestsCsvQuery,
    response: csv,
  },
  'GET /api/keys/{keyId}/requests/{logId}': {
    summary:
      "Gets one of an API key's requests in the log, with excerpts of its params and response if they were recorded.",
    access: 'read',
    status: 200,
    params: z.strictObject({ keyId: ids.keyId, logId }),
    response: requestDetails,
  },

  'GET /api/activity': {
    summary: 'Lists the apps and API keys with their requests of the last 24 hours and their last use.',
    access: 'read',
    status: 200,
    response: activityView,
  },
  'GET /api/usage': {
    summary: "Gets the usage of the account's API key limits.",
    access: 'read',
    status: 200,
    response: usageView,
  },
  'GET /api/metrics': {
    summary: 'Gets the metrics of the whole account.',
    access: 'read',
    status: 200,
    query: metricsQuery,
    response: metricsView,
  },
  'GET /api/metrics.csv': {
    summary: 'Gets the metrics of the whole account as CSV.',
    access: 'read',
    status: 200,
    type: 'text/csv',
    query: metricsCsvQuery,
    response: csv,
  },
  'GET /api/tokens': {
    summary: 'Lists the personal access tokens.',
    access: 'session',
    status: 200,
    response: accessTokensView,
  },
  'POST /api/tokens': {
    summary: 'Creates a personal access token. Only this response contains its secret.',
    access: 'session',
    confirms: true,
    status: 201,
    body: createAccessTokenBody,
    response: newAccessTokenView,
  },
  'DELETE /api/tokens/{tokenId}': {
    summary: 'Removes a personal access token.',
    access: 'session',
    status: 204,
    params: tokenId,
  },
  'GET /api/alerts': {
    summary: 'Gets who is alerted when a daily quota is nearly used up, and the last deliveries.',
    access: 'session',
    status: 200,
    response: alertsView,
  },
  'PUT /api/alerts/emails': {
    summary: 'Sets which alerts are sent by email.',
    access: 'session',
    status: 200,
    body: alertEmailsView,
    response: alertsView,
  },
  'POST /api/alerts/webhooks': {
    summary: 'Adds a webhook for alerts. Only this response contains its secret.',
    access: 'session',
    confirms: true,
    status: 201,
    body: createWebhookBody,
    response: newWebhookView,
  },
  'DELETE /api/alerts/webhooks/{webhookId}': {
    summary: 'Removes a webhook and its deliveries.',
    access: 'session',
    status: 204,
    params: webhookId,
  },
  'POST /api/alerts/webhooks/{webhookId}/rotate': {
    summary: 'Replaces the secret of a webhook.',
    access: 'session',
    confirms: true,
    status: 200,
    params: webhookId,
    body: confirmBody,
    response: newWebhookView,
  },
  'POST /api/alerts/webhooks/{webhookId}/test': {
    summary: 'Sends a test event to a webhook.',
    access: 'session',
    status: 200,
    params: webhookId,
    response: webhookTestView,
  },
  'GET /api/audit-log': {
    summary: 'Lists the changes of the account and everything it owns, newest first.',
    access: 'read',
    status: 200,
    query: auditQuery,
    response: audit,
  },
  'GET /api/audit-log.csv': {
    summary: 'Gets the changes of the account as CSV.',
    access: 'read',
    status: 200,
    type: 'text/csv',
    query: auditFilters,
    response: csv,
  },

  'GET /api/admin/overview': {
    summary: 'Gets totals of the whole service.',
    access: 'operator',
    status: 200,
    response: overviewView,
  },
  'GET /api/admin/upstreams': {
    summary: 'Lists the nodes, as this instance sees them.',
    access: 'operator',
    status: 200,
    response: upstreamsView,
  },
  'GET /api/admin/users': {
    summary: 'Lists the accounts.',
    access: 'operator',
    status: 200,
    query: usersQuery,
    response: pageSchema(userView),
  },
  'GET /api/admin/users/{userId}': {
    summary: 'Gets an account.',
    access: 'operator',
    status: 200,
    params: userId,
    response: userView,
  },
  'POST /api/admin/users/{userId}/disable': {
    summary: 'Disables an account: its sessions end, and its keys and tokens stop working.',
    access: 'operator',
    status: 200,
    params: userId,
    response: userView,
  },
  'POST /api/admin/users/{userId}/enable': {
    summary: 'Enables a disabled account and its keys.',
    access: 'operator',
    status: 200,
    params: userId,
    response: userView,
  },
  'POST /api/admin/users/{userId}/reset-link': {
    summary: 'Creates a one-time link with which the user sets a new password.',
    access: 'operator',
    status: 201,
    params: userId,
    response: oneTimeLinkView,
  },
  'PUT /api/admin/users/{userId}/limits': {
    summary: "Sets a user's limits.",
    access: 'operator',
    status: 200,
    params: userId,
    body: userLimitsBody,
    response: userView,
  },
  'GET /api/admin/invites': {
    summary: 'Lists the open invites, newest first.',
    access: 'operator',
    status: 200,
    response: invitesView,
  },
  'POST /api/admin/invites': {
    summary: 'Creates a one-time sign-up link.',
    access: 'operator',
    status: 201,
    body: inviteBody,
    response: oneTimeLinkView,
  },
  'DELETE /api/admin/invites/{inviteId}': {
    summary: 'Revokes an invite.',
    access: 'operator',
    status: 204,
    params: inviteId,
  },
  'GET /api/admin/audit-log': {
    summary: 'Lists the changes of all accounts, newest first.',
    access: 'operator',
    status: 200,
    query: adminAuditQuery,
    response: audit,
  },
  'GET /api/admin/audit-log.csv': {
    summary: 'Gets the changes of all accounts as CSV.',
    access: 'operator',
    status: 200,
    type: 'text/csv',
    query: adminAuditFilters,
    response: csv,
  },
}

/** The names of all routes. */
export const routeNames: readonly RouteName[] = Object.keys(table) as RouteName[]

/** Gets a route by name. */
export const getRoute = (name: RouteName): AnyRoute => table[name]
