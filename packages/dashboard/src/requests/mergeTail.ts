import type { InfiniteData } from '@tanstack/react-query'
import type { RequestsPage } from '../control/queries.ts'

/** The loaded pages of a request log. */
export type LoadedRequests = InfiniteData<RequestsPage>

/** From this many requests, a live page starts over with the newest ones. */
const maxLive = 1_000

/** Gets the id to load the requests after; `undefined` if the newest page is to be loaded instead. */
export function getTailStart({ pages: [first] }: LoadedRequests): string | undefined {
  return first === undefined || first.items.length >= maxLive ? undefined : first.items[0]?.id
}

/**
 * Adds new requests to those that are loaded, the newest first.
 * @param start - The result of `getTailStart` that `tail` was loaded with.
 */
export function mergeTail(loaded: LoadedRequests, tail: RequestsPage, start: string | undefined): LoadedRequests {
  const [first, ...others] = loaded.pages
  const known = new Set(loaded.pages.flatMap(({ items }) => items.map(({ id }) => id)))
  const added = tail.items.filter(({ id }) => !known.has(id))
  // There are more new requests than a page has.
  const hasGap = tail.next !== null && added.length === tail.items.length
  if (first === undefined || start === undefined || hasGap) return { pages: [tail], pageParams: [''] }
  if (added.length === 0) return loaded
  const items = [...added, ...first.items].toSorted((one, other) => (one.id < other.id ? 1 : -1))
  return { ...loaded, pages: [{ ...first, items }, ...others] }
}
