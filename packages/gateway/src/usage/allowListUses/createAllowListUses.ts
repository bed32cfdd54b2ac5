import type { Step } from '../../storage/database.ts'
import type { Storage } from '../../storage/openStorage.ts'
import { toStep } from '../../storage/steps.ts'
import type { Db } from '../../storage/tables.ts'
import type { AlongsideBatch } from '../metering/createMeterWriter.ts'
import { floorTo, minuteMs } from '../../lib/time.ts'

/** When the entries of allow lists were last used, to the minute. */
export interface AllowListUses {
  /** Returns the function to call each time an entry allows a request or a call. @param id - Of the entry. */
  track(id: string): () => void
  /** Returns the statements that store what is new, for a transaction of metering; `undefined`: nothing. */
  take(): AlongsideBatch | undefined
}

/** Entries that are written in one transaction. */
const rowsAtOnce = 100
/** Entries that wait to be written. The use of others is not recorded in that minute. */
const defaultMaxEntries = 50_000

/**
 * Creates the record of the last use of allow list entries. Each function of `track` records at most one use a minute.
 * @param options.maxEntries - Most entries that wait to be written. @default 50_000
 * @param options.now - Milliseconds since 1970. @default Date.now
 */
export const createAllowListUses = ({
  storage: { db },
  maxEntries = defaultMaxEntries,
  now = Date.now,
}: {
  storage: Pick<Storage, 'db'>
  maxEntries?: number
  now?: () => number
}): AllowListUses => {
  /** The current minute. It changes with the first transaction after it. */
  let minute = floorTo(now(), minuteMs)
  /** The minutes that are not written yet, by entry. */
  const waiting = new Map<string, number>()
  return {
    track: (id) => {
      let recorded = -1
      return () => {
        // One comparison without a look at the clock, because this is on the path of each call.
        if (recorded === minute) return
        recorded = minute
        if (waiting.size < maxEntries || waiting.has(id)) waiting.set(id, floorTo(now(), minuteMs))
      }
    },
    take: () => {
      minute = floorTo(now(), minuteMs)
      const taken: [id: string, minute: number][] = []
      for (const entry of waiting) {
        if (taken.length === rowsAtOnce) break
        taken.push(entry)
      }
      if (taken.length === 0) return undefined
      for (const [id] of taken) waiting.delete(id)
      return {
        steps: toSteps(db.kind, taken),
        rows: taken.length,
        failed: () => {
          for (const [id, at] of taken) if (!waiting.has(id)) waiting.set(id, at)
        },
      }
    },
  }
}

/** Builds one statement for each minute. It never waits for a row that another transaction has locked: the next minute writes it again. */
const toSteps = (kind: Db['kind'], taken: readonly (readonly [id: string, minute: number])[]): readonly Step[] => {
  const minutes = [...new Set(taken.map(([, at]) => at))]
  return minutes.map((at) => {
    const ids = taken.flatMap(([id, usedAt]) => (usedAt === at ? [id] : []))
    const older = `id in (${ids.map(() => '?').join(', ')}) and (used_at is null or used_at < ?)`
    const where =
      kind === 'sqlite' ? older : `id in (select id from allow_entries where ${older} for update skip locked)`
    return toStep(kind, `update allow_entries set used_at = ? where ${where}`, [at, ...ids, at])
  })
}
