import type { Generated, Kysely } from 'kysely'
import type { Network } from '../lib/network.ts'
import type { ApiKeyKind } from '../lib/secrets/apiKey.ts'
import { count, flag, json, jsonOrNull, nullable, plain } from './columns.ts'
import type { RowOf } from './columns.ts'

// The database has `snake_case` columns. Times are milliseconds since 1970, booleans are 0 or 1, lists and objects are JSON text, so that both
// databases return the same values.

/** The columns of accounts that other parts of the service see. The account of a team has a row too. */
export const accountColumns = {
  id: plain<string>(),
  /** As entered, without leading and trailing spaces. Of the account of a team: its name. */
  email: plain<string>(),
  state: plain<'active' | 'disabled'>(),
  role: plain<'user' | 'operator'>(),
  /** Overrides of the service's limits. */
  limits: jsonOrNull,
  /** In milliseconds since 1970, like all times in the storage. */
  createdAt: plain<number>(),
  /** When the user proved that the email address is theirs; `null` if they have not. */
  emailVerifiedAt: nullable<number>(),
  /** Whether it has a second factor. `Factors` maintains it. */
  hasSecondFactor: flag,
}

/** The columns of accounts that are members of `User`. */
export const userColumns = {
  ...accountColumns,
  /** The password hash as a PHC string; empty if the account has no password. */
  password: plain<string>(),
}

/** What the owner of a team requires of its members. */
export const teamRuleColumns = {
  /** Whether a member without a second factor has no access. */
  membersNeedSecondFactor: flag,
}

interface TeamRow extends RowOf<typeof teamRuleColumns> {
  id: string
  createdBy: string
}

/** The alerts that a user gets by email. */
export const alertEmailColumns = {
  /** About the own account. */
  alertEmails: flag,
  /** About the accounts of all users, for operators. */
  alertEmailsAll: flag,
  /** About problems of the service, for operators. */
  alertEmailsService: flag,
}

/** When an account is alerted about its calls. */
export interface AlertRules {
  /** The rules look at the calls of so many last minutes. */
  readonly minutes: number
  /** Fewer calls cause no alert. */
  readonly minCalls: number
  /** The failed calls in percent that cause an alert; `null`: none does. */
  readonly errorPercent: number | null
  /** The 95th percentile in milliseconds that causes an alert; `null`: none does. */
  readonly latencyMs: number | null
}

interface UserRow extends RowOf<typeof userColumns> {
  emailFolded: string
  quotaOwner: string | null
  alertEmails: Generated<number>
  alertEmailsAll: Generated<number>
  alertEmailsService: Generated<number>
  /** `AlertRules` as JSON; `null`: none. */
  alertRules: string | null
}

/** The roles of members, the most powerful first. */
export const memberRoles = ['owner', 'admin', 'developer', 'viewer'] as const

/** What a member of an account may do. */
export type MemberRole = (typeof memberRoles)[number]

/** The columns of members of teams that are members of `Member`. */
export const memberColumns = {
  accountId: plain<string>(),
  userId: plain<string>(),
  role: plain<MemberRole>(),
  /** Whether a group at the OpenID Connect provider gave the role, which takes it away again. */
  byGroup: flag,
  createdAt: plain<number>(),
}

/** The columns of invites to teams that are members of `MemberInvite`. */
export const memberInviteColumns = {
  id: plain<string>(),
  accountId: plain<string>(),
  /** The only email address that can use it. */
  email: plain<string>(),
  role: plain<MemberRole>(),
  /** The id of the member who created it. */
  createdBy: plain<string>(),
  createdAt: plain<number>(),
  expiresAt: plain<number>(),
}

interface MemberInviteRow extends RowOf<typeof memberInviteColumns> {
  sha256: Uint8Array
}

interface LeftUserRow {
  emailHash: Uint8Array
  quotaOwner: string
  apps: number
  leftAt: number
}

/** The columns of sessions that are members of `Session`. */
export const sessionColumns = {
  userId: plain<string>(),
  createdAt: plain<number>(),
  /** When it was last used. Not updated on each use. */
  seenAt: plain<number>(),
  ip: nullable<string>(),
  /** The `User-Agent` header, cut to 200 characters. */
  userAgent: nullable<string>(),
  /** When it last proved a second factor; `null`: never. */
  factorAt: nullable<number>(),
}

interface SessionRow extends RowOf<typeof sessionColumns> {
  sha256: Uint8Array
}

