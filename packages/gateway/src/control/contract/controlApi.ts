import type {
  AccountView,
  ChangePasswordBody,
  ConfirmBody,
  LogInBody,
  PasswordBody,
  ResetPasswordBody,
  SessionView,
  SignUpBody,
} from './account.ts'
import type { AccessTokensView, CreateAccessTokenBody, NewAccessTokenView } from './accessToken.ts'
import type {
  AddAllowEntryBody,
  AllowEntryView,
  AllowListQuery,
  AllowListView,
  EditAllowEntryBody,
} from './allowEntry.ts'
import type { ApiKeySecret, ApiKeysView, ApiKeyView, CreateApiKeyBody, EditApiKeyBody } from './apiKey.ts'
import type { AppSecret, AppsQuery, AppView, CreateAppBody, DeleteAppBody, EditAppBody, KeyExpiryBody } from './app.ts'
import type { AuditEntryView } from './auditEntry.ts'
import type { DeploymentView } from './deployment.ts'
import type { AddJwtKeyBody, JwtKeysView, JwtKeyView, JwtTestView, TestJwtBody } from './jwtKey.ts'
import type { RotateBody } from './keyState.ts'
import type { MetricsCsvQuery, MetricsQuery, MetricsView } from './metrics.ts'
import type {
  InviteBody,
  InvitesView,
  OneTimeLinkView,
  OverviewView,
  UserLimitsBody,
  UsersQuery,
  UserView,
} from './operator.ts'
import type { Page, PageQuery } from './page.ts'
import type { UsageView } from './usage.ts'

/** What is sent and what comes back where neither holds anything. */
interface Plain {
  readonly params: undefined
  readonly query: undefined
  readonly body: undefined
  readonly answer: undefined
}
type Call<Members extends Partial<Record<keyof Plain, unknown>>> = Omit<Plain, keyof Members> & Members

interface AppId {
  readonly appId: string
}
interface KeyId {
  readonly keyId: string
}
interface UserId {
  readonly userId: string
}

/**
 * The control API: for each route what stands in its path, its query and its body, and what it answers. `undefined`: nothing. A rejection
 * is a `ApiErrorView` with another status than 2xx. Times are ISO 8601 in UTC.
 *
 * Only types, so that a browser's client needs no more of this package than `import type`.
 */
export interface ControlApi {
  'GET /api/deployment': Call<{ answer: DeploymentView }>
  'GET /api/openapi.json': Call<{ answer: Readonly<Record<string, unknown>> }>

  /** Signs up and logs in: the answer sets the session's cookie. */
  'POST /api/account': Call<{ body: SignUpBody; answer: SessionView }>
  'GET /api/account': Call<{ answer: AccountView }>
  'POST /api/account/password': Call<{ body: ChangePasswordBody; answer: SessionView }>
  'POST /api/account/password/reset': Call<{ body: ResetPasswordBody; answer: SessionView }>
  'POST /api/account/delete': Call<{ body: PasswordBody }>
  /** Logs in: the answer sets the session's cookie. */
  'POST /api/session': Call<{ body: LogInBody; answer: SessionView }>
  /** Who is logged in. */
  'GET /api/session': Call<{ answer: SessionView }>
  'DELETE /api/session': Call<{}>

  /** The oldest first. */
  'GET /api/apps': Call<{ query: AppsQuery; answer: Page<AppView> & { readonly total: number } }>
  /** The answer holds the app's key, which is shown again only when it is revealed. */
  'POST /api/apps': Call<{ body: CreateAppBody; answer: { readonly app: AppView } & AppSecret }>
  'GET /api/apps/{appId}': Call<{ params: AppId; answer: AppView }>
  'PATCH /api/apps/{appId}': Call<{ params: AppId; body: EditAppBody; answer: AppView }>
  'POST /api/apps/{appId}/delete': Call<{ params: AppId; body: DeleteAppBody }>
  'PUT /api/apps/{appId}/key/expiry': Call<{ params: AppId; body: KeyExpiryBody; answer: AppView }>
  'POST /api/apps/{appId}/key/reveal': Call<{ params: AppId; body: ConfirmBody; answer: AppSecret }>
  'POST /api/apps/{appId}/key/rotate': Call<{
    params: AppId
    body: RotateBody
    answer: { readonly app: AppView } & AppSecret
  }>
  /** Ends the grace of the key from before the last rotation. */
  'DELETE /api/apps/{appId}/key/old': Call<{ params: AppId; answer: AppView }>
  'GET /api/apps/{appId}/allow-list': Call<{ params: AppId; query: AllowListQuery; answer: AllowListView }>
  'POST /api/apps/{appId}/allow-list': Call<{ params: AppId; body: AddAllowEntryBody; answer: AllowEntryView }>
  'PATCH /api/apps/{appId}/allow-list/{entryId}': Call<{
    params: AppId & { readonly entryId: string }
    body: EditAllowEntryBody
    answer: AllowEntryView
  }>
  'DELETE /api/apps/{appId}/allow-list/{entryId}': Call<{ params: AppId & { readonly entryId: string } }>
  'GET /api/apps/{appId}/jwt-keys': Call<{ params: AppId; answer: JwtKeysView }>
  'POST /api/apps/{appId}/jwt-keys': Call<{ params: AppId; body: AddJwtKeyBody; answer: JwtKeyView }>
  'DELETE /api/apps/{appId}/jwt-keys/{kid}': Call<{ params: AppId & { readonly kid: string } }>
  'POST /api/apps/{appId}/jwt-keys/test': Call<{ params: AppId; body: TestJwtBody; answer: JwtTestView }>
  'GET /api/apps/{appId}/metrics': Call<{ params: AppId; query: MetricsQuery; answer: MetricsView }>
  'GET /api/apps/{appId}/metrics.csv': Call<{ params: AppId; query: MetricsCsvQuery; answer: string }>
  'GET /api/apps/{appId}/usage': Call<{ params: AppId; answer: UsageView }>

