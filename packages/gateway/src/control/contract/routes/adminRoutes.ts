import { z } from 'zod'
import { adminAuditFilters, adminAuditQuery, auditEntryView } from '../auditEntry.ts'
import {
  inviteBody,
  invitesView,
  oneTimeLinkView,
  overviewView,
  upstreamsView,
  userLimitsBody,
  usersQuery,
  userView,
} from '../operator.ts'
import { pageSchema } from '../page.ts'
import { idText } from '../texts.ts'
import type { RoutesBelow } from '../route.ts'

const userId = z.strictObject({ userId: idText('usr') })
const inviteId = z.strictObject({ inviteId: idText('inv') })
const audit = pageSchema(auditEntryView)
const csv = z.string()

/** The routes of operators. */
export const adminRoutes: RoutesBelow<'/api/admin'> = {
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
