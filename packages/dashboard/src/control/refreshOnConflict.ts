import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { isControlFailure } from './controlFailure.ts'

/**
 * Changes a record. If it has changed elsewhere, loads it again, so that the page shows the latest version, and throws.
 * @param queryKey - The queries of the record.
 */
export async function refreshOnConflict<Result>(
  queries: QueryClient,
  queryKey: QueryKey,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (isControlFailure(error, 'version_conflict')) await queries.invalidateQueries({ queryKey })
    throw error
  }
}
