import { expect, test } from 'vitest'
import { toSearchedTexts } from '../docs/.vitepress/agentPages.ts'
import { readPages } from '../docs/.vitepress/readPages.ts'
import settings from '../docs/.vitepress/search.json' with { type: 'json' }
import { createDocsIndex } from '../packages/cli/src/mcp/docsIndex.ts'
import { splitPage } from '../packages/cli/src/mcp/splitPage.ts'
import { top } from './run.ts'
import { searchQueries } from './searchQueries.ts'

const pages = toSearchedTexts(readPages(top))
const docs = createDocsIndex({ pages, settings })

test('finds the right page first, for what readers search for', () => {
  expect(searchQueries.length).toBeGreaterThanOrEqual(42)
  const found = searchQueries.map(([query]) => [query, docs.search(query, 1)[0]?.page])
  expect(found).toEqual(searchQueries.map(([query, page]) => [query, page]))
})

test('reads pages of the docs only', () => {
  expect(docs.read('failures.md')).toMatch(/^# Failures/)
  expect(docs.read('/packages/msw.md')).toMatch(/^# @keyrail\/msw/)
  expect(docs.read('../package.json')).toBeUndefined()
  expect(docs.read('decisions/index.md')).toBeUndefined()
})

test('adds words only to headings that exist', () => {
  const missing = Object.entries(settings.words).flatMap(([page, words]) => {
    const headings = splitPage(page, pages.get(page) ?? '').map(({ heading }) => heading)
    return Object.keys(words).flatMap((heading) => (headings.includes(heading) ? [] : [`${page}: ${heading}`]))
  })
  expect(missing).toEqual([])
})

test('the words of a section are searched without its links, its marks and the signatures of the API', () => {
  const page = [
    '# A page',
    '## `keyrail logs` ([more](/cli/logs.md))',
    'See `x` in [the `table`](/b.md#c) | <y> |',
    '```sh npm',
    '# not a heading',
    '```',
  ].join('\n')
  const code = { title: 'keyrail logs (more)', parents: ['A page'], text: 'See x in the table y # not a heading' }
  expect(splitPage('a.md', page)[1]?.searched).toEqual(code)
  expect(splitPage('api/a.md', page)[1]?.searched.text).toBe('See x in the table y')
  expect(splitPage('a.md', page, { 'A page': 'CORS' })[0]?.searched.title).toBe('A page (CORS)')
})
