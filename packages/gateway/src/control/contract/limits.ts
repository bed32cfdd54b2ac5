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

const whole = (least: number, most: number): z.ZodInt => {
  const error = `must be a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}
const atOnce = whole(1, 1_000_000)
const inAll = whole(0, 1_000_000_000)

/** @see LimitsView */
export const limitsView: z.ZodType<LimitsView, LimitsView> = z
  .strictObject({
    perSecond: atOnce.nullable(),
    burst: atOnce,
    perDay: inAll.nullable(),
    perMonth: inAll.nullable(),
  })
  .meta({ id: 'Limits' })

/** @see OwnLimits */
export const ownLimits: z.ZodType<OwnLimits, OwnLimits> = z
  .strictObject({
    perSecond: atOnce.nullable().exactOptional(),
    perDay: inAll.nullable().exactOptional(),
    perMonth: inAll.nullable().exactOptional(),
    burst: atOnce.exactOptional(),
  })
  .meta({ id: 'OwnLimits' })
