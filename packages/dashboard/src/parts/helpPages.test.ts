import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { headingSlug } from '../../../../docs/.vitepress/headingSlug.ts'
import { helpPages } from './helpPages.ts'

const docs = join(import.meta.dirname, '../../../../docs')

test('each link to the documentation has its page and its heading', () => {
  const inPages = globSync('**/*.tsx', { cwd: join(import.meta.dirname, '..') }).flatMap((file) =>
    [...readFileSync(join(import.meta.dirname, '..', file), 'utf8').matchAll(/ (?:help|page)="([^"]+)"/g)].map(
      ([, page = '']) => page,
    ),
  )
  expect(inPages.length).toBeGreaterThan(5)
  for (const page of [...Object.values(helpPages).map((one) => one.page), ...inPages]) {
    const [path, heading] = page.split('#')
    const ids = readFileSync(join(docs, `${path}.md`), 'utf8')
      .split('\n')
      .filter((line) => /^#+ /.test(line))
      .map((line) => headingSlug(line.replace(/^#+ /, '')))
    if (heading !== undefined) expect(ids, page).toContain(heading)
  }
})
