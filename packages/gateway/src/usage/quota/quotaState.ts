import type { QuotaAccount, QuotaGrant } from './quota.ts'
import type { Reserved } from './quotaRows.ts'
import { toUtcDay } from '../../lib/utcDay.ts'
import type { UtcDay } from '../../lib/utcDay.ts'

/** A request that waits for a reservation. */
export interface WaitingTake {
  readonly account: QuotaAccount
  readonly items: number
  readonly resolve: (grant: QuotaGrant) => void
  readonly reject: (error: Error) => void
}

/** What this instance holds of one account. */
export interface QuotaState {
  readonly id: string
  /** With the limits of the last request. */
  account: QuotaAccount
  day: UtcDay
  /** Reserved and not taken. */
  block: number
  /** How much of the row's `spare` is ours. */
  spare: number
  /** The row, as a reservation found it last today. */
  row: Reserved | undefined
  /** Granted today without the row, which does not count it yet. */
  debt: number
  readonly waiting: WaitingTake[]
  /** A reservation is in flight. */
  reserving: boolean
  /** When it began, by `performance.now`. */
  reservingSince: number
  /** Until when those that wait are not rejected, as others may give back; 0: nobody waits for that. By `performance.now`. */
  lingerUntil: number
  /** What was spare after the last such wait: whoever holds it does not give it back. */
  deadSpare: number
  /** Before that nothing is to be had; by `performance.now`. */
  emptyUntil: number
  touched: boolean
  idleTicks: number
}

/** The state of an account that nothing is known of. */
export const openState = (account: QuotaAccount, day: UtcDay): QuotaState => ({
  id: account.id,
  account,
  day,
  block: 0,
  spare: 0,
  row: undefined,
  debt: 0,
  waiting: [],
  reserving: false,
  reservingSince: 0,
  lingerUntil: 0,
  deadSpare: 0,
  emptyUntil: 0,
  touched: true,
  idleTicks: 0,
})

/** Begins another day: what is known of the one before does not matter any more. */
export const beginDay = (state: QuotaState, day: number): void => {
  state.day = toUtcDay(day)
  state.block = 0
  state.spare = 0
  state.row = undefined
  state.debt = 0
  state.lingerUntil = 0
  state.deadSpare = 0
  state.emptyUntil = 0
}

/** What is left of a window, what is reserved not counted. */
const leftOf = (limit: number | null, used: number): number => (limit === null ? Infinity : limit - used)

/** How much more could be granted today, as far as is known; infinite without limits. */
export const leftToday = ({ account, row, debt }: QuotaState): number =>
  Math.min(leftOf(account.perDay, row?.dayUsed ?? 0), leftOf(account.perMonth, row?.monthUsed ?? 0)) - debt

/** Writes a grant of so many items, with what is known now. */
export const grantOf = (state: QuotaState, account: QuotaAccount, items: number, granted: number): QuotaGrant => {
  const { row, block, debt, day } = state
  const { perDay, perMonth } = account
  const dayLeft = leftOf(perDay, (row?.dayUsed ?? 0) + debt)
  const monthLeft = leftOf(perMonth, (row?.monthUsed ?? 0) + debt)
  const rejected = granted < items
  // Of two that are used up, the month's end is the later.
  const byMonth = rejected ? monthLeft <= dayLeft && perMonth !== null : perDay === null && perMonth !== null
  const [limit, left] = byMonth ? [perMonth, monthLeft] : [perDay, dayLeft]
  const grant = {
    granted,
    limit,
    // Of what came back before the row was asked nothing else is known.
    remaining: limit === null ? null : Math.min(limit, Math.max(0, left + block)),
    resetAtMs: byMonth ? day.monthEndMs : day.endMs,
    account,
    day: day.text,
  }
  return rejected ? { ...grant, rejectedBy: byMonth ? 'month' : 'day' } : grant
}
