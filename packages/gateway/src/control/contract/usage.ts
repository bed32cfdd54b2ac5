import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { limitsView, rateView } from './limits.ts'
import type { LimitsView } from './limits.ts'
import { timeText } from './texts.ts'

/** The usage of a limit. */
export interface UsageWindow {
  readonly used: number
  /** `null`: no limit. */
  readonly limit: number | null
  readonly remaining: number | null
  readonly resetAt: string
}

/** The rate of a key on one network, and its weights. */
export interface NetworkLimitsView extends Pick<LimitsView, 'perSecond' | 'burst'> {
  readonly weights: UsageView['weights']
}

/** The usage of the daily and monthly limits: of one app, or of all API keys of an account together. */
export interface UsageView {
  readonly day: UsageWindow
  readonly month: UsageWindow
  readonly limits: LimitsView
  /** How many requests a call counts as, by method, the highest first. Methods that are left out count as 1. */
  readonly weights: Readonly<Record<string, number>>
  /** The limits of networks that have their own, by network. The daily and monthly limits count calls to all networks. */
  readonly networks: Readonly<Record<Network, NetworkLimitsView>>
}

const usageWindow = z.strictObject({
  used: z.int().min(0),
  limit: z.int().nullable(),
  remaining: z.int().min(0).nullable(),
  resetAt: timeText,
})

const weights = z.record(z.string(), z.int().min(2))

/** The schema of `UsageView`. */
export const usageView: z.ZodType<UsageView> = z
  .strictObject({
    day: usageWindow,
    month: usageWindow,
    limits: limitsView,
    weights,
    networks: z.record(z.string(), z.strictObject({ ...rateView, weights })),
  })
  .meta({ id: 'Usage' })
