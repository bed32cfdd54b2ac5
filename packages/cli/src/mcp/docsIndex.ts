import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import MiniSearch from 'minisearch'
import { CliError } from '../cliError.ts'

/** A section of the docs that matches a query. */
export interface DocsHit {
  /** The page, such as `service/running.md`. */
  readonly page: string
  /** The heading of the section. */
  readonly heading: string
  readonly text: string
}

/** The docs, for search. */
export interface DocsIndex {
  /** Finds sections, the best first. */
  readonly search: (query: string, max: number) => readonly DocsHit[]
  /** Returns the text of a page; undefined if there is none. */
  readonly read: (page: string) => string | undefined
}

interface Section extends DocsHit {
  readonly id: string
  readonly title: string
  readonly titles: string
}

interface SearchSettings {
  readonly options: {
    readonly fuzzy: number
    readonly prefix: boolean
    readonly boost: Readonly<Record<string, number>>
  }
  /** Words that readers search for, by page and heading. */
  readonly words: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** In the published package, from the build in the workspace, and from source. */
const candidates = ['../docs/', '../../../docs/', '../../../../docs/']

/** Finds the folder of the docs. */
function findDocsFolder(): string {
  const folder = candidates
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(join(path, 'failures.md')))
  if (folder === undefined) throw new CliError('this installation has no docs', { hint: 'install keyrail again' })
  return folder
}

/**
 * Indexes the guides, with the settings of the search on the site.
 *
 * @throws {CliError} if the installation has no docs.
 */
export function createDocsIndex(): DocsIndex {
  const folder = findDocsFolder()
  const settings = JSON.parse(readFileSync(findSettings(folder), 'utf8')) as SearchSettings
  const pages = new Map(
    globSync('**/*.md', { cwd: folder, exclude: (name) => /^decisions$|^[.]vitepress$/.test(name) }).map((file) => [
      file.replaceAll('\\', '/'),
      readFileSync(join(folder, file), 'utf8'),
    ]),
  )
  const sections = [...pages].flatMap(([page, text]) => splitPage(page, text, settings.words[page] ?? {}))
  const index = new MiniSearch<Section>({
    fields: ['title', 'titles', 'text'],
    storeFields: ['page', 'heading', 'text'],
    searchOptions: settings.options,
  })
  index.addAll(sections)
  return {
    search: (query, max) =>
      index
        .search(query)
        .slice(0, max)
        .map(({ page, heading, text }): DocsHit => ({
          page: page as string,
          heading: heading as string,
          text: text as string,
        })),
    read: (page) => pages.get(page.replace(/^[/]/, '')),
  }
}

/** The settings are next to the pages in the package, and in the folder of the site in the sources. */
const findSettings = (folder: string): string =>
  ['search.json', '.vitepress/search.json'].map((name) => join(folder, name)).find((file) => existsSync(file)) ?? ''

/** Splits a page at its headings. */
function splitPage(page: string, markdown: string, words: Readonly<Record<string, string>>): Section[] {
  const sections: { heading: string; level: number; lines: string[] }[] = []
  let fence = ''
  for (const line of markdown.split('\n')) {
    const [, mark = ''] = /^\s*(```+)/.exec(line) ?? []
    if (mark !== '' && (fence === '' || mark.length >= fence.length)) fence = fence === '' ? mark : ''
    const [, hashes = '', heading = ''] = (fence === '' && /^(#{1,6}) (.+)$/.exec(line)) || []
    if (hashes === '') sections.at(-1)?.lines.push(line)
    else sections.push({ heading: heading.replaceAll('`', ''), level: hashes.length, lines: [] })
  }
  const parents: string[] = []
  return sections.map(({ heading, level, lines }, at) => {
    parents.length = level - 1
    parents[level - 1] = heading
    const added = words[heading]
    return {
      id: `${page}#${at}`,
      page,
      heading,
      title: added === undefined ? heading : `${heading} (${added})`,
      titles: parents.slice(0, -1).join(' '),
      text: lines.join('\n').trim(),
    }
  })
}
