import type {
  AccountView,
  ChangePasswordBody,
  ConfirmBody,
  DisconnectBody,
  EmailBody,
  FinishSignOnBody,
  ForgotPasswordBody,
  IdentitiesView,
  LogInBody,
  PasswordBody,
  ResetPasswordBody,
  SessionView,
  LogInLinkBody,
  SignOnView,
  SignUpBody,
  SignUpLinkBody,
  VerifyEmailBody,
} from './account.ts'
import type { ActivityView, KeyTrafficView } from './activity.ts'
import type { AccessTokensView, CreateAccessTokenBody, NewAccessTokenView } from './accessToken.ts'
import type {
  AddAllowEntryBody,
  AllowEntryView,
  AllowListQuery,
  AllowListPreviewQuery,
  AllowListPreviewView,
  AllowListView,
  EditAllowEntryBody,
  OriginsView,
} from './allowEntry.ts'
import type { ApiKeySecret, ApiKeysView, ApiKeyView, CreateApiKeyBody, EditApiKeyBody } from './apiKey.ts'
import type {
  AppSecret,
  AppsQuery,
  AppsView,
  AppView,
  CreateAppBody,
  DeleteAppBody,
  EditAppBody,
  KeyExpiryBody,
} from './app.ts'
import type { AlertEmailsView, AlertsView, CreateWebhookBody, NewWebhookView, WebhookTestView } from './alerts.ts'
import type { AdminAuditFilters, AdminAuditQuery, AuditEntryView, AuditFilters, AuditQuery } from './auditEntry.ts'
import type { DeploymentView, NetworksView } from './deployment.ts'
import type { AddJwtKeyBody, JwtKeysView, JwtKeyView, JwtTestView, TestJwtBody } from './jwtKey.ts'
import type { NetworkStatusesView } from './networkStatus.ts'
import type { RotateBody } from './keyState.ts'
import type { MetricsCsvQuery, MetricsQuery, MetricsView } from './metrics.ts'
import type {
  InviteBody,
  InvitesView,
  OneTimeLinkView,
  OverviewView,
  UpstreamsView,
  UserLimitsBody,
  UsersQuery,
  UserView,
} from './operator.ts'
import type { Page } from './page.ts'
import type { RequestDetailsView, RequestEntryView, RequestsCsvQuery, RequestsQuery } from './requestLog.ts'
import type { UsageView } from './usage.ts'

/** A route without any input or output. */
interface EmptyCall {
  readonly params: undefined
  readonly query: undefined
  readonly body: undefined
  readonly response: undefined
}
type Call<Members extends Partial<Record<keyof EmptyCall, unknown>>> = Omit<EmptyCall, keyof Members> & Members

interface AppId {
  readonly appId: string
}
interface KeyId {
  readonly keyId: string
}
interface LogId {
  readonly logId: string
}
interface WebhookId {
  readonly webhookId: string
}
interface UserId {
  readonly userId: string
}

/**
 * The control API: the path parameters, query, body and response of each route. `undefined`: none. Error responses have a status outside
 * 2xx and the body `ApiErrorView`. Times are ISO 8601 in UTC.
 *
 * The types are written out, and the schemas are checked against them (`z.ZodType<AppView>`). So a browser client needs only
 * `import type`, and the published declarations have docstrings and no zod types.
 */
export interface ControlApi {
  'GET /api/deployment': Call<{ response: DeploymentView }>
  'GET /api/networks': Call<{ response: NetworksView }>
  /** As this instance sees the nodes. */
  'GET /api/networks/status': Call<{ response: NetworkStatusesView }>
  'GET /api/openapi.json': Call<{ response: Readonly<Record<string, unknown>> }>

  /** Signs up and logs in. The response sets the session cookie. */
  'POST /api/account': Call<{ body: SignUpBody; response: SessionView }>
  /** Sends an email. The response does not depend on whether the address has an account. */
  'POST /api/account/sign-up-link': Call<{ body: SignUpLinkBody }>
  'GET /api/account': Call<{ response: AccountView }>
  'POST /api/account/password': Call<{ body: ChangePasswordBody; response: SessionView }>
  'POST /api/account/password/reset': Call<{ body: ResetPasswordBody; response: SessionView }>
  /** Sends an email, if the address has an account. The response does not depend on it. */
  'POST /api/account/password/forgot': Call<{ body: ForgotPasswordBody }>
  /** Sends an email. The response does not depend on whether another account has the address. */
  'POST /api/account/email': Call<{ body: EmailBody }>
  'POST /api/account/email/verify': Call<{ body: VerifyEmailBody; response: AccountView }>
  'GET /api/account/identities': Call<{ response: IdentitiesView }>
  'POST /api/account/identities/disconnect': Call<{ body: DisconnectBody }>
  'POST /api/account/delete': Call<{ body: PasswordBody }>
  /** Logs in. The response sets the session cookie. */
  'POST /api/session': Call<{ body: LogInBody; response: SessionView }>
  /** Logs in with a link of `keyrail dev`. The response sets the session cookie. */
  'POST /api/session/link': Call<{ body: LogInLinkBody; response: SessionView }>
  /** Starts a log-in at the OpenID Connect provider. The response sets a cookie that binds it to the browser, for 10 minutes. */
  'POST /api/session/single-sign-on': Call<{ response: SignOnView }>
  /** Finishes a log-in at the OpenID Connect provider. The response sets the session cookie. */
  'POST /api/session/single-sign-on/finish': Call<{ body: FinishSignOnBody; response: SessionView }>
  /** The authenticated account, and its session or scopes. */
  'GET /api/session': Call<{ response: SessionView }>
  'DELETE /api/session': Call<{}>

