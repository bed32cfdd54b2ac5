import { z } from 'zod'

/** The default page size. */
export const defaultPageLimit = 50

const limit = z.coerce
  .number()
  .int({ error: 'must be a whole number' })
  .min(1, { error: 'must be from 1 to 100' })
  .max(100, { error: 'must be from 1 to 100' })

/** Selects a page of a list. */
export const pageMembers = {
  cursor: z
    .string()
    .max(200, { error: 'must be the "next" of another page' })
    .exactOptional()
    .describe('`next` of the previous page.'),
  limit: limit.exactOptional().describe('1 to 100. @default 50'),
}

/** Creates the schema of a page of items. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    items: z.array(item),
    next: z.string().nullable().describe('The `cursor` of the next page; `null` on the last page.'),
  })
