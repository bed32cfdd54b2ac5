import { z } from 'zod'
import { network } from './networks.ts'
import { pageMembers, pageOf } from './page.ts'
import { idText } from './texts.ts'

const day = () => z.iso.date({ error: 'must be a UTC day such as 2026-11-01' })
const count = z.int().min(0)

const members = {
  from: day().describe('The first UTC day, such as `2026-11-01`.'),
  to: day().describe('The day after the last one, such as `2026-12-01`: at most 366 days after `from`.'),
  step: z.enum(['day', 'month']).exactOptional().describe("What one item covers. @default 'month'"),
  userId: idText('usr').exactOptional().describe('Only the usage of this account.'),
}

export const usageReportQuery = z
  .strictObject({ cursor: pageMembers.cursor, ...members })
  .describe('Selects a page of usage. All items of an app or API key are on one page.')

export const usageReportCsvQuery = z.strictObject(members).describe('Selects usage for a CSV table.')

export const usageItemView = z
  .strictObject({
    userId: z.string().nullable().describe('The account; `null` for keys without one.'),
    appId: z.string().nullable().describe('The app; `null` for an API key.'),
    keyId: z.string().nullable().describe('The API key; `null` for an app.'),
    network,
    method: z
      .string()
      .describe('`eth_subscription` counts notifications, `websocket` opened WebSockets, and `other` unknown methods.'),
    at: z.string().describe('The UTC day or month, such as `2026-11-21` or `2026-11`.'),
    calls: count.describe('All calls, also those that were rejected.'),
    units: count.describe('The units that quotas were charged: the weights of the calls that were let through.'),
    bytes: count.describe('The bytes of the results, without the JSON around them.'),
  })
  .meta({ id: 'UsageItem', description: 'What an app or API key used with one method on one network.' })

export const usageReportView = pageOf(usageItemView).describe('A page of usage, in the order of apps and API keys.')

export const topUsageQuery = z
  .strictObject({ day: day().exactOptional().describe('A UTC day of this month, or yesterday. @default today') })
  .describe('Selects a day.')

export const topUsageView = z
  .strictObject({
    day: z.string().describe('The UTC day.'),
    quotas: z
      .array(
        z.strictObject({
          kind: z.enum(['app', 'apiKeys']),
          id: z.string().describe('Of the app, or of the account whose API keys share the quota.'),
          name: z.string().nullable().describe('Of the app; `null` for API keys, and if it was deleted.'),
          userId: z.string().nullable().describe('The account; `null` if it was deleted.'),
          userName: z.string().nullable().describe('Its email address, or the name of the team.'),
          units: count.describe('What it was charged. Today, it may include units that are reserved and not used yet.'),
          perDay: count.nullable().describe('Its daily limit in units now; `null`: no limit, or it was deleted.'),
        }),
      )
      .describe('The 10 quotas that were charged most: of apps, and of all API keys of an account together.'),
    accounts: z
      .array(
        z.strictObject({
          userId: z.string(),
          userName: z
            .string()
            .nullable()
            .describe('Its email address, or the name of the team; `null` if it was deleted.'),
          units: count.describe('What its apps and API keys were charged.'),
        }),
      )
      .describe('The 10 accounts that were charged most.'),
    units: count.describe('What all were charged.'),
  })
  .meta({ id: 'TopUsage', description: 'Who used most on a day, over all instances.' })