/** What the request log records. An app's key has the app's setting. */
export const recordingColumns = {
  /** Whether it records excerpts of params and responses. */
  recordDetails: flag,
}

/** What an app or API key asks for beyond the confirmed reads of a network. An app's key has the app's settings. */
export const confirmColumns = {
  /** How many independent nodes must agree on a read; 0: as the network says. */
  confirmNodes: count,
  /** Whether a call may ask for more by a header. */
  confirmHeader: flag,
}

/** What an app requires of JWTs. */
export const jwtColumns = {
  /** Whether each request needs one. */
  requireJwt: flag,
  /** The value that a token's `aud` must equal or contain; `null`: any. */
  jwtAudience: nullable<string>(),
  /** How far in the future a token's `exp` may be, in seconds; `null`: a day. */
  jwtMaxLifetimeS: nullable<number>(),
}

/** The columns of apps that a user can change. */
export const appSettings = {
  name: plain<string>(),
  description: plain<string>(),
  useCase: plain<string>(),
  chain: plain<string>(),
  /** For example `Node API`. */
  services: json<readonly string[]>(),
  /** The networks on which its key may be used. */
  networks: json<readonly Network[]>(),
  /** Overrides of the service's limits. */
  limits: jsonOrNull,
  ...jwtColumns,
  ...recordingColumns,
  ...confirmColumns,
}

/** The columns of apps that are members of `App`. */
export const appColumns = {
  id: plain<string>(),
  userId: plain<string>(),
  ...appSettings,
  /** Increases with each change of the app, its key, its allow list or its JWT keys. */
  version: plain<number>(),
  createdAt: plain<number>(),
}

interface AppRow extends RowOf<typeof appColumns> {
  nameFolded: string
}

/** The columns of allow list entries that are members of `AllowEntry`. */
export const allowEntryColumns = {
  id: plain<string>(),
  type: plain<'origin' | 'ip' | 'method' | 'address' | 'userAgent'>(),
  /** In the normalized form in which it is compared. The caller normalizes it. */
  value: plain<string>(),
  label: plain<string>(),
  createdAt: plain<number>(),
  /** The minute in which it was last used; `null`: never. */
  usedAt: nullable<number>(),
}

interface AllowEntryRow extends RowOf<typeof allowEntryColumns> {
  appId: string
}

/** The columns of JWT keys that are members of `JwtKey`. */
export const jwtKeyColumns = {
  /** The key id in a token's header. Unique in the service. */
  kid: plain<string>(),
  alg: plain<string>(),
  publicPem: plain<string>(),
  fingerprint: plain<string>(),
  label: plain<string>(),
  createdAt: plain<number>(),
}

interface JwtKeyRow extends RowOf<typeof jwtKeyColumns> {
  appId: string
}

/** The columns of keys that a user can change. */
export const keySettings = {
  /** Empty for an app's key. */
  name: plain<string>(),
  description: plain<string>(),
  expiresAt: nullable<number>(),
  ...recordingColumns,
  ...confirmColumns,
}

/** The columns of keys that are members of `Key`. */
export const keyColumns = {
  id: plain<string>(),
  userId: plain<string>(),
  /** The app of the key; `null` for an API key. */
  appId: nullable<string>(),
  kind: plain<ApiKeyKind>(),
  /** Of an API key; `null` for an app's key. */
  network: nullable<Network>(),
  ...keySettings,
  ending: plain<string>(),
  /** An expired key stays `active`: callers check `expiresAt`. */
  state: plain<'active' | 'revoked'>(),
  /** Until when the previous key works, from before the last rotation; `null` if there is none. */
  oldUntil: nullable<number>(),
  /** Increases with each change. */
  version: plain<number>(),
  createdAt: plain<number>(),
  rotatedAt: nullable<number>(),
  revokedAt: nullable<number>(),
}

interface KeyRow extends RowOf<typeof keyColumns> {
  /** Of an API key. */
  slot: number | null
  sha256: Uint8Array
  sealed: Uint8Array | null
  oldSha256: Uint8Array | null
}

/** The columns of access tokens that are members of `AccessToken`. */
export const accessTokenColumns = {
  id: plain<string>(),
  /** The account that it belongs to: the id of a user or of a team. */
  userId: plain<string>(),
  /** Of a token of a team: the member. `null`: the user of the account. */
  memberId: nullable<string>(),
  scopes: json<readonly string[]>(),
  label: plain<string>(),
  createdAt: plain<number>(),
  seenAt: nullable<number>(),
  expiresAt: nullable<number>(),
}

