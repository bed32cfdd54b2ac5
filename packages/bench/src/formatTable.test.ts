import { expect, test } from 'vitest'
import { formatTable } from './formatTable.ts'

test('a table is aligned, with any content', () => {
  const table = formatTable(
    ['subject', '×'],
    [
      ['floor', '1.00'],
      ['ключ', ''],
    ],
  )
  expect(table).toBe('| subject |    × |\n| ------- | ---: |\n| floor   | 1.00 |\n| ключ    |      |')
})
