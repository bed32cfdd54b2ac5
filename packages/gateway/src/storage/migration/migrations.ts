import { firstTables } from './0001FirstTables.ts'
import { usageTables } from './0002Usage.ts'
import { accountTables } from './0003Accounts.ts'
import { jwtSettings } from './0004JwtSettings.ts'
import { removedApps } from './0005RemovedApps.ts'
import { leftUsers } from './0006LeftUsers.ts'
import { plainNames } from './0007PlainNames.ts'
import { accountDays } from './0008AccountDays.ts'
import { usagePartitions } from './0009UsagePartitions.ts'
import { networks } from './0010Networks.ts'
import { requestLog } from './0011RequestLog.ts'
import { emails } from './0012Emails.ts'
import { alerts } from './0013Alerts.ts'
import { identities } from './0014Identities.ts'
import { allowListUses } from './0015AllowListUses.ts'
import { emailIdentities } from './0016EmailIdentities.ts'
import { lookAlikeEmails } from './0017LookAlikeEmails.ts'
import { auditIndexes } from './0018AuditIndexes.ts'
import { secondFactors } from './0019SecondFactors.ts'
import { usageUnits } from './0020UsageUnits.ts'
import { teams } from './0021Teams.ts'
import { storedCalls } from './0022StoredCalls.ts'
import { confirmedReads } from './0023ConfirmedReads.ts'
import { lastingAlerts } from './0024LastingAlerts.ts'
import { requestPanel } from './0025RequestPanel.ts'
import type { Migration } from './migration.ts'

/** All migrations in order, starting with version 1. */
export const migrations: readonly Migration[] = [
  firstTables,
  usageTables,
  accountTables,
  jwtSettings,
  removedApps,
  leftUsers,
  plainNames,
  accountDays,
  usagePartitions,
  networks,
  requestLog,
  emails,
  alerts,
  identities,
  allowListUses,
  emailIdentities,
  lookAlikeEmails,
  auditIndexes,
  secondFactors,
  usageUnits,
  teams,
  storedCalls,
  confirmedReads,
  lastingAlerts,
  requestPanel,
]
