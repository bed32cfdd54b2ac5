import { z } from 'zod'
import { labelText, timeText } from './texts.ts'

export const allowTypeName = z
  .enum(['origin', 'ip', 'method', 'address', 'userAgent'])
  .describe('A type of allow list entry.')

export const allowEntryView = z
  .strictObject({
    id: z.string(),
    type: allowTypeName,
    value: z.string().describe('Normalized: lower case, punycode, and an IP range with its host bits cleared.'),
    label: z.string(),
    createdAt: timeText,
    lastUsedAt: timeText.nullable().describe('The minute in which it last allowed a request or a call; `null`: never.'),
  })
  .meta({
    id: 'AllowEntry',
    description: "An entry of an app's allow list. A request must match one entry of each type that has entries.",
  })

export const allowListView = z
  .strictObject({
    items: z.array(allowEntryView),
    maxPerType: z.int(),
  })
  .describe('An allow list, oldest entries first.')

export const allowListPreviewView = z
  .strictObject({
    source: z
      .enum(['metrics', 'requestLog', 'none'])
      .describe(
        '`metrics`: of all requests. `requestLog`: of those in the request log, which has a sample of the successful ones. `none`: the log is off.',
      ),
    requests: z.int().min(0),
    rejected: z.int().min(0),
    examples: z
      .array(z.string().nullable())
      .describe(
        'The methods or origins that would be rejected, the most frequent first, up to 5. `null`: requests without an `Origin` header.',
      ),
  })
  .meta({
    id: 'AllowListPreview',
    description:
      'The requests of the last 24 hours that an allow list would reject with one more entry. Requests that were rejected anyway do not count.',
  })

export const originsView = z
  .strictObject({
    isLimited: z.boolean().describe('Whether an allow list limits the key to origins. An API key has no allow list.'),
    items: z
      .array(z.strictObject({ origin: z.string(), requests: z.int().min(1) }))
      .describe('The most frequent first, up to 20. Requests that were rejected do not count.'),
  })
  .meta({
    id: 'Origins',
    description: 'The websites that sent requests with a key in the last 24 hours, by the request log.',
  })

const value = z
  .string()
  .trim()
  .min(1, { error: 'must not be empty' })
  .max(512, { error: 'must have at most 512 characters' })

export const allowListPreviewQuery = z
  .strictObject({
    type: z.enum(['origin', 'method']),
    value,
  })
  .describe('An entry that might be added.')

export const addAllowEntryBody = z
  .strictObject({
    type: allowTypeName,
    value: value.describe('Such as `https://app.example.com`, `203.0.113.0/24`, `eth_*`, `0x…`, `MyWallet/`.'),
    label: labelText.exactOptional().describe("Up to 64 characters. @default ''"),
  })
  .describe('Adds an entry.')

export const editAllowEntryBody = z
  .strictObject({
    label: labelText,
  })
  .describe('Changes an entry.')

export const allowListQuery = z.strictObject({ type: allowTypeName.exactOptional() }).describe('Filters the entries.')