  /** The oldest first. */
  'GET /api/keys': Call<{ answer: ApiKeysView }>
  /** The answer holds the key, which is shown again only when it is revealed. */
  'POST /api/keys': Call<{ body: CreateApiKeyBody; answer: { readonly key: ApiKeyView } & ApiKeySecret }>
  'GET /api/keys/{keyId}': Call<{ params: KeyId; answer: ApiKeyView }>
  'PATCH /api/keys/{keyId}': Call<{ params: KeyId; body: EditApiKeyBody; answer: ApiKeyView }>
  'POST /api/keys/{keyId}/reveal': Call<{ params: KeyId; body: ConfirmBody; answer: ApiKeySecret }>
  'POST /api/keys/{keyId}/rotate': Call<{
    params: KeyId
    body: RotateBody
    answer: { readonly key: ApiKeyView } & ApiKeySecret
  }>
  /** Ends the grace of the key from before the last rotation. */
  'DELETE /api/keys/{keyId}/old': Call<{ params: KeyId; answer: ApiKeyView }>
  /** Ends the key, and frees its place. */
  'POST /api/keys/{keyId}/revoke': Call<{ params: KeyId; answer: ApiKeyView }>
  'GET /api/keys/{keyId}/metrics': Call<{ params: KeyId; query: MetricsQuery; answer: MetricsView }>
  'GET /api/keys/{keyId}/metrics.csv': Call<{ params: KeyId; query: MetricsCsvQuery; answer: string }>

  /** Of the account's API keys together. */
  'GET /api/usage': Call<{ answer: UsageView }>
  /** Of all that the account has. */
  'GET /api/metrics': Call<{ query: MetricsQuery; answer: MetricsView }>
  'GET /api/metrics.csv': Call<{ query: MetricsCsvQuery; answer: string }>
  'GET /api/tokens': Call<{ answer: AccessTokensView }>
  'POST /api/tokens': Call<{ body: CreateAccessTokenBody; answer: NewAccessTokenView }>
  'DELETE /api/tokens/{tokenId}': Call<{ params: { readonly tokenId: string } }>
  /** The newest first. */
  'GET /api/audit-log': Call<{ query: PageQuery; answer: Page<AuditEntryView> }>

  'GET /api/admin/overview': Call<{ answer: OverviewView }>
  'GET /api/admin/users': Call<{ query: UsersQuery; answer: Page<UserView> }>
  'GET /api/admin/users/{userId}': Call<{ params: UserId; answer: UserView }>
  'POST /api/admin/users/{userId}/disable': Call<{ params: UserId; answer: UserView }>
  'POST /api/admin/users/{userId}/enable': Call<{ params: UserId; answer: UserView }>
  'POST /api/admin/users/{userId}/reset-link': Call<{ params: UserId; answer: OneTimeLinkView }>
  'PUT /api/admin/users/{userId}/limits': Call<{ params: UserId; body: UserLimitsBody; answer: UserView }>
  'GET /api/admin/invites': Call<{ answer: InvitesView }>
  'POST /api/admin/invites': Call<{ body: InviteBody; answer: OneTimeLinkView }>
  'DELETE /api/admin/invites/{inviteId}': Call<{ params: { readonly inviteId: string } }>
  /** The newest first, of all accounts. */
  'GET /api/admin/audit-log': Call<{ query: PageQuery; answer: Page<AuditEntryView> }>
}