interface AccessTokenRow extends RowOf<typeof accessTokenColumns> {
  sha256: Uint8Array
}

/** The columns of invites that are members of `Invite`. */
export const inviteColumns = {
  id: plain<string>(),
  /** The only email address that can use it; `null`: any. */
  email: nullable<string>(),
  /** The author: the id of a user, or a name such as `operator`. */
  createdBy: plain<string>(),
  createdAt: plain<number>(),
  expiresAt: plain<number>(),
  /** Whether the service sent it to `email`, so that it proves the address. */
  mailed: flag,
}

interface InviteRow extends RowOf<typeof inviteColumns> {
  sha256: Uint8Array
}

/** The columns of one-time links that are members of `OneTimeLink`. */
export const oneTimeLinkColumns = {
  userId: plain<string>(),
  createdAt: plain<number>(),
  expiresAt: plain<number>(),
}

interface OneTimeLinkRow extends RowOf<typeof oneTimeLinkColumns> {
  sha256: Uint8Array
}

/** The columns of email links that are members of `EmailLink`. */
export const emailLinkColumns = {
  email: plain<string>(),
  /** The account that gets this address; `null` to sign up with it. */
  userId: nullable<string>(),
  createdAt: plain<number>(),
  expiresAt: plain<number>(),
}

interface EmailLinkRow extends RowOf<typeof emailLinkColumns> {
  sha256: Uint8Array
  emailFolded: string
}

/** The columns of webhooks. */
export const webhookColumns = {
  id: plain<string>(),
  userId: plain<string>(),
  url: plain<string>(),
  /** Whether it gets alerts about the accounts of all users, as operators can have it. */
  allUsers: flag,
  /** Whether it gets alerts about problems of the service, as operators can have it. */
  aboutService: flag,
  /** The sealed secrets that sign its requests, as `rotateWebhookSecret` returns them. */
  sealed: plain<Uint8Array>(),
  createdAt: plain<number>(),
}

interface QuotaAlertRow {
  account: string
  /** Days since 1970. */
  day: number
  /** Percent of the quota. */
  level: number
  createdAt: number
}

/** The columns of alerts about something that lasts. */
export const alertStateColumns = {
  /** Such as `errors` or `network`. */
  kind: plain<string>(),
  /** The quota of the app or the API keys, such as `app:app_…`, or what of the service it is about. */
  subject: plain<string>(),
  /** The account; `null` for the service. */
  userId: nullable<string>(),
  startedAt: plain<number>(),
  /** `null`: it lasts. */
  resolvedAt: nullable<number>(),
}

/** The columns of alerts to send that are members of `AlertDelivery`. */
export const alertDeliveryColumns = {
  id: plain<string>(),
  /** The user who gets it. */
  userId: plain<string>(),
  /** `null`: by email. */
  webhookId: nullable<string>(),
  /** The `AlertEvent` as JSON. */
  event: plain<string>(),
  state: plain<'pending' | 'delivered' | 'failed'>(),
  attempts: plain<number>(),
  /** Of the last attempt, such as `HTTP 500`. */
  result: nullable<string>(),
  createdAt: plain<number>(),
  attemptedAt: nullable<number>(),
}

interface AlertDeliveryRow extends RowOf<typeof alertDeliveryColumns> {
  nextAttemptAt: number | null
}

/** The columns of the audit log that are members of `AuditEntry`. */
export const auditColumns = {
  at: plain<number>(),
  /** The account that is affected, if any. */
  userId: nullable<string>(),
  /** The author: the id of a user, or a name such as `operator`. */
  actor: plain<string>(),
  /** For example `key.revoke`. */
  action: plain<string>(),
  /** The id of the object that was affected. */
  subject: nullable<string>(),
  ip: nullable<string>(),
  detail: jsonOrNull,
}

interface AuditRow extends RowOf<typeof auditColumns> {
  id: Generated<number>
}

interface ChangeRow {
  seq: number
  kind: 'user' | 'app' | 'key'
  subject: string
}

interface AccountDayRow {
  account: string
  /** Days since 1970. */
  day: number
  /** The run of the process that was charged; `''`: merged. */
  run: string
  /** Units. */
  charged: number
}

interface UsageKeyRow {
  keyId: string
  appId: string | null
  userId: string | null
}

