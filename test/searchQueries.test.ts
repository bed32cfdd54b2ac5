import { expect, test } from 'vitest'
import settings from '../docs/.vitepress/search.json' with { type: 'json' }
import { searchQueries } from './searchQueries.ts'
import { createDocsIndex } from '../packages/cli/src/mcp/docsIndex.ts'

const docs = createDocsIndex()

test('finds the right page first, for what readers search for', () => {
  expect(searchQueries.length).toBeGreaterThanOrEqual(40)
  const found = searchQueries.map(([query]) => [query, docs.search(query, 1)[0]?.page])
  expect(found).toEqual(searchQueries.map(([query, page]) => [query, page]))
})

test('reads pages of the docs only', () => {
  expect(docs.read('failures.md')).toMatch(/^# Failures/)
  expect(docs.read('../package.json')).toBeUndefined()
  expect(docs.read('decisions/README.md')).toBeUndefined()
})

test('adds words only to headings that exist', () => {
  const missing = Object.entries(settings.words).flatMap(([page, words]) => {
    const headings = (docs.read(page) ?? '').split('\n').filter((line) => line.startsWith('#'))
    const titles = headings.map((line) => line.replace(/^#+ /, '').replaceAll('`', ''))
    return Object.keys(words).flatMap((heading) => (titles.includes(heading) ? [] : [`${page}: ${heading}`]))
  })
  expect(missing).toEqual([])
})
