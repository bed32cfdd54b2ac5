import { z } from 'zod'
import { accessTokensView, createAccessTokenBody, newAccessTokenView } from '../accessToken.ts'
import {
  accountView,
  changePasswordBody,
  confirmBody,
  disconnectBody,
  emailBody,
  finishSignOnBody,
  forgotPasswordBody,
  identitiesView,
  logInBody,
  logInLinkBody,
  passwordBody,
  resetPasswordBody,
  sessionView,
  signOnView,
  signUpBody,
  signUpLinkBody,
  verifyEmailBody,
} from '../account.ts'
import { activityView } from '../activity.ts'
import { alertEmailsView, alertsView, createWebhookBody, newWebhookView, webhookTestView } from '../alerts.ts'
import { auditEntryView, auditFilters, auditQuery } from '../auditEntry.ts'
import { metricsCsvQuery, metricsQuery, metricsView } from '../metrics.ts'
import { pageSchema } from '../page.ts'
import { idText } from '../texts.ts'
import { usageView } from '../usage.ts'
import type { RoutesBelow } from '../route.ts'

const tokenId = z.strictObject({ tokenId: idText('tok') })
const webhookId = z.strictObject({ webhookId: idText('whk') })
const audit = pageSchema(auditEntryView)
const csv = z.string()

/** The routes about an account, and its sessions, access tokens, alerts, usage and audit log. */
export const accountRoutes: RoutesBelow<
  | '/api/account'
  | '/api/session'
  | '/api/tokens'
  | '/api/alerts'
  | '/api/audit-log'
  | '/api/activity'
  | '/api/usage'
  | '/api/metrics'
> = {
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
    summary: 'Changes the password, ends all other sessions and removes all access tokens.',
    access: 'session',
    status: 200,
    body: changePasswordBody,
    response: sessionView,
  },
  'POST /api/account/password/reset': {
    summary:
      'Sets a new password with a link from an email or from the operator, ends all other sessions, removes all access tokens, and logs in.',
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
  'GET /api/account/identities': {
    summary: 'Lists the accounts at OpenID Connect providers that log in to this account.',
    access: 'session',
    status: 200,
    response: identitiesView,
  },
  'POST /api/account/identities/disconnect': {
    summary: 'Disconnects the account at an OpenID Connect provider.',
    access: 'session',
    confirms: true,
    status: 204,
    body: disconnectBody,
  },
  'POST /api/account/delete': {
    summary: 'Deletes the account and everything it owns, except the audit log.',
    access: 'session',
    status: 204,
    body: passwordBody,
  },
  'POST /api/session': { summary: 'Logs in.', access: 'anyone', status: 200, body: logInBody, response: sessionView },
  'POST /api/session/link': {
    summary: 'Logs in with a link that `keyrail dev` prints, which works once.',
    access: 'anyone',
    status: 200,
    body: logInLinkBody,
    response: sessionView,
  },
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
}
