import { z } from 'zod'

/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** The `cursor` of the next page; `null` on the last page. */
  readonly next: string | null
}

/** Selects a page of a list. */
export interface PageQuery {
  /** `next` of the previous page. */
  readonly cursor?: string
  /** 1 to 100. @default 50 */
  readonly limit?: number
}

/** The default page size. */
export const defaultPageLimit = 50

const limit = z.coerce
  .number()
  .int({ error: 'must be a whole number' })
  .min(1, { error: 'must be from 1 to 100' })
  .max(100, { error: 'must be from 1 to 100' })

/** The schemas of the members of `PageQuery`. */
export const pageMembers: {
  readonly cursor: z.ZodExactOptional<z.ZodString>
  readonly limit: z.ZodExactOptional<z.ZodType<number, unknown>>
} = {
  cursor: z.string().max(200, { error: 'must be the "next" of another page' }).exactOptional(),
  limit: limit.exactOptional(),
}

/** Creates the schema of a page of items. */
export const pageSchema = <Item>(item: z.ZodType<Item>): z.ZodType<Page<Item>> =>
  z.strictObject({ items: z.array(item), next: z.string().nullable() })
