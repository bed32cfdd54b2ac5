import { expect, test } from 'vitest'
import { toChunks } from './toChunks.ts'

/** Items with ids `from` to `to`, descending. */
const list = (from: number, to: number): { id: string }[] =>
  Array.from({ length: from - to + 1 }, (_, at) => ({ id: String(from - at) }))
const describeChunks = (pages: readonly { id: string }[][]) =>
  toChunks(pages).map(({ id, start, items }) => [id, start, items.length])

test('pages are split into chunks of 50 items, from their ends', () => {
  expect(describeChunks([])).toEqual([])
  expect(describeChunks([[]])).toEqual([])
  expect(describeChunks([list(3, 1)])).toEqual([['1', 0, 3]])
  expect(describeChunks([list(200, 101), list(100, 98)])).toEqual([
    ['151', 0, 50],
    ['101', 50, 50],
    ['98', 100, 3],
  ])
})

test('new items at the start and a new page at the end move no item to another chunk', () => {
  const before = [list(200, 101)]
  const after = [list(202, 101), list(100, 1)]
  expect(describeChunks(after)).toEqual([
    ['201', 0, 2],
    ['151', 2, 50],
    ['101', 52, 50],
    ['51', 102, 50],
    ['1', 152, 50],
  ])
  for (const { id, items } of toChunks(before)) {
    expect(toChunks(after).find((chunk) => chunk.id === id)?.items).toEqual(items)
  }
})
