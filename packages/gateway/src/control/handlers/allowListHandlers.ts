import { maxEntriesPerType } from '../../auth/allowList/allowListEntries.ts'
import type { AllowEntry } from '../../storage/allowList.ts'
import { normalizeAllowValue } from '../normalizeAllowValue.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import type { AllowEntryView } from '../contract/allowEntry.ts'
import { apiErrors } from '../apiErrors.ts'
import { requireViewer } from '../handler.ts'
import type { ControlParts, Handlers } from '../handler.ts'
import { isoTime, isoTimeOrNull } from '../views/times.ts'

const toAllowEntryView = ({ id, type, value, label, createdAt, usedAt }: AllowEntry): AllowEntryView => ({
  id,
  type,
  value,
  label,
  createdAt: isoTime(createdAt),
  lastUsedAt: isoTimeOrNull(usedAt),
})

/** The routes of apps' allow lists. */
export const allowListHandlers = (
  parts: ControlParts,
): Handlers<
  | 'GET /api/apps/{appId}/allow-list'
  | 'POST /api/apps/{appId}/allow-list'
  | 'PATCH /api/apps/{appId}/allow-list/{entryId}'
  | 'DELETE /api/apps/{appId}/allow-list/{entryId}'
> => {
  const { storage, now } = parts
  return {
    'GET /api/apps/{appId}/allow-list': async ({ params, query, caller }) => {
      const { appId } = params
      const userId = requireViewer(caller).user.id
      if ((await storage.apps.find({ id: appId, userId })) === undefined) return { error: apiErrors.notFound() }
      const entries = await storage.allowList.list({ appId, userId })
      return {
        response: {
          items: entries.filter(({ type }) => query.type === undefined || query.type === type).map(toAllowEntryView),
          maxPerType: maxEntriesPerType,
        },
      }
    },

    'POST /api/apps/{appId}/allow-list': async ({ params, body, caller }) => {
      const { appId } = params
      const { type, label = '' } = body
      const parsed = normalizeAllowValue(type, body.value)
      if ('fix' in parsed) return { error: apiErrors.invalid([{ field: 'value', fix: parsed.fix }]) }
      const userId = requireViewer(caller).user.id
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

    'PATCH /api/apps/{appId}/allow-list/{entryId}': async ({ params, body, caller }) => {
      const { appId, entryId: id } = params
      const userId = requireViewer(caller).user.id
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

    'DELETE /api/apps/{appId}/allow-list/{entryId}': async ({ params, caller }) => {
      const { appId, entryId: id } = params
      const userId = requireViewer(caller).user.id
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
  }
}
