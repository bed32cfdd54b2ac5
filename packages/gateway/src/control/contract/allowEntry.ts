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

/** The schema of `AddAllowEntryBody`. */
export const addAllowEntryBody: z.ZodType<AddAllowEntryBody, AddAllowEntryBody> = z.strictObject({
  type,
  value: z
    .string()
    .trim()
    .min(1, { error: 'must not be empty' })
    .max(512, { error: 'must have at most 512 characters' }),
  label: labelText.exactOptional(),
})

/** The schema of `EditAllowEntryBody`. */
export const editAllowEntryBody: z.ZodType<EditAllowEntryBody, EditAllowEntryBody> = z.strictObject({
  label: labelText,
})

/** The schema of `AllowListQuery`. */
export const allowListQuery: z.ZodType<AllowListQuery, unknown> = z.strictObject({ type: type.exactOptional() })
