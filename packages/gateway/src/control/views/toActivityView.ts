import { floorTo, hourMs } from '../../lib/time.ts'
import type { App } from '../../storage/apps.ts'
import type { Key } from '../../storage/keys.ts'
import type { Activity, KeyActivity } from '../../usage/metering/activity.ts'
import type { ActivityItem, ActivityView, KeyTrafficView, TrafficView } from '../contract/controlApi.d.ts'
import { isoTime, isoTimeOrNull } from './times.ts'

/** How many hours an activity view covers, the current one included. */
export const activityHours = 24

/** The start of the first hour of an activity view. */
export const getActivityStart = (now: number): number => floorTo(now, hourMs) - (activityHours - 1) * hourMs

const addUp = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)
const zeros = Array.from({ length: activityHours }, () => 0)

const toTrafficView = ({ totals, failures, lastAt }: Activity): TrafficView => ({
  total: addUp(totals),
  failed: addUp(failures),
  totals,
  failures,
  lastUsedAt: isoTimeOrNull(lastAt),
})

const toItem = (
  { kind, id, name }: Pick<ActivityItem, 'kind' | 'id' | 'name'>,
  activity: Activity = { totals: zeros, failures: zeros, lastAt: null },
): ActivityItem => ({ kind, id, name, ...toTrafficView(activity) })

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

/**
 * Converts the traffic of a key to its API form.
 * @param options.hasOld - Whether the old key still works.
 */
export const toKeyTrafficView = (
  { current, old }: { current: Activity; old: Activity },
  { from, hasOld }: { from: number; hasOld: boolean },
): KeyTrafficView => ({
  from: isoTime(from),
  to: isoTime(from + activityHours * hourMs),
  current: toTrafficView(current),
  old: hasOld ? toTrafficView(old) : null,
})
