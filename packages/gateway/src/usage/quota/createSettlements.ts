import type { QuotaRows, Settlement } from './quotaRows.ts'

/** Corrections of quota rows that are not written yet. */
export interface Settlements {
  readonly add: (settlement: Settlement) => void
  /** Whether any correction is pending. */
  readonly hasPending: () => boolean
  /** Whether the account has a pending correction: its calls must not be rejected before that is written. */
  readonly isPending: (account: string) => boolean
  /** Writes all corrections. If that fails, those that add usage are retried with the next write. Never rejects. */
  readonly write: () => Promise<void>
  /** Calls granted that are not in their rows yet. */
  readonly unwritten: () => number
}

/** Rows written in one transaction. */
const maxRows = 250

/** Creates the list of pending corrections. */
export const createSettlements = (rows: Pick<QuotaRows, 'settle'>): Settlements => {
  let waiting: Settlement[] = []
  let accounts = new Set<string>()
  let written = Promise.resolve()
  const writeNow = async (): Promise<void> => {
    const all = waiting
    waiting = []
    for (let start = 0; start < all.length; start += maxRows) {
      const some = all.slice(start, start + maxRows)
      const results = await rows.settle(some)
      // If unsure, write granted calls twice rather than never, and returned calls never rather than twice.
      waiting.push(...some.filter(({ unused }, index) => results[index] !== undefined && unused < 0))
    }
    accounts = new Set(waiting.map(({ account }) => account))
  }
  return {
    add: (settlement) => void waiting.push(settlement),
    hasPending: () => waiting.length > 0,
    isPending: (account) => accounts.has(account),
    write: () => {
      for (const { account } of waiting) accounts.add(account)
      return (written = written.then(writeNow))
    },
    unwritten: () => waiting.reduce((total, { unused }) => total + Math.max(0, -unused), 0),
  }
}
