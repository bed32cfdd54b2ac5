import { splitPage } from '../../packages/cli/src/mcp/splitPage.ts'
import { headingSlug } from './headingSlug.ts'
import search from './search.json' with { type: 'json' }

const words: Readonly<Record<string, Readonly<Record<string, string>>>> = search.words

/** A section, as VitePress indexes it: the last of the titles is its own. */
interface SearchSection {
  readonly anchor: string
  readonly titles: readonly string[]
  readonly text: string
}

/**
 * Returns the sections of a page for the index of the search: those that `keyrail mcp` searches, with the ids of their headings.
 * @param path - The path of the page in the site.
 * @param markdown - The page, as agents get it.
 */
export function searchSections(path: string, markdown: string): readonly SearchSection[] {
  const seen = new Map<string, number>()
  return splitPage(path, markdown, words[path]).map(({ heading, searched }) => {
    const slug = headingSlug(heading)
    const before = seen.get(slug) ?? 0
    seen.set(slug, before + 1)
    const anchor = before === 0 ? slug : `${slug}-${before}`
    return { anchor, titles: [...searched.parents, searched.title], text: searched.text }
  })
}
