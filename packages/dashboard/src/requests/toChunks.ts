/** Rows that are rendered together. */
export interface Chunk<Item> {
  /** The id of its last item. */
  readonly id: string
  /** The index of its first item in all pages. */
  readonly start: number
  readonly items: readonly Item[]
}

const size = 50

/**
 * Splits the pages of a list into chunks of at most 50 items. Each page is split from its end: new items at the start of the first page, and new
 * pages, do not move other items to another chunk.
 */
export function toChunks<Item extends { readonly id: string }>(
  pages: readonly (readonly Item[])[],
): readonly Chunk<Item>[] {
  let start = 0
  return pages.flatMap((page) => {
    const chunks: Chunk<Item>[] = []
    for (let from = 0, to = page.length % size || size; from < page.length; from = to, to += size) {
      const items = page.slice(from, to)
      chunks.push({ id: items.at(-1)?.id ?? '', start: start + from, items })
    }
    start += page.length
    return chunks
  })
}
