/** A section of a page of the docs: a heading, and what is below it. */
export interface PageSection {
  /** The heading, without markup. */
  readonly heading: string
  /** The text below it, as Markdown. */
  readonly markdown: string
  /** What the search reads. */
  readonly searched: {
    /** The heading, with the words that readers search for but that it does not contain, such as `CORS`. */
    readonly title: string
    /** The headings above it, the page's title first. */
    readonly parents: readonly string[]
    /** The words of the text. */
    readonly text: string
  }
}

/** Words that readers search for, by heading. */
export type SearchWords = Readonly<Record<string, string>>

/**
 * Splits a page at its headings. The search on the site and `keyrail mcp` both index what this returns, so that they find the same.
 *
 * @param path - The path of the page in the site, such as `api/core.md`.
 * @param markdown - The page.
 * @param words - Words to add to its headings.
 * @returns The sections in their order. Text above the first heading is left out.
 */
export function splitPage(path: string, markdown: string, words: SearchWords = {}): readonly PageSection[] {
  // The signatures of an API page contain the names of most others.
  const isCodeSearched = !path.startsWith('api/')
  const sections: { heading: string; level: number; lines: string[]; searchedLines: string[] }[] = []
  let fence = ''
  for (const line of markdown.split('\n')) {
    const [, mark = ''] = /^\s*(```+)/.exec(line) ?? []
    const isFence = mark !== '' && (fence === '' || mark.length >= fence.length)
    if (isFence) fence = fence === '' ? mark : ''
    const [, hashes = '', heading = ''] = (fence === '' && /^(#{1,6}) (.+)$/.exec(line)) || []
    if (hashes !== '') {
      sections.push({ heading: toPlain(heading).trim(), level: hashes.length, lines: [], searchedLines: [] })
      continue
    }
    sections.at(-1)?.lines.push(line)
    if (!isFence && (fence === '' || isCodeSearched)) sections.at(-1)?.searchedLines.push(line)
  }
  const parents: string[] = []
  return sections.map(({ heading, level, lines, searchedLines }) => {
    parents.length = level - 1
    parents[level - 1] = heading
    const added = words[heading]
    return {
      heading,
      markdown: lines.join('\n').trim(),
      searched: {
        title: toWords(added === undefined ? heading : `${heading} (${added})`),
        parents: parents.slice(0, -1).filter(Boolean).map(toWords),
        text: toWords(toPlain(searchedLines.join('\n'))),
      },
    }
  })
}

/** Leaves out the marks of code, and the targets of links. */
const toPlain = (markdown: string): string =>
  markdown.replaceAll(/!?\[((?:[^[\]]|\[[^\]]*\])*)\]\([^)\s]+\)/g, '$1').replaceAll('`', '')

/** The search splits at spaces and punctuation, but not at symbols such as `<` and `|`. The site shows titles as HTML. */
const toWords = (text: string): string => text.replaceAll(/[\p{S}\s]+/gu, ' ').trim()
