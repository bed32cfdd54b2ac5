import type { QuotaEvent } from './quotaEvent.ts'

/** Tracks whether the database is unreachable, and the calls granted without it. */
export interface DegradedMode {
  readonly isOn: () => boolean
  /** @returns Whether degraded mode was off before. */
  readonly enter: () => boolean
  /** Records calls granted to an account without the database. */
  readonly recordGrant: (account: string, calls: number) => void
  readonly leave: () => void
}

/** Creates the degraded mode, which is off. */
export const createDegradedMode = (report: (event: QuotaEvent) => void): DegradedMode => {
  let since: number | undefined
  let calls = 0
  const accounts = new Set<string>()
  return {
    isOn: () => since !== undefined,
    enter: () => {
      if (since !== undefined) return false
      since = performance.now()
      report({ event: 'quotaDegraded', state: 'started' })
      return true
    },
    recordGrant: (account, granted) => {
      calls += granted
      accounts.add(account)
    },
    leave: () => {
      if (since === undefined) return
      const durationMs = Math.round(performance.now() - since)
      since = undefined
      report({ event: 'quotaDegraded', state: 'ended', accounts: accounts.size, calls, durationMs })
      calls = 0
      accounts.clear()
    },
  }
}
