import { z } from 'zod'
import { limitsView, rateView } from './limits.ts'
import { network } from './networks.ts'
import { timeText } from './texts.ts'

export const usageWindow = z
  .strictObject({
    used: z.int().min(0),
    limit: z.int().nullable().describe('`null`: no limit.'),
    remaining: z.int().min(0).nullable(),
    resetAt: timeText,
  })
  .describe('The usage of a limit.')

const weights = z.record(z.string(), z.int().min(2))

export const networkLimitsView = z
  .strictObject({ ...rateView, weights })
  .describe('The rate of a key on one network, and its weights.')

export const usageView = z
  .strictObject({
    day: usageWindow,
    month: usageWindow,
    limits: limitsView,
    weights: weights.describe(
      'How many requests a call counts as, by method, the highest first. Methods that are left out count as 1.',
    ),
    networks: z
      .record(network, networkLimitsView)
      .describe(
        'The limits of networks that have their own, by network. The daily and monthly limits count calls to all networks.',
      ),
  })
  .meta({
    id: 'Usage',
    description: 'The usage of the daily and monthly limits: of one app, or of all API keys of an account together.',
  })
