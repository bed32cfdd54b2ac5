import { headingSlug } from './headingSlug.ts'
import search from './search.json' with { type: 'json' }

const words: Readonly<Record<string, Readonly<Record<string, string>>>> = search.words

/**
 * Adds words to headings that readers search for but that the headings do not contain, such as `CORS`. The results show them.
 * @param html - The HTML of a page, for the index of the search.
 * @param path - The path of the page.
 */
export function addSearchWords(html: string, path: string): string {
  return Object.entries(words[path] ?? {}).reduce(
    (text, [heading, added]) =>
      text.replace(
        new RegExp(`(<h\\d id="${headingSlug(heading)}"[^>]*>.*?)(\\s*<a class="header-anchor")`),
        `$1 (${added})$2`,
      ),
    html,
  )
}
