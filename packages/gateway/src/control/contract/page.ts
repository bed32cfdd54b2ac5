import { z } from 'zod'

/** A part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** To be given as `cursor` for what follows; `null` at the end. */
  readonly next: string | null
}

/** Which part of a list. */
export interface PageQuery {
  /** `next` of the page before. */
  readonly cursor?: string
  /** 1 to 100. @default 50 */
  readonly limit?: number
}

/** How long a page is where nobody says. */
export const defaultPageLimit = 50

const limit = z.coerce
  .number()
  .int({ error: 'must be a whole number' })
  .min(1, { error: 'must be from 1 to 100' })
  .max(100, { error: 'must be from 1 to 100' })

/** The members of a page's query, for queries that have more. */
export const pageMembers: {
  readonly cursor: z.ZodExactOptional<z.ZodString>
  readonly limit: z.ZodExactOptional<z.ZodType<number, unknown>>
} = {
  cursor: z.string().max(200, { error: 'must be the next of another page' }).exactOptional(),
  limit: limit.exactOptional(),
}

/** Which part of a list. */
export const pageQuery: z.ZodType<PageQuery, unknown> = z.strictObject(pageMembers)

/** A part of a list of such items. */
export const pageOf = <Item>(item: z.ZodType<Item>): z.ZodType<Page<Item>> =>
  z.strictObject({ items: z.array(item), next: z.string().nullable() })
