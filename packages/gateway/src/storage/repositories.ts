import { createAccessTokens } from './accessTokens.ts'
import type { AccessTokens } from './accessTokens.ts'
import { createAlerts } from './alerts.ts'
import type { Alerts } from './alerts.ts'
import { createAllowList } from './allowList.ts'
import type { AllowList } from './allowList.ts'
import { createApps } from './apps.ts'
import type { Apps } from './apps.ts'
import { createAuditLog } from './auditLog.ts'
import type { AuditLog } from './auditLog.ts'
import { createChanges } from './changes.ts'
import type { Changes } from './changes.ts'
import { createContractErrors } from './contractErrors.ts'
import type { ContractErrors } from './contractErrors.ts'
import { createEmailLinks } from './emailLinks.ts'
import type { EmailLinks } from './emailLinks.ts'
import { createFactors } from './factors.ts'
import type { Factors } from './factors.ts'
import { createIdentities } from './identities.ts'
import type { Identities } from './identities.ts'
import { createInvites } from './invites.ts'
import type { Invites } from './invites.ts'
import { createJwtKeys } from './jwtKeys.ts'
import type { JwtKeys } from './jwtKeys.ts'
import { createKeys } from './keys.ts'
import type { Keys } from './keys.ts'
import { createLeftUsers } from './leftUsers.ts'
import type { LeftUsers } from './leftUsers.ts'
import { createMembers } from './members.ts'
import type { Members } from './members.ts'
import { createOneTimeLinks } from './oneTimeLinks.ts'
import type { OneTimeLinks } from './oneTimeLinks.ts'
import { createRequestLog } from './requestLog.ts'
import type { RequestLog } from './requestLog.ts'
import { createSavedFilters } from './savedFilters.ts'
import type { SavedFilters } from './savedFilters.ts'
import { createSessions } from './sessions.ts'
import type { Sessions } from './sessions.ts'
import type { Db } from './tables.ts'
import { createTeams } from './teams.ts'
import type { Teams } from './teams.ts'
import { createUsers } from './users.ts'
import type { Users } from './users.ts'
import { createWebhooks } from './webhooks.ts'
import type { Webhooks } from './webhooks.ts'

/** All repositories. */
export interface Repositories {
  readonly users: Users
  readonly teams: Teams
  readonly members: Members
  readonly sessions: Sessions
  readonly apps: Apps
  readonly allowList: AllowList
  readonly jwtKeys: JwtKeys
  readonly keys: Keys
  readonly accessTokens: AccessTokens
  readonly invites: Invites
  readonly oneTimeLinks: OneTimeLinks
  readonly emailLinks: EmailLinks
  readonly factors: Factors
  readonly identities: Identities
  readonly webhooks: Webhooks
  readonly alerts: Alerts
  readonly leftUsers: LeftUsers
  readonly auditLog: AuditLog
  readonly changes: Changes
  readonly requestLog: RequestLog
  readonly savedFilters: SavedFilters
  readonly contractErrors: ContractErrors
}

/** Creates the repositories of a database or a transaction. */
export const createRepositories = (db: Db): Repositories => ({
  users: createUsers(db),
  teams: createTeams(db),
  members: createMembers(db),
  sessions: createSessions(db),
  apps: createApps(db),
  allowList: createAllowList(db),
  jwtKeys: createJwtKeys(db),
  keys: createKeys(db),
  accessTokens: createAccessTokens(db),
  invites: createInvites(db),
  oneTimeLinks: createOneTimeLinks(db),
  emailLinks: createEmailLinks(db),
  factors: createFactors(db),
  identities: createIdentities(db),
  webhooks: createWebhooks(db),
  alerts: createAlerts(db),
  leftUsers: createLeftUsers(db),
  auditLog: createAuditLog(db),
  changes: createChanges(db),
  requestLog: createRequestLog(db),
  savedFilters: createSavedFilters(db),
  contractErrors: createContractErrors(db),
})
