import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { toDarkPicture } from './imageSizes.ts'
import type { SitePage } from './readPages.ts'
import { toTabs } from './toTabs.ts'

/**
 * Writes all pages of the site, with their pictures and the icon of the dashboard, into one folder. VitePress only builds the files of one folder.
 *
 * Does not write unchanged files, so that a watching server reloads only what changed.
 *
 * @param top - The top of the repository.
 * @param folder - The folder. Other files in it are removed.
 * @param pages - The pages.
 */
export function stagePages(top: string, folder: string, pages: readonly SitePage[]): void {
  const wanted = new Map<string, string | Buffer>(pages.map(({ path, markdown }) => [path, toTabs(markdown)]))
  for (const { path, source, markdown } of pages)
    for (const [, picture = ''] of markdown.matchAll(/!\[[^\]]*\]\(([^):\s]+)\)/g))
      for (const name of new Set([picture, toDarkPicture(picture)])) {
        const file = join(top, dirname(source), name)
        if (name === picture || existsSync(file)) wanted.set(posix.join(posix.dirname(path), name), readFileSync(file))
      }
  wanted.set('public/icon.svg', readFileSync(join(top, 'packages/dashboard/public/icon.svg')))
  sync(folder, wanted)
}

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
