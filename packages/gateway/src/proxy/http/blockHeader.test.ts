import { expect, test } from 'vitest'
import { parseBlockHeader } from './blockHeader.ts'

test('a block in a request is a decimal number', () => {
  expect(['0', '24000000', '999999999999999'].map(parseBlockHeader)).toEqual([0, 24_000_000, 999_999_999_999_999])
})

test.each([
  [undefined],
  [''],
  ['0x10'],
  ['-1'],
  ['1.5'],
  ['1e3'],
  [' 1'],
  ['1, 2'],
  ['1000000000000000'],
  [['1', '2']],
])('%j is ignored', (value) => {
  expect(parseBlockHeader(value)).toBeUndefined()
})
