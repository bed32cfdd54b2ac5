import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { apiPages } from './apiPages.ts'
import { changelogPage } from './changelogPage.ts'
import { controlApiPage } from './controlApiPage.ts'
import { logCodesPage } from './logCodesPage.ts'
import { sitePath } from './sitePath.ts'

/** A page of the site. */
export interface SitePage {
  /** Its path in the site, such as `service/running.md`. */
  readonly path: string
  /** Its first heading. */
  readonly title: string
  /** Its file in the repository. For a generated page, the path that its links are relative to. */
  readonly source: string
  /** Its text, without what is only for VitePress. */
  readonly markdown: string
  /** Whether it was generated, so that there is no file to edit. */
  readonly isGenerated: boolean
}

/**
 * Reads all pages of the site: the guides, the READMEs of packages and examples, the measurements, and the generated references.
 *
 * @param top - The top of the repository.
 * @returns The pages, by path.
 */
export function readPages(top: string): readonly SitePage[] {
  const sources = globSync(
    [
      'docs/**/*.md',
      'packages/*/README.md',
      'packages/bench/*.md',
      'examples/README.md',
      'examples/*/README.md',
      '[A-Z]*.md',
    ],
    { cwd: top, exclude: (name) => /(^|[/\\])(node_modules|[.]venv|dist)$/.test(name) },
  ).map((file) => file.replaceAll('\\', '/'))
  const written = sources.flatMap((source): SitePage[] => {
    const path = sitePath(source)
    if (path === undefined) return []
    const text = readFileSync(join(top, source), 'utf8')
    // Marks for the scripts that write tables into a page.
    const shown = text.replaceAll(/^<!--.*-->\n\n?/gm, '')
    const markdown = source.startsWith('examples/') ? withPrograms(top, source, shown) : shown
    return [{ path, title: getTitle(text) ?? path, source, markdown, isGenerated: false }]
  })
  const generate = (path: string, markdown: string): SitePage => ({
    path,
    title: getTitle(markdown) ?? path,
    source: `docs/${path}`,
    markdown,
    isGenerated: true,
  })
  return [
    ...written,
    generate('changelog.md', changelogPage(top)),
    generate('reference/control-api.md', controlApiPage(top)),
    generate('reference/log-codes.md', logCodesPage()),
    ...apiPages(top).map(({ path, markdown }) => generate(path, markdown)),
  ].sort((a, b) => (a.path.slice(0, -'.md'.length) < b.path.slice(0, -'.md'.length) ? -1 : 1))
}

/** The README of an example, and its programs below. */
function withPrograms(top: string, readme: string, text: string): string {
  const folder = dirname(readme)
  const programs = globSync('*.{ts,mts,js,mjs}', { cwd: join(top, folder) }).sort()
  const shown = programs.map((name) => {
    const code = readFileSync(join(top, folder, name), 'utf8').trimEnd()
    return `## ${name}\n\n\`\`\`\`ts\n${code}\n\`\`\`\`\n`
  })
  return [text, ...shown].join('\n')
}

const getTitle = (markdown: string): string | undefined => /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll('`', '')
