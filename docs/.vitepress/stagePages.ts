import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { apiPages } from './apiPages.ts'
import { changelogPage } from './changelogPage.ts'
import { controlApiPage } from './controlApiPage.ts'
import { toDarkPicture } from './imageSizes.ts'
import { logCodesPage } from './logCodesPage.ts'
import { sitePath } from './sitePath.ts'
import { toTabs } from './toTabs.ts'

/** A staged page. */
export interface StagedPage {
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
 * Writes all pages of the site, and the icon of the dashboard, into one folder: the guides, the READMEs of packages and examples, the measurements, and the generated API
 * reference. VitePress only builds and indexes the files of one folder.
 *
 * Does not write unchanged files, so that a watching server reloads only what changed.
 *
 * @param top - The top of the repository.
 * @param folder - The folder. Other files in it are removed.
 * @returns The pages, by path.
 */
export function stagePages(top: string, folder: string): readonly StagedPage[] {
  const read = (file: string): string => readFileSync(join(top, file), 'utf8')
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

  const texts = new Map<string, { readonly source: string; readonly text: string; readonly isGenerated: boolean }>()
  const generate = (path: string, text: string): void => {
    texts.set(path, { source: `docs/${path}`, text, isGenerated: true })
  }
  for (const source of sources) {
    const path = sitePath(source)
    if (path === undefined) continue
    const isExample = source.startsWith('examples/')
    const text = read(source)
    texts.set(path, { source, text: isExample ? withPrograms(top, source, text) : text, isGenerated: false })
  }
  generate('changelog.md', changelogPage(top))
  generate('reference/control-api.md', controlApiPage(top))
  generate('reference/log-codes.md', logCodesPage())
  for (const { path, markdown } of apiPages(top)) generate(path, markdown)

  const wanted = new Map<string, string | Buffer>([...texts].map(([path, { text }]) => [path, toTabs(text)]))
  for (const [path, { source, text }] of texts)
    for (const [, picture = ''] of text.matchAll(/!\[[^\]]*\]\(([^):\s]+)\)/g))
      for (const name of new Set([picture, toDarkPicture(picture)])) {
        const file = join(top, dirname(source), name)
        if (name === picture || existsSync(file)) wanted.set(posix.join(posix.dirname(path), name), readFileSync(file))
      }
  wanted.set('public/icon.svg', readFileSync(join(top, 'packages/dashboard/public/icon.svg')))
  sync(folder, wanted)
  return [...texts]
    .map(([path, { source, text, isGenerated }]) => ({
      path,
      source,
      title: getTitle(text) ?? path,
      markdown: text,
      isGenerated,
    }))
    .sort((a, b) => (a.path.slice(0, -'.md'.length) < b.path.slice(0, -'.md'.length) ? -1 : 1))
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

function sync(folder: string, wanted: ReadonlyMap<string, string | Buffer>): void {
  mkdirSync(folder, { recursive: true })
  for (const entry of globSync('**/*', { cwd: folder, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && !wanted.has(path.slice(folder.length + 1).replaceAll('\\', '/'))) rmSync(path)
  }
  for (const [path, content] of wanted) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    if (!isThere(file, content)) writeFileSync(file, content)
  }
}

function isThere(file: string, content: string | Buffer): boolean {
  try {
    return readFileSync(file).equals(Buffer.from(content))
  } catch {
    return false
  }
}
