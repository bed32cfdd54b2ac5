import { z } from 'zod'
import { labelText, timeText } from './texts.ts'

/** The types of allow list entries. */
const allowTypes = ['origin', 'ip', 'method', 'address', 'userAgent'] as const

/** A type of allow list entry. */
export type AllowTypeName = (typeof allowTypes)[number]

/** An entry of an app's allow list. A request must match one entry of each type that has entries. */
export interface AllowEntryView {
  readonly id: string
  readonly type: AllowTypeName
  /** Normalized: lower case, punycode, and an IP range with its host bits cleared. */
  readonly value: string
  readonly label: string
  readonly createdAt: string
  /** The minute in which it last allowed a request or a call; `null`: never. */
  readonly lastUsedAt: string | null
}

/** An allow list, oldest entries first. */
export interface AllowListView {
  readonly items: readonly AllowEntryView[]
  readonly maxPerType: number
}

/**
 * The requests of the last 24 hours that an allow list would reject with one more entry. Requests that were rejected anyway do not count.
 */
export interface AllowListPreviewView {
  /** `metrics`: of all requests. `requestLog`: of those in the request log, which has a sample of the successful ones. `none`: the log is off. */
  readonly source: 'metrics' | 'requestLog' | 'none'
  readonly requests: number
  readonly rejected: number
  /** The methods or origins that would be rejected, the most frequent first, up to 5. `null`: requests without an `Origin` header. */
  readonly examples: readonly (string | null)[]
}

/** The websites that sent requests with a key in the last 24 hours, by the request log. */
export interface OriginsView {
  /** Whether an allow list limits the key to origins. An API key has no allow list. */
  readonly isLimited: boolean
  /** The most frequent first, up to 20. Requests that were rejected do not count. */
  readonly items: readonly { readonly origin: string; readonly requests: number }[]
}

/** An entry that might be added. */
export interface AllowListPreviewQuery {
  readonly type: 'origin' | 'method'
  readonly value: string
}

/** Adds an entry. */
export interface AddAllowEntryBody {
  readonly type: AllowTypeName
  /** Such as `https://app.example.com`, `203.0.113.0/24`, `eth_*`, `0x…`, `MyWallet/`. */
  readonly value: string
  /** Up to 64 characters. @default '' */
  readonly label?: string
}

/** Changes an entry. */
export interface EditAllowEntryBody {
  readonly label: string
}

/** Filters the entries. */
export interface AllowListQuery {
  readonly type?: AllowTypeName
}

const type = z.enum(allowTypes)

/** The schema of `AllowEntryView`. */
export const allowEntryView: z.ZodType<AllowEntryView> = z
  .strictObject({
    id: z.string(),
    type,
    value: z.string(),
    label: z.string(),
    createdAt: timeText,
    lastUsedAt: timeText.nullable(),
  })
  .meta({ id: 'AllowEntry' })

/** The schema of `AllowListView`. */
export const allowListView: z.ZodType<AllowListView> = z.strictObject({
  items: z.array(allowEntryView),
  maxPerType: z.int(),
})

/** The schema of `AllowListPreviewView`. */
export const allowListPreview: z.ZodType<AllowListPreviewView> = z
  .strictObject({
    source: z.enum(['metrics', 'requestLog', 'none']),
    requests: z.int().min(0),
    rejected: z.int().min(0),
    examples: z.array(z.string().nullable()),
  })
  .meta({ id: 'AllowListPreview' })

/** The schema of `OriginsView`. */
export const originsView: z.ZodType<OriginsView> = z
  .strictObject({
    isLimited: z.boolean(),
    items: z.array(z.strictObject({ origin: z.string(), requests: z.int().min(1) })),
  })
  .meta({ id: 'Origins' })

const value = z
  .string()
  .trim()
  .min(1, { error: 'must not be empty' })
  .max(512, { error: 'must have at most 512 characters' })

/** The schema of `AllowListPreviewQuery`. */
export const allowListPreviewQuery: z.ZodType<AllowListPreviewQuery, unknown> = z.strictObject({
  type: z.enum(['origin', 'method']),
  value,
})

/** The schema of `AddAllowEntryBody`. */
export const addAllowEntryBody: z.ZodType<AddAllowEntryBody, AddAllowEntryBody> = z.strictObject({
  type,
  value,
  label: labelText.exactOptional(),
})

/** The schema of `EditAllowEntryBody`. */
export const editAllowEntryBody: z.ZodType<EditAllowEntryBody, EditAllowEntryBody> = z.strictObject({
  label: labelText,
})

/** The schema of `AllowListQuery`. */
export const allowListQuery: z.ZodType<AllowListQuery, unknown> = z.strictObject({ type: type.exactOptional() })
