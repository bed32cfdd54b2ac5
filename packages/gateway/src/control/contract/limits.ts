import { z } from 'zod'

/** Request limits. `null`: no limit. */
export interface LimitsView {
  /** Requests per second. Each request of a batch counts, and a method may count as several: see `UsageView.weights`. */
  readonly perSecond: number | null
  /** How many requests may arrive at once. */
  readonly burst: number
  /** Requests per UTC day. */
  readonly perDay: number | null
  /** Requests per UTC month. */
  readonly perMonth: number | null
}

/** Limits that override the service's. Limits that are left out are the service's. */
export interface OwnLimits {
  readonly perSecond?: number | null
  readonly perDay?: number | null
  readonly perMonth?: number | null
  readonly burst?: number
}

const wholeNumber = (least: number, most: number): z.ZodInt => {
  const error = `must be a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}
const rate = wholeNumber(1, 1_000_000)
const quota = wholeNumber(0, 1_000_000_000)

/** The members of a rate. */
export const rateView = { perSecond: rate.nullable(), burst: rate }

/** The schema of `LimitsView`. */
export const limitsView: z.ZodType<LimitsView, LimitsView> = z
  .strictObject({
    ...rateView,
    perDay: quota.nullable(),
    perMonth: quota.nullable(),
  })
  .meta({ id: 'Limits' })

/** The schema of `OwnLimits`. */
export const ownLimits: z.ZodType<OwnLimits, OwnLimits> = z
  .strictObject({
    perSecond: rate.nullable().exactOptional(),
    perDay: quota.nullable().exactOptional(),
    perMonth: quota.nullable().exactOptional(),
    burst: rate.exactOptional(),
  })
  .meta({ id: 'OwnLimits' })