  /** Oldest first. */
  'GET /api/apps': Call<{ query: AppsQuery; response: AppsView }>
  /** The response contains the app's key. Later, only the reveal route shows it. */
  'POST /api/apps': Call<{ body: CreateAppBody; response: { readonly app: AppView } & AppSecret }>
  'GET /api/apps/{appId}': Call<{ params: AppId; response: AppView }>
  'PATCH /api/apps/{appId}': Call<{ params: AppId; body: EditAppBody; response: AppView }>
  'POST /api/apps/{appId}/delete': Call<{ params: AppId; body: DeleteAppBody }>
  'PUT /api/apps/{appId}/key/expiry': Call<{ params: AppId; body: KeyExpiryBody; response: AppView }>
  'POST /api/apps/{appId}/key/reveal': Call<{ params: AppId; body: ConfirmBody; response: AppSecret }>
  'POST /api/apps/{appId}/key/rotate': Call<{
    params: AppId
    body: RotateBody
    response: { readonly app: AppView } & AppSecret
  }>
  /** Ends the grace period of the previous key. */
  'DELETE /api/apps/{appId}/key/old': Call<{ params: AppId; response: AppView }>
  /** Of the last 24 hours. During a grace period, it has the old key apart. */
  'GET /api/apps/{appId}/key/traffic': Call<{ params: AppId; response: KeyTrafficView }>
  'GET /api/apps/{appId}/allow-list': Call<{ params: AppId; query: AllowListQuery; response: AllowListView }>
  /** Which requests of the last 24 hours the list would reject with one more entry. */
  'GET /api/apps/{appId}/allow-list/preview': Call<{
    params: AppId
    query: AllowListPreviewQuery
    response: AllowListPreviewView
  }>
  'GET /api/apps/{appId}/origins': Call<{ params: AppId; response: OriginsView }>
  'POST /api/apps/{appId}/allow-list': Call<{ params: AppId; body: AddAllowEntryBody; response: AllowEntryView }>
  'PATCH /api/apps/{appId}/allow-list/{entryId}': Call<{
    params: AppId & { readonly entryId: string }
    body: EditAllowEntryBody
    response: AllowEntryView
  }>
  'DELETE /api/apps/{appId}/allow-list/{entryId}': Call<{ params: AppId & { readonly entryId: string } }>
  'GET /api/apps/{appId}/jwt-keys': Call<{ params: AppId; response: JwtKeysView }>
  'POST /api/apps/{appId}/jwt-keys': Call<{ params: AppId; body: AddJwtKeyBody; response: JwtKeyView }>
  'DELETE /api/apps/{appId}/jwt-keys/{kid}': Call<{ params: AppId & { readonly kid: string } }>
  'POST /api/apps/{appId}/jwt-keys/test': Call<{ params: AppId; body: TestJwtBody; response: JwtTestView }>
  'GET /api/apps/{appId}/metrics': Call<{ params: AppId; query: MetricsQuery; response: MetricsView }>
  'GET /api/apps/{appId}/metrics.csv': Call<{ params: AppId; query: MetricsCsvQuery; response: string }>
  'GET /api/apps/{appId}/usage': Call<{ params: AppId; response: UsageView }>
  /** Newest first. */
  'GET /api/apps/{appId}/requests': Call<{ params: AppId; query: RequestsQuery; response: Page<RequestEntryView> }>
  /** The newest 10,000. */
  'GET /api/apps/{appId}/requests.csv': Call<{ params: AppId; query: RequestsCsvQuery; response: string }>
  'GET /api/apps/{appId}/requests/{logId}': Call<{ params: AppId & LogId; response: RequestDetailsView }>

