import { z } from 'zod'
import { wholeNumber } from './texts.ts'

const rate = wholeNumber(1, 1_000_000)
const quota = wholeNumber(0, 1_000_000_000)

/** The members of a rate. */
export const rateView = {
  perSecond: rate
    .nullable()
    .describe(
      'Requests per second. Each request of a batch counts, and a method may count as several: see `UsageView.weights`.',
    ),
  burst: rate.describe('How many requests may arrive at once.'),
}

export const limitsView = z
  .strictObject({
    ...rateView,
    perDay: quota.nullable().describe('Requests per UTC day.'),
    perMonth: quota.nullable().describe('Requests per UTC month.'),
  })
  .meta({ id: 'Limits', description: 'Request limits. `null`: no limit.' })

export const ownLimits = z
  .strictObject({
    perSecond: rate.nullable().exactOptional(),
    perDay: quota.nullable().exactOptional(),
    perMonth: quota.nullable().exactOptional(),
    burst: rate.exactOptional(),
  })
  .meta({
    id: 'OwnLimits',
    description: "Limits that override the service's. Limits that are left out are the service's.",
  })
