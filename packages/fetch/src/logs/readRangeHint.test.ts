import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import { rangeHints as cases } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import { readRangeHint } from './readRangeHint.ts'

describe('readRangeHint', () => {
  test.each(cases)('$name', ({ answer, expect: expected }) => {
    expect(readRangeHint(answer.error)).toEqual(expected)
  })

  test.each([
    ['requested too many blocks from 1 to 20001, maximum is set to 2048', { maxBlocks: 2048 }],
    ['query must be smaller than size 1024', { maxBlocks: 1024 }],
    ['please limit the query to at most 1000 blocks', { maxBlocks: 1000 }],
    ['logs matched by query exceeds limit of 10000', {}],
    ['query exceeds max results 20000', {}],
    ['maximum of 10000 logs', {}],
  ])('reads %s', (message, expected) => {
    expect(readRangeHint({ message })).toEqual(expected)
  })

  test('reads nothing out of data that is no range', () => {
    for (const data of [null, 'text', [], { from: {}, to: null }, { from: '0x5', to: 'latest' }, { from: -1, to: 2.5 }])
      expect(readRangeHint({ message: 'block range exceeded', data })).toEqual({})
  })

  test('takes time in proportion to a hostile message', () => {
    const read = (): void => {
      readRangeHint({ message: 'max '.repeat(20_000) })
      readRangeHint({ message: `range ${'blocks '.repeat(20_000)}` })
      readRangeHint({ message: `try with ${'['.repeat(20_000)}` })
    }
    expect(cpuMs(read)).toBeLessThan(500)
  })
})
