import type { QuotaRows, Settlement } from './quotaRows.ts'

/** What goes back to the rows, or is added to them, on its way there. */
export interface Settlements {
  readonly add: (settlement: Settlement) => void
  /** Whether any waits to be written. */
  readonly any: () => boolean
  /** Whether one of this account waits or is on its way: nobody is rejected for what comes back in a moment. */
  readonly isOnItsWay: (account: string) => boolean
  /** Writes all, and keeps those that add for another time where that failed. Never rejected. */
  readonly write: () => Promise<void>
  /** Items granted that are not in their rows yet. */
  readonly owed: () => number
}

/** Rows written in one transaction. */
const maxRows = 250

/** Makes the book of settlements. */
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
      // What was granted is written twice rather than not; what comes back, not rather than twice.
      waiting.push(...some.filter(({ unused }, index) => results[index] !== undefined && unused < 0))
    }
    accounts = new Set(waiting.map(({ account }) => account))
  }
  return {
    add: (settlement) => void waiting.push(settlement),
    any: () => waiting.length > 0,
    isOnItsWay: (account) => accounts.has(account),
    write: () => {
      for (const { account } of waiting) accounts.add(account)
      return (written = written.then(writeNow))
    },
    owed: () => waiting.reduce((total, { unused }) => total + Math.max(0, -unused), 0),
  }
}
