import { randomBytes } from 'node:crypto'
import type { AlongsideBatch } from '../metering/createMeterWriter.ts'
import type { AccountDays, ChargedRow } from './accountDays.ts'

/** The units that this process charged to quotas, so that Redis can be seeded if it loses its data. */
export interface Ledger {
  /** Adds units of a day to a quota; negative ones were returned. */
  add(account: string, day: number, units: number): void
  /** Returns what is not written yet, up to 5,000 rows; `undefined`: nothing. */
  take(): AlongsideBatch | undefined
}

interface Entry {
  readonly account: string
  readonly day: number
  readonly run: string
  charged: number
}

/** Rows in one transaction. */
const maxRows = 5_000
/** Quotas and days of one run. After that a new run starts, so that this process need not remember more. */
const maxEntries = 200_000

/**
 * Creates a ledger. Each row says what this run was charged altogether, so that a write may be repeated.
 * @param options.maxEntries - Most rows that it remembers beside those that are not written yet. @default 200_000
 */
export const createLedger = (
  rows: Pick<AccountDays, 'toSteps'>,
  options: { readonly maxEntries?: number } = {},
): Ledger => {
  const most = options.maxEntries ?? maxEntries
  const newRun = (): string => randomBytes(9).toString('base64url')
  let run = newRun()
  let entries = new Map<string, Entry>()
  const changed = new Set<Entry>()
  return {
    add: (account, day, units) => {
      const key = `${day} ${account}`
      let entry = entries.get(key)
      if (entry === undefined) {
        if (entries.size >= most) {
          entries = new Map()
          run = newRun()
        }
        entry = { account, day, run, charged: 0 }
        entries.set(key, entry)
      }
      entry.charged += units
      changed.add(entry)
    },
    take: () => {
      if (changed.size === 0) return undefined
      const taken: { entry: Entry; row: ChargedRow }[] = []
      for (const entry of changed) {
        if (taken.length === maxRows) break
        const { account, day, run: itsRun, charged } = entry
        taken.push({ entry, row: { account, day, run: itsRun, charged } })
      }
      for (const { entry } of taken) changed.delete(entry)
      return {
        steps: rows.toSteps(taken.map(({ row }) => row)),
        rows: taken.length,
        failed: () => {
          for (const { entry } of taken) changed.add(entry)
        },
      }
    },
  }
}
