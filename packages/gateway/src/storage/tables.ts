import type { Generated, Kysely } from 'kysely'

// The database has `snake_case` columns. Times are milliseconds since 1970, booleans are 0 or 1, lists and objects are JSON text, so that both
// databases return the same values.

interface UserRow {
  id: string
  email: string
  emailFolded: string
  password: string
  state: 'active' | 'disabled'
  role: 'user' | 'operator'
  limits: string | null
  createdAt: number
  quotaOwner: string | null
  emailVerifiedAt: number | null
  alertEmails: Generated<number>
  alertEmailsAll: Generated<number>
}

interface LeftUserRow {
  emailHash: Uint8Array
  quotaOwner: string
  apps: number
  leftAt: number
}

interface SessionRow {
  sha256: Uint8Array
  userId: string
  createdAt: number
  seenAt: number
  ip: string | null
  userAgent: string | null
}

interface AppRow {
  id: string
  userId: string
  name: string
  nameFolded: string
  description: string
  useCase: string
  chain: string
  services: string
  networks: string
  limits: string | null
  requireJwt: number
  jwtAudience: string | null
  jwtMaxLifetimeS: number | null
  recordDetails: Generated<number>
  version: number
  createdAt: number
}

interface AllowEntryRow {
  id: string
  appId: string
  type: 'origin' | 'ip' | 'method' | 'address' | 'userAgent'
  value: string
  label: string
  createdAt: number
  usedAt: Generated<number | null>
}

interface JwtKeyRow {
  kid: string
  appId: string
  alg: string
  publicPem: string
  fingerprint: string
  label: string
  createdAt: number
}

interface KeyRow {
  id: string
  userId: string
  appId: string | null
  kind: 'app' | 'testnet' | 'mainnet'
  /** Of an API key. */
  network: string | null
  slot: number | null
  name: string
  description: string
  sha256: Uint8Array
  ending: string
  sealed: Uint8Array | null
  oldSha256: Uint8Array | null
  oldUntil: number | null
  state: 'active' | 'revoked'
  version: number
  createdAt: number
  rotatedAt: number | null
  revokedAt: number | null
  expiresAt: number | null
  recordDetails: Generated<number>
}

interface AccessTokenRow {
  id: string
  userId: string
  sha256: Uint8Array
  scopes: string
  label: string
  createdAt: number
  seenAt: number | null
  expiresAt: number | null
}

interface InviteRow {
  id: string
  sha256: Uint8Array
  email: string | null
  createdBy: string
  createdAt: number
  expiresAt: number
  mailed: Generated<number>
}

interface OneTimeLinkRow {
  userId: string
  sha256: Uint8Array
  createdAt: number
  expiresAt: number
}

interface EmailLinkRow {
  sha256: Uint8Array
  email: string
  emailFolded: string
  userId: string | null
  createdAt: number
  expiresAt: number
}

interface WebhookRow {
  id: string
  userId: string
  url: string
  allUsers: number
  sealed: Uint8Array
  createdAt: number
}

interface QuotaAlertRow {
  account: string
  /** Days since 1970. */
  day: number
  /** Percent of the quota. */
  level: number
  createdAt: number
}

interface AlertDeliveryRow {
  id: string
  userId: string
  webhookId: string | null
  event: string
  state: 'pending' | 'delivered' | 'failed'
  attempts: number
  result: string | null
  createdAt: number
  attemptedAt: number | null
  nextAttemptAt: number | null
}

interface AuditRow {
  id: Generated<number>
  at: number
  userId: string | null
  actor: string
  action: string
  subject: string | null
  ip: string | null
  detail: string | null
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

interface RequestLogRow {
  keyId: string
  at: number
  id: string
  method: string | null
  outcome: string
  code: number | null
  message: string | null
  status: number
  durationUs: number
  network: string
  requestId: string
  calls: number
  failedCalls: number
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
  usedSignOns: { sha256: Uint8Array; expiresAt: number }
  webhooks: WebhookRow
  quotaAlerts: QuotaAlertRow
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
}

/** A database, or a transaction in it. */
export interface Db {
  readonly query: Kysely<Tables>
  readonly kind: 'sqlite' | 'postgres'
}
