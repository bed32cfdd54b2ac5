import { maxEntriesPerType } from '../../auth/allowList/allowListEntries.ts'
import type { AllowEntry } from '../../storage/allowList.ts'
import { readAllowValue } from '../allowValue.ts'
import { change } from '../change.ts'
import type { AllowEntryView } from '../contract/allowEntry.ts'
import { apiErrors } from '../apiErrors.ts'
import { viewerOf } from '../handler.ts'
import type { ControlParts, Handlers } from '../handler.ts'
import { isoTime } from '../views/times.ts'

const show = ({ id, type, value, label, createdAt }: AllowEntry): AllowEntryView => ({
  id,
  type,
  value,
  label,
  createdAt: isoTime(createdAt),
})

/** The allow lists of apps. */
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
      const userId = viewerOf(caller).user.id
      if ((await storage.apps.find({ id: appId, userId })) === undefined) return { rejection: apiErrors.notFound() }
      const entries = await storage.allowList.list({ appId, userId })
      return {
        answer: {
          items: entries.filter(({ type }) => query.type === undefined || query.type === type).map(show),
          maxPerType: maxEntriesPerType,
        },
      }
    },

    'POST /api/apps/{appId}/allow-list': async ({ params, body, caller }) => {
      const { appId } = params
      const { type, label = '' } = body
      const reading = readAllowValue(type, body.value)
      if ('fix' in reading) return { rejection: apiErrors.invalid([{ field: 'value', fix: reading.fix }]) }
      const userId = viewerOf(caller).user.id
      const added = await change(
        parts,
        caller,
        ({ allowList }) =>
          allowList.add({ appId, userId, type, value: reading.rule, label, max: maxEntriesPerType, now: now() }),
        ({ id, value }) => ({
          action: 'allowList.add',
          subject: appId,
          detail: { id, type, value, label },
          forget: { kind: 'app', id: appId },
        }),
      )
      if (added === 'notFound') return { rejection: apiErrors.notFound() }
      if (added === 'entryTaken') return { rejection: apiErrors.alreadyExists('value', 'is on the list already') }
      if (added === 'entriesFull')
        return {
          rejection: apiErrors.tooMany(
            `the list has ${maxEntriesPerType} entries of this type, which is the most: remove one first`,
          ),
        }
      return { answer: show(added) }
    },

    'PATCH /api/apps/{appId}/allow-list/{entryId}': async ({ params, body, caller }) => {
      const { appId, entryId: id } = params
      const userId = viewerOf(caller).user.id
      const edited = await change(
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
      return edited === 'notFound' ? { rejection: apiErrors.notFound() } : { answer: show(edited) }
    },

    'DELETE /api/apps/{appId}/allow-list/{entryId}': async ({ params, caller }) => {
      const { appId, entryId: id } = params
      const userId = viewerOf(caller).user.id
      const removed = await change(
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
      return removed === 'notFound' ? { rejection: apiErrors.notFound() } : { answer: undefined }
    },
  }
}
