import { expect, test } from 'vitest'
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
