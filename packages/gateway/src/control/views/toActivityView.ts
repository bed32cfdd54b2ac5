import type { App } from '../../storage/apps.ts'
import type { Key } from '../../storage/keys.ts'
import type { KeyActivity } from '../../usage/metering/activity.ts'
import type { ActivityItem, ActivityView } from '../contract/activity.ts'
import { isoTime, isoTimeOrNull } from './times.ts'

/** How many hours an activity view covers, the current one included. */
export const activityHours = 24

const hourMs = 3_600_000

/** The start of the first hour of an activity view. */
export const getActivityStart = (now: number): number =>
  Math.floor(now / hourMs) * hourMs - (activityHours - 1) * hourMs

const addUp = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)
const zeros = Array.from({ length: activityHours }, () => 0)

const toItem = (
  { kind, id, name }: Pick<ActivityItem, 'kind' | 'id' | 'name'>,
  { totals, failures, lastAt }: Pick<KeyActivity, 'totals' | 'failures' | 'lastAt'> = {
    totals: zeros,
    failures: zeros,
    lastAt: null,
  },
): ActivityItem => ({
  kind,
  id,
  name,
  total: addUp(totals),
  failed: addUp(failures),
  totals,
  failures,
  lastUsedAt: isoTimeOrNull(lastAt),
})

/** Converts the activity of keys to its API form, by app and API key. */
export const toActivityView = (
  activity: readonly KeyActivity[],
  { apps, keys, from }: { apps: readonly App[]; keys: readonly Key[]; from: number },
): ActivityView => {
  const byApp = new Map(activity.map((one) => [one.appId, one]))
  const byKey = new Map(activity.map((one) => [one.keyId, one]))
  return {
    from: isoTime(from),
    to: isoTime(from + activityHours * hourMs),
    total: addUp(activity.flatMap(({ totals }) => totals)),
    failed: addUp(activity.flatMap(({ failures }) => failures)),
    items: [
      ...apps.map(({ id, name }) => toItem({ kind: 'app', id, name }, byApp.get(id))),
      ...keys.map(({ id, name }) => toItem({ kind: 'apiKey', id, name }, byKey.get(id))),
    ],
  }
}
