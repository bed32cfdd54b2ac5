import { rangeHints as cases } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import { parseRangeHint } from './parseRangeHint.ts'

describe('parseRangeHint', () => {
  test.each(cases)('$name', ({ response, expect: expected }) => {
    expect(parseRangeHint(response.error)).toEqual(expected)
  })

  test.each([
    ['requested too many blocks from 1 to 20001, maximum is set to 2048', { maxBlocks: 2048 }],
    ['query must be smaller than size 1024', { maxBlocks: 1024 }],
    ['please limit the query to at most 1000 blocks', { maxBlocks: 1000 }],
    ['logs matched by query exceeds limit of 10000', {}],
    ['query exceeds max results 20000', {}],
    ['maximum of 10000 logs', {}],
  ])('reads %s', (message, expected) => {
    expect(parseRangeHint({ message })).toEqual(expected)
  })

  test('reads nothing out of data that is no range', () => {
    for (const data of [null, 'text', [], { from: {}, to: null }, { from: '0x5', to: 'latest' }, { from: -1, to: 2.5 }])
      expect(parseRangeHint({ message: 'block range exceeded', data })).toEqual({})
  })

  test('reads only the first 1,000 characters, so a hostile message costs no more', () => {
    const hint = 'limited to a 500 block range'
    expect(parseRangeHint({ message: hint.padStart(1_000) })).toEqual({ maxBlocks: 500 })
    expect(parseRangeHint({ message: hint.padStart(1_000 + hint.length) })).toEqual({})
  })
})
