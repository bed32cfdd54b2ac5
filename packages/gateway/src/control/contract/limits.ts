import { z } from 'zod'

/** How much may be asked. `null`: no limit. */
export interface LimitsView {
  /** Calls a second; each item of a batch counts. */
  readonly perSecond: number | null
  /** How many calls may come at once. */
  readonly burst: number
  /** Calls a UTC day. */
  readonly perDay: number | null
  /** Calls a UTC month. */
  readonly perMonth: number | null
}

/** Limits that differ from the service's own; what is left out is as the service has it. */
export interface OwnLimits {
  readonly perSecond?: number | null
  readonly perDay?: number | null
  readonly perMonth?: number | null
  readonly burst?: number
}

const count = z
  .int({ error: 'must be a whole number' })
  .min(1, { error: 'must be 1 or more' })
  .max(1_000_000_000, { error: 'must be at most 1000000000' })

/** @see LimitsView */
export const limitsView: z.ZodType<LimitsView, LimitsView> = z
  .strictObject({
    perSecond: count.nullable(),
    burst: count,
    perDay: count.nullable(),
    perMonth: count.nullable(),
  })
  .meta({ id: 'Limits' })

/** @see OwnLimits */
export const ownLimits: z.ZodType<OwnLimits, OwnLimits> = z
  .strictObject({
    perSecond: count.nullable().exactOptional(),
    perDay: count.nullable().exactOptional(),
    perMonth: count.nullable().exactOptional(),
    burst: count.exactOptional(),
  })
  .meta({ id: 'OwnLimits' })