  /** Oldest first. */
  'GET /api/keys': Call<{ response: ApiKeysView }>
  /** The response contains the key. Later, only the reveal route shows it. */
  'POST /api/keys': Call<{ body: CreateApiKeyBody; response: { readonly key: ApiKeyView } & ApiKeySecret }>
  'GET /api/keys/{keyId}': Call<{ params: KeyId; response: ApiKeyView }>
  'PATCH /api/keys/{keyId}': Call<{ params: KeyId; body: EditApiKeyBody; response: ApiKeyView }>
  'POST /api/keys/{keyId}/reveal': Call<{ params: KeyId; body: ConfirmBody; response: ApiKeySecret }>
  'POST /api/keys/{keyId}/rotate': Call<{
    params: KeyId
    body: RotateBody
    response: { readonly key: ApiKeyView } & ApiKeySecret
  }>
  /** Ends the grace period of the previous key. */
  'DELETE /api/keys/{keyId}/old': Call<{ params: KeyId; response: ApiKeyView }>
  /** Of the last 24 hours. During a grace period, it has the old key apart. */
  'GET /api/keys/{keyId}/origins': Call<{ params: KeyId; response: OriginsView }>
  'GET /api/keys/{keyId}/traffic': Call<{ params: KeyId; response: KeyTrafficView }>
  /** Revokes the key. It no longer counts toward the maximum. */
  'POST /api/keys/{keyId}/revoke': Call<{ params: KeyId; response: ApiKeyView }>
  'GET /api/keys/{keyId}/metrics': Call<{ params: KeyId; query: MetricsQuery; response: MetricsView }>
  'GET /api/keys/{keyId}/metrics.csv': Call<{ params: KeyId; query: MetricsCsvQuery; response: string }>
  /** Newest first. */
  'GET /api/keys/{keyId}/requests': Call<{ params: KeyId; query: RequestsQuery; response: Page<RequestEntryView> }>
  /** The newest 10,000. */
  'GET /api/keys/{keyId}/requests.csv': Call<{ params: KeyId; query: RequestsCsvQuery; response: string }>
  'GET /api/keys/{keyId}/requests/{logId}': Call<{ params: KeyId & LogId; response: RequestDetailsView }>

  /** Of the last 24 hours, by app and API key. */
  'GET /api/activity': Call<{ response: ActivityView }>
  /** Of all API keys of the account together. */
  'GET /api/usage': Call<{ response: UsageView }>
  /** Of the whole account. */
  'GET /api/metrics': Call<{ query: MetricsQuery; response: MetricsView }>
  'GET /api/metrics.csv': Call<{ query: MetricsCsvQuery; response: string }>
  'GET /api/tokens': Call<{ response: AccessTokensView }>
  'POST /api/tokens': Call<{ body: CreateAccessTokenBody; response: NewAccessTokenView }>
  'DELETE /api/tokens/{tokenId}': Call<{ params: { readonly tokenId: string } }>
  'GET /api/alerts': Call<{ response: AlertsView }>
  'PUT /api/alerts/emails': Call<{ body: AlertEmailsView; response: AlertsView }>
  /** The response contains the webhook's secret, which cannot be shown again. */
  'POST /api/alerts/webhooks': Call<{ body: CreateWebhookBody; response: NewWebhookView }>
  'DELETE /api/alerts/webhooks/{webhookId}': Call<{ params: WebhookId }>
  /** Creates another secret. The old one is no longer used. */
  'POST /api/alerts/webhooks/{webhookId}/rotate': Call<{
    params: WebhookId
    body: ConfirmBody
    response: NewWebhookView
  }>
  'POST /api/alerts/webhooks/{webhookId}/test': Call<{ params: WebhookId; response: WebhookTestView }>
  /** Newest first. */
  'GET /api/audit-log': Call<{ query: AuditQuery; response: Page<AuditEntryView> }>
  /** The newest 10,000 entries. */
  'GET /api/audit-log.csv': Call<{ query: AuditFilters; response: string }>

  'GET /api/admin/overview': Call<{ response: OverviewView }>
  /** As this instance sees them. */
  'GET /api/admin/upstreams': Call<{ response: UpstreamsView }>
  'GET /api/admin/users': Call<{ query: UsersQuery; response: Page<UserView> }>
  'GET /api/admin/users/{userId}': Call<{ params: UserId; response: UserView }>
  'POST /api/admin/users/{userId}/disable': Call<{ params: UserId; response: UserView }>
  'POST /api/admin/users/{userId}/enable': Call<{ params: UserId; response: UserView }>
  'POST /api/admin/users/{userId}/reset-link': Call<{ params: UserId; response: OneTimeLinkView }>
  'PUT /api/admin/users/{userId}/limits': Call<{ params: UserId; body: UserLimitsBody; response: UserView }>
  'GET /api/admin/invites': Call<{ response: InvitesView }>
  'POST /api/admin/invites': Call<{ body: InviteBody; response: OneTimeLinkView }>
  'DELETE /api/admin/invites/{inviteId}': Call<{ params: { readonly inviteId: string } }>
  /** Newest first, of all accounts. */
  'GET /api/admin/audit-log': Call<{ query: AdminAuditQuery; response: Page<AuditEntryView> }>
  /** The newest 10,000 entries. */
  'GET /api/admin/audit-log.csv': Call<{ query: AdminAuditFilters; response: string }>
}
