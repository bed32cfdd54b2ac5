import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import MiniSearch from 'minisearch'
import { CliError } from '../cliError.ts'
import { splitPage } from './splitPage.ts'
import type { SearchWords } from './splitPage.ts'
import { toSearchOptions } from './toSearchOptions.ts'

/** A section of the docs that matches a query. */
export interface DocsHit {
  /** The page, such as `service/running.md`. */
  readonly page: string
  /** The heading of the section. */
  readonly heading: string
  /** Its text, as Markdown. */
  readonly text: string
}

/** The docs, for search. */
export interface DocsIndex {
  /** Finds sections, the best first. */
  readonly search: (query: string, max: number) => readonly DocsHit[]
  /** Returns the text of a page; undefined if there is none. */
  readonly read: (page: string) => string | undefined
}

/** The pages of the docs, and the settings of the search. */
export interface Docs {
  /** The Markdown of each page, by its path in the site. */
  readonly pages: ReadonlyMap<string, string>
  readonly settings: {
    /** Options of MiniSearch. */
    readonly options: {
      readonly fuzzy: number
      readonly prefix: boolean
      readonly boost: Readonly<Record<string, number>>
    }
    /** Words that readers search for, by page. */
    readonly words: Readonly<Record<string, SearchWords>>
  }
}

/**
 * Reads the docs of this installation. The published package has every page that the search of the site finds. From source, only the guides are
 * read, because the other pages are generated.
 *
 * @throws {CliError} if the installation has no docs.
 */
export function readDocs(): Docs {
  // In the published package, from the build in the workspace, and from source.
  const folder = ['../docs/', '../../../docs/', '../../../../docs/']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(join(path, 'failures.md')))
  if (folder === undefined) throw new CliError('this installation has no docs', { hint: 'install keyrail again' })
  const files = globSync('**/*.md', { cwd: folder, exclude: (name) => /^decisions$|^[.]vitepress$/.test(name) })
  const settingsFile = ['search.json', '.vitepress/search.json'].map((name) => join(folder, name)).find(existsSync)
  return {
    pages: new Map(files.map((file) => [file.replaceAll('\\', '/'), readFileSync(join(folder, file), 'utf8')])),
    settings: JSON.parse(readFileSync(settingsFile ?? '', 'utf8')) as Docs['settings'],
  }
}

interface IndexedSection {
  readonly id: string
  readonly title: string
  readonly titles: string
  readonly text: string
}

/**
 * Indexes the docs, as the search of the site does.
 *
 * @param docs - The docs. @default those of this installation
 * @throws {CliError} if the installation has no docs.
 */
export function createDocsIndex({ pages, settings }: Docs = readDocs()): DocsIndex {
  const hits = new Map<string, DocsHit>()
  const searchOptions = toSearchOptions(settings.options)
  const index = new MiniSearch<IndexedSection>({ fields: ['title', 'titles', 'text'], searchOptions })
  for (const [page, markdown] of pages)
    for (const [at, section] of splitPage(page, markdown, settings.words[page]).entries()) {
      const { title, parents, text } = section.searched
      const id = `${page}#${at}`
      hits.set(id, { page, heading: section.heading, text: section.markdown })
      index.add({ id, title, titles: parents.join(' '), text })
    }
  return {
    search: (query, max) =>
      index
        .search(query)
        .slice(0, max)
        .flatMap(({ id }) => hits.get(id as string) ?? []),
    read: (page) => pages.get(page.replace(/^[/]/, '')),
  }
}
