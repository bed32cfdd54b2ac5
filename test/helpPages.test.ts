import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { headingSlug } from '../docs/.vitepress/headingSlug.ts'
import { helpPages } from '../packages/dashboard/src/parts/helpPages.ts'
import { top } from './run.ts'

const docs = join(top, 'docs')
const dashboard = join(top, 'packages/dashboard/src')

test('each link to the documentation has its page and its heading', () => {
  const inPages = globSync('**/*.tsx', { cwd: dashboard }).flatMap((file) =>
    [...readFileSync(join(dashboard, file), 'utf8').matchAll(/ (?:help|page)="([^"]+)"/g)].map(([, page = '']) => page),
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
