import { maxEntriesPerType } from '../../auth/allowList/allowListEntries.ts'
import type { AllowEntry } from '../../storage/allowList.ts'
import { normalizeAllowValue } from '../normalizeAllowValue.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { apiErrors } from '../apiErrors.ts'
import { createView } from '../views/createView.ts'
import { isoTimeOrNull } from '../views/times.ts'
import {
  addAllowEntryBody,
  allowEntryView,
  allowListQuery,
  allowListView,
  editAllowEntryBody,
} from '../contract/allowEntry.ts'
import type { AllowEntryView } from '../contract/controlApi.d.ts'
import { requireAccountId, route } from '../route.ts'
import type { Route } from '../route.ts'

const toEntry = createView(allowEntryView)
const toAllowEntryView = (entry: AllowEntry): AllowEntryView => ({
  ...toEntry(entry),
  lastUsedAt: isoTimeOrNull(entry.usedAt),
})

/** The routes of apps' allow lists. */
export const allowListRoutes: readonly Route[] = [
  route(
    'GET /api/apps/{appId}/allow-list',
    { summary: "Gets an app's allow list.", access: 'read', query: allowListQuery, response: allowListView },
    async ({ params, query, caller }, { storage }) => {
      const { appId } = params
      const userId = requireAccountId(caller)
      if ((await storage.apps.find({ id: appId, userId })) === undefined) return { error: apiErrors.notFound() }
      const entries = await storage.allowList.list({ appId, userId })
      return {
        response: {
          items: entries.filter(({ type }) => query.type === undefined || query.type === type).map(toAllowEntryView),
          maxPerType: maxEntriesPerType,
        },
      }
    },
  ),

  route(
    'POST /api/apps/{appId}/allow-list',
    {
      summary: 'Adds an entry to an allow list.',
      access: 'apps:write',
      status: 201,
      body: addAllowEntryBody,
      response: allowEntryView,
    },
    async ({ params, body, caller }, parts) => {
      const { now } = parts
      const { appId } = params
      const { type, label = '' } = body
      const parsed = normalizeAllowValue(type, body.value)
      if ('fix' in parsed) return { error: apiErrors.invalid([{ field: 'value', fix: parsed.fix }]) }
      const userId = requireAccountId(caller)
      const added = await changeWithAudit(
        parts,
        caller,
        ({ allowList }) =>
          allowList.add({ appId, userId, type, value: parsed.rule, label, max: maxEntriesPerType, now: now() }),
        ({ id, value }) => ({
          action: 'allowList.add',
          subject: appId,
          detail: { id, type, value, label },
          forget: { kind: 'app', id: appId },
        }),
      )
      if (added === 'notFound') return { error: apiErrors.notFound() }
      if (added === 'entryTaken') return { error: apiErrors.alreadyExists('value', 'is already on the list') }
      if (added === 'entriesFull')
        return {
          error: apiErrors.tooMany(
            `The list has ${maxEntriesPerType} entries of this type, the maximum. Remove one first.`,
          ),
        }
      return { response: toAllowEntryView(added) }
    },
  ),

  route(
    'PATCH /api/apps/{appId}/allow-list/{entryId}',
    { summary: "Changes an entry's label.", access: 'apps:write', body: editAllowEntryBody, response: allowEntryView },
    async ({ params, body, caller }, parts) => {
      const { appId, entryId: id } = params
      const userId = requireAccountId(caller)
      const edited = await changeWithAudit(
        parts,
        caller,
        ({ allowList }) => allowList.edit({ id, appId, userId, label: body.label }),
        () => ({
          action: 'allowList.edit',
          subject: appId,
          detail: { id, label: body.label },
          forget: { kind: 'app', id: appId },
        }),
      )
      return edited === 'notFound' ? { error: apiErrors.notFound() } : { response: toAllowEntryView(edited) }
    },
  ),

  route(
    'DELETE /api/apps/{appId}/allow-list/{entryId}',
    { summary: 'Removes an entry from an allow list.', access: 'apps:write' },
    async ({ params, caller }, parts) => {
      const { appId, entryId: id } = params
      const userId = requireAccountId(caller)
      const removed = await changeWithAudit(
        parts,
        caller,
        async ({ allowList }) => {
          const entry = (await allowList.list({ appId, userId })).find((one) => one.id === id)
          return entry !== undefined && (await allowList.remove({ id, appId, userId })) ? entry : 'notFound'
        },
        ({ type, value }) => ({
          action: 'allowList.remove',
          subject: appId,
          detail: { id, type, value },
          forget: { kind: 'app', id: appId },
        }),
      )
      return removed === 'notFound' ? { error: apiErrors.notFound() } : { response: undefined }
    },
  ),
]
