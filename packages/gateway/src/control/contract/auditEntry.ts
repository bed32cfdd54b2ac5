import { z } from 'zod'
import { pageMembers, pageOf } from './page.ts'
import { idText, timeText } from './texts.ts'

const recordId = z.string().regex(/^[0-9A-Za-z_]{1,40}$/, { error: 'must be an id, such as that of an app' })

const filters = {
  action: z
    .string()
    .regex(/^[a-z][a-zA-Z]{0,31}(?:\.[a-z][a-zA-Z]{0,31})?$/, {
      error: 'must be an action such as key.rotate, or a group such as key',
    })
    .exactOptional()
    .describe('An action, such as `key.rotate`, or a group of actions, such as `key`.'),
  actor: recordId
    .exactOptional()
    .describe('Only entries by this author: the id of a user or access token, `operator` or `nobody`.'),
  subject: recordId.exactOptional().describe('Only entries about the object with this id.'),
  from: timeText.exactOptional().describe('Only entries from this time on.'),
  to: timeText.exactOptional().describe('Only entries before this time.'),
}
const userId = idText('(?:usr|acc)').exactOptional()

export const auditFilters = z.strictObject(filters).describe('Filters the audit log.')

export const auditQuery = z.strictObject({ ...pageMembers, ...filters }).describe('Selects a page of the audit log.')

export const adminAuditFilters = z
  .strictObject({ ...filters, userId: userId.describe('Only entries about this account.') })
  .describe('Filters the audit log of all accounts.')

export const adminAuditQuery = z
  .strictObject({
    ...pageMembers,
    ...filters,
    userId: userId.describe('Only entries about this account.'),
  })
  .describe('Selects a page of the audit log of all accounts.')

export const auditEntryView = z
  .strictObject({
    id: z.int(),
    at: timeText,
    userId: z.string().nullable().describe('The account that was changed: the id of a user or of a team.'),
    userEmail: z.string().nullable().describe('Its email address, or the name of the team; `null` if it was deleted.'),
    actor: z
      .string()
      .describe(
        'The author of the change: the id of a user or access token, `operator` for the command line, or `nobody` if nobody was logged in.',
      ),
    actorName: z
      .string()
      .nullable()
      .describe(
        'The email address of the user, or the label of the access token, with its user in a team; `null` if it was deleted, or is no member of the account and you are no operator.',
      ),
    action: z.string().describe('Such as `key.rotate`.'),
    subject: z.string().nullable().describe('The id of the object that was changed.'),
    subjectName: z.string().nullable().describe('Its name; `null` if it was deleted or has none.'),
    ip: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'AuditEntry', description: 'A logged change of an account or of something it owns.' })

export const auditEntriesView = pageOf(auditEntryView).describe('A page of the audit log.')
