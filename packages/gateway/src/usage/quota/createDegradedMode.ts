import type { QuotaEvent } from './quotaEvent.ts'

/** The time while the database is gone, and what is granted meanwhile. */
export interface DegradedMode {
  readonly isOn: () => boolean
  /** @returns Whether it begins by this. */
  readonly begin: () => boolean
  /** Counts what was granted to an account without the database. */
  readonly grant: (account: string, items: number) => void
  readonly end: () => void
}

/** Makes the book of outages. Nothing is on. */
export const createDegradedMode = (tell: (event: QuotaEvent) => void): DegradedMode => {
  let since: number | undefined
  let items = 0
  const accounts = new Set<string>()
  return {
    isOn: () => since !== undefined,
    begin: () => {
      if (since !== undefined) return false
      since = performance.now()
      tell({ event: 'quotaDegraded', state: 'began' })
      return true
    },
    grant: (account, granted) => {
      items += granted
      accounts.add(account)
    },
    end: () => {
      if (since === undefined) return
      const durationMs = Math.round(performance.now() - since)
      since = undefined
      tell({ event: 'quotaDegraded', state: 'ended', accounts: accounts.size, items, durationMs })
      items = 0
      accounts.clear()
    },
  }
}
