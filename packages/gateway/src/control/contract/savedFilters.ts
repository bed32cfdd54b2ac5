import { z } from 'zod'
import { requestFilters } from './requestLog.ts'
import { nameText } from './texts.ts'

/** Most filters of a user for one log. */
export const maxSavedFilters = 20

export const savedFilter = z
  .strictObject({
    name: nameText,
    filters: z.strictObject(requestFilters).describe('The filters of the list of requests.'),
  })
  .meta({ id: 'SavedFilter', description: 'Filters of a request log under a name.' })

const savedFilters = z
  .array(savedFilter)
  .max(maxSavedFilters, { error: `must have at most ${maxSavedFilters} filters: delete one first` })
  .refine((items) => new Set(items.map(({ name }) => name)).size === items.length, {
    error: 'must not have two filters of the same name',
  })

export const savedFiltersView = z
  .strictObject({ items: z.array(savedFilter) })
  .describe('The filters that the user has saved for a request log, in the order of the user.')

export const setSavedFiltersBody = z
  .strictObject({ items: savedFilters.describe(`At most ${maxSavedFilters}, each with a name of its own.`) })
  .describe('Replaces the saved filters of the user for a request log.')
