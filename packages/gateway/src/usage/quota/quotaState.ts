import type { QuotaAccount, QuotaGrant } from './quota.ts'
import type { Reserved } from './quotaRows.ts'
import { toUtcDay } from '../../lib/utcDay.ts'
import type { UtcDay } from '../../lib/utcDay.ts'

/** A request that waits for a reservation. */
export interface WaitingTake {
  readonly account: QuotaAccount
  readonly calls: number
  readonly resolve: (grant: QuotaGrant) => void
  readonly reject: (error: Error) => void
}

/** The state of one account in this instance. */
export interface QuotaState {
  readonly id: string
  /** Has the limits of the last request. */
  account: QuotaAccount
  day: UtcDay
  /** Calls that are reserved and not used. */
  block: number
  /** This instance's part of the row's `spare`. */
  spare: number
  /** The row after the last reservation of the day. */
  row: Reserved | undefined
  /** Calls granted today that are not in the row yet. */
  overage: number
  readonly waiting: WaitingTake[]
  /** A reservation is in flight. */
  reserving: boolean
  /** When it started, by `performance.now`. */
  reservingSince: number
  /** Until when waiting requests are not rejected because other instances may return calls; 0: no grace period. By `performance.now`. */
  graceUntil: number
  /** The row's `spare` after the last grace period: its holder did not return it. */
  deadSpare: number
  /** Until when the quota is assumed to be used up, by `performance.now`. */
  usedUpUntil: number
  touched: boolean
  idleTicks: number
}

/** Creates the state of an account without a known row. */
export const createState = (account: QuotaAccount, day: UtcDay): QuotaState => ({
  id: account.id,
  account,
  day,
  block: 0,
  spare: 0,
  row: undefined,
  overage: 0,
  waiting: [],
  reserving: false,
  reservingSince: 0,
  graceUntil: 0,
  deadSpare: 0,
  usedUpUntil: 0,
  touched: true,
  idleTicks: 0,
})

/** Starts another day and resets everything that belongs to the previous one. */
export const startDay = (state: QuotaState, day: number): void => {
  state.day = toUtcDay(day)
  state.block = 0
  state.spare = 0
  state.row = undefined
  state.overage = 0
  state.graceUntil = 0
  state.deadSpare = 0
  state.usedUpUntil = 0
}

/** Returns what is left of a window, without reserved calls. */
const getLeft = (limit: number | null, used: number): number => (limit === null ? Infinity : limit - used)

/** Returns how many more calls could be granted today, as far as this instance knows; infinite without limits. */
export const getLeftToday = ({ account, row, overage }: QuotaState): number =>
  Math.min(getLeft(account.perDay, row?.dayUsed ?? 0), getLeft(account.perMonth, row?.monthUsed ?? 0)) - overage

/** Builds a grant from what this instance knows. */
export const toGrant = (state: QuotaState, account: QuotaAccount, calls: number, granted: number): QuotaGrant => {
  const { row, block, overage, day } = state
  const { perDay, perMonth } = account
  const dayLeft = getLeft(perDay, (row?.dayUsed ?? 0) + overage)
  const monthLeft = getLeft(perMonth, (row?.monthUsed ?? 0) + overage)
  const rejected = granted < calls
  // If both windows are used up, the month ends later.
  const byMonth = rejected ? monthLeft <= dayLeft && perMonth !== null : perDay === null && perMonth !== null
  const [limit, left] = byMonth ? [perMonth, monthLeft] : [perDay, dayLeft]
  const grant = {
    granted,
    limit,
    // Before the row is read, only the calls in the block are known.
    remaining: limit === null ? null : Math.min(limit, Math.max(0, left + block)),
    resetAtMs: byMonth ? day.monthEndMs : day.endMs,
    account,
    day: day.text,
  }
  return rejected ? { ...grant, rejectedBy: byMonth ? 'month' : 'day' } : grant
}