interface UsageRow {
  at: number
  keyId: string
  total: number
  counts: string
  /** The units and bytes of the counts. */
  used: string
  /** How many of the counted calls had their result in the chain store. */
  stored: string
}

interface UsageMinuteRow extends UsageRow {
  run: string
}

interface UsagePendingRow {
  level: 'hour' | 'day'
  at: number
  run: string
  version: number
}

interface UsageStateRow {
  id: number
  minutesFrom: number
  hoursFrom: number
  daysFrom: number
  leader: string | null
  leaderUntil: number
}

/** The columns of second factors. */
export const factorColumns = {
  id: plain<string>(),
  userId: plain<string>(),
  /** `totp`: an authenticator app. */
  kind: plain<'totp' | 'passkey'>(),
  label: plain<string>(),
  /** The sealed secret of an authenticator app. */
  sealed: nullable<Uint8Array>(),
  /** Of a passkey, in base64url. */
  credentialId: nullable<string>(),
  publicKey: nullable<Uint8Array>(),
  /** How browsers reach a passkey, such as `usb`. */
  transports: json<readonly string[]>(),
  /** The time step of the last code of an app, or the signature counter of a passkey. */
  counter: plain<number>(),
  createdAt: plain<number>(),
  usedAt: nullable<number>(),
}

/** The requests of a log that a saved filter selects. */
export interface StoredFilters {
  readonly method?: string
  /** An outcome, or `failed`. */
  readonly outcome?: string
  readonly network?: Network
  readonly keyEnding?: string
}

/** The columns of saved filters: a list of each user for each log, which is that of a key. */
export const savedFilterColumns = {
  keyId: plain<string>(),
  userId: plain<string>(),
  items: json<readonly { readonly name: string; readonly filters: StoredFilters }[]>(),
}

/** The columns of the custom errors of apps. */
export const contractErrorColumns = {
  appId: plain<string>(),
  /** Such as `error Foo(uint256 a)`. */
  signatures: json<readonly string[]>(),
}

interface RequestLogRow {
  keyId: string
  at: number
  id: string
  method: string | null
  outcome: string
  code: number | null
  message: string | null
  /** Hex, cut; of a reverted call. */
  revertData: string | null
  status: number
  durationUs: number
  network: string
  requestId: string
  calls: number
  failedCalls: number
  storedCalls: number
  keyEnding: string | null
  origin: string | null
  ipBlock: string | null
  requestBytes: number | null
  responseBytes: number | null
  transport: 'http' | 'websocket'
}

interface RequestExcerptRow {
  keyId: string
  at: number
  id: string
  params: string | null
  response: string | null
}

/** The tables, by their names in the query builder. */
export interface Tables {
  users: UserRow
  teams: TeamRow
  members: RowOf<typeof memberColumns>
  memberInvites: MemberInviteRow
  leftUsers: LeftUserRow
  sessions: SessionRow
  apps: AppRow
  removedApps: { id: string; userId: string; removedAt: number }
  allowEntries: AllowEntryRow
  jwtKeys: JwtKeyRow
  keys: KeyRow
  accessTokens: AccessTokenRow
  invites: InviteRow
  oneTimeLinks: OneTimeLinkRow
  emailLinks: EmailLinkRow
  identities: { issuer: string; subject: string; userId: string; createdAt: number }
  factors: RowOf<typeof factorColumns>
  recoveryCodes: { userId: string; sha256: Uint8Array }
  usedSignOns: { sha256: Uint8Array; expiresAt: number }
  webhooks: RowOf<typeof webhookColumns>
  quotaAlerts: QuotaAlertRow
  alertStates: RowOf<typeof alertStateColumns>
  alertDeliveries: AlertDeliveryRow
  alertState: { id: number; leader: string | null; leaderUntil: number }
  auditLog: AuditRow
  revision: { id: number; seq: number }
  changes: ChangeRow
  accountDays: AccountDayRow
  usageKeys: UsageKeyRow
  usageMinutes: UsageMinuteRow
  usageHours: UsageRow
  usageDays: UsageRow
  usagePending: UsagePendingRow
  usageState: UsageStateRow
  requestLog: RequestLogRow
  requestExcerpts: RequestExcerptRow
  savedFilters: RowOf<typeof savedFilterColumns>
  contractErrors: RowOf<typeof contractErrorColumns>
}

/** A database, or a transaction in it. */
export interface Db {
  readonly query: Kysely<Tables>
  readonly kind: 'sqlite' | 'postgres'
}
