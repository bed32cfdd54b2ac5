import { setImmediate as nextRound } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Network } from '../../lib/network.ts'
import type { Storage } from '../../storage/openStorage.ts'
import { readRows } from './activityRows.ts'
import { toOldKeyId } from '../../storage/toOldKeyId.ts'
import { unpackCounts, unpackUse } from './usageCounts.ts'
import { splitByTable } from './usagePlan.ts'
import { readState } from './usageRows.ts'

/** Selects usage of all accounts. */
export interface UsageQuery {
  /** The start of a UTC day, in milliseconds since 1970. */
  readonly from: number
  /** The same, exclusive. */
  readonly to: number
  readonly step: 'day' | 'month'
  /** Only that of this user. @default all */
  readonly userId?: string | undefined
  /** Only keys after this one, in the order of their ids. @default all */
  readonly after?: string | undefined
  /** No further key is read once there are so many rows. */
  readonly minRows: number
}

/** What one app or API key used with one method, on one network, in one day or month. */
export interface UsageItem {
  readonly userId: string | null
  readonly appId: string | null
  /** `null` for an app, which has one key. */
  readonly keyId: string | null
  readonly network: Network
  readonly method: string
  /** `2026-11-21`, or `2026-11`. */
  readonly at: string
  calls: number
  units: number
  bytes: number
}

interface UsageKey {
  /** As stored, which is the order of keys. */
  readonly keyId: string
  /** The same, or the id of its key for calls with the old key of a rotation. */
  readonly id: string
  readonly appId: string | null
  readonly userId: string | null
}

/** Keys that one query reads: a day of a key that is not rolled up has a row for each minute and process. */
const keysPerQuery = 20

/** Finds the next keys, in the order of an index, so that no others are read. The calls with an old key are read with those of its key. */
const findKeys = ({ query }: Storage['db'], { userId, after }: UsageQuery): Promise<readonly UsageKey[]> => {
  const id = sql<string>`replace(${sql.ref('keys.keyId')}, ${toOldKeyId('')}, '')`
  return query
    .selectFrom('usageKeys as keys')
    .select(['keys.keyId', 'keys.appId', 'keys.userId', id.as('id')])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('usageKeys as current')
            .select('current.keyId')
            .where('current.keyId', '=', id)
            .whereRef('current.keyId', '<>', 'keys.keyId'),
        ),
      ),
    )
    .$if(userId !== undefined, (keys) => keys.where('keys.userId', '=', userId ?? ''))
    .$if(after !== undefined, (keys) => keys.where('keys.keyId', '>', after ?? ''))
    .orderBy('keys.keyId')
    .limit(keysPerQuery)
    .execute()
}

const addRow = (
  items: Map<string, UsageItem>,
  { id, appId, userId }: UsageKey,
  { at, counts, used }: { readonly at: string; readonly counts: string; readonly used: string },
): void => {
  const getItem = (method: string, network: Network): UsageItem => {
    const name = JSON.stringify([id, at, network, method])
    let item = items.get(name)
    if (item === undefined) {
      const keyId = appId === null ? id : null
      items.set(name, (item = { userId, appId, keyId, network, method, at, calls: 0, units: 0, bytes: 0 }))
    }
    return item
  }
  for (const [method, network, , total] of unpackCounts(counts) ?? []) getItem(method, network).calls += total
  for (const [method, network, , units, bytes] of unpackUse(used) ?? []) {
    const item = getItem(method, network)
    item.units += units
    item.bytes += bytes
  }
}

/**
 * Reads what was used, with the units that the limits charged, in the order of keys. It has counts once the meter has written them, half a second
 * later.
 * @returns The rows of some keys, and the last of these keys; `undefined`: there are no more.
 */
export const readUsage = async (
  { db }: Pick<Storage, 'db'>,
  query: UsageQuery,
): Promise<{ readonly items: readonly UsageItem[]; readonly last: string | undefined }> => {
  const { from, to, step, minRows } = query
  const parts = splitByTable(await readState(db), { from, to, step: 'day' }).filter((part) => part.from < part.to)
  const length = step === 'day' ? 10 : 7
  const items = new Map<string, UsageItem>()
  let { after } = query
  for (;;) {
    const keys = await findKeys(db, { ...query, after })
    const byId = new Map(keys.flatMap((key) => [key.id, toOldKeyId(key.id)].map((id) => [id, key] as const)))
    for (const part of keys.length === 0 ? [] : parts)
      for (const { keyId, at, counts, used } of await readRows(db, part, [...byId.keys()])) {
        const key = byId.get(keyId)
        if (key !== undefined) addRow(items, key, { at: new Date(at).toISOString().slice(0, length), counts, used })
      }
    if (keys.length < keysPerQuery) return { items: [...items.values()], last: undefined }
    after = keys.at(-1)?.keyId
    if (items.size >= minRows) return { items: [...items.values()], last: after }
    await nextRound()
  }
}
