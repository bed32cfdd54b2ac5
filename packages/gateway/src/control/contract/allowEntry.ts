import { z } from 'zod'
import { labelText, timeText } from './texts.ts'

/** What an entry of an allow list speaks of. */
export const allowTypes = ['origin', 'ip', 'method', 'address', 'userAgent'] as const

/** What an entry of an allow list speaks of. */
export type AllowTypeName = (typeof allowTypes)[number]

/** One entry of an app's allow list. Of each type that has entries, one must be met. */
export interface AllowEntryView {
  readonly id: string
  readonly type: AllowTypeName
  /** In the form that it is compared in: lower case, punycode, a range without bits to spare. */
  readonly value: string
  readonly label: string
  readonly createdAt: string
}

/** A whole allow list, the oldest entries first. */
export interface AllowListView {
  readonly items: readonly AllowEntryView[]
  readonly maxPerType: number
}

/** What adds an entry. */
export interface AddAllowEntryBody {
  readonly type: AllowTypeName
  /** As in `https://app.example.com`, `203.0.113.0/24`, `eth_*`, `0x…`, `MyWallet/`. */
  readonly value: string
  /** Up to 64 characters. @default '' */
  readonly label?: string
}

/** What changes of an entry. */
export interface EditAllowEntryBody {
  readonly label: string
}

/** Which entries. */
export interface AllowListQuery {
  readonly type?: AllowTypeName
}

const type = z.enum(allowTypes)

/** @see AllowEntryView */
export const allowEntryView: z.ZodType<AllowEntryView> = z
  .strictObject({ id: z.string(), type, value: z.string(), label: z.string(), createdAt: timeText })
  .meta({ id: 'AllowEntry' })

/** @see AllowListView */
export const allowListView: z.ZodType<AllowListView> = z.strictObject({
  items: z.array(allowEntryView),
  maxPerType: z.int(),
})

/** @see AddAllowEntryBody */
export const addAllowEntryBody: z.ZodType<AddAllowEntryBody, AddAllowEntryBody> = z.strictObject({
  type,
  value: z
    .string()
    .trim()
    .min(1, { error: 'must not be empty' })
    .max(512, { error: 'must have at most 512 characters' }),
  label: labelText.exactOptional(),
})

/** @see EditAllowEntryBody */
export const editAllowEntryBody: z.ZodType<EditAllowEntryBody, EditAllowEntryBody> = z.strictObject({
  label: labelText,
})

/** @see AllowListQuery */
export const allowListQuery: z.ZodType<AllowListQuery, unknown> = z.strictObject({ type: type.exactOptional() })
