import { describe, expect, test } from 'vitest'
import { readRangeError } from './rangeError.ts'

const read = (message: string, code = -32000) =>
  readRangeError({ member: 'error', value: Buffer.from(JSON.stringify({ code, message })) })

describe('readRangeError', () => {
  test.each([
    ['block range too large, max range: 30000', true],
    ['block range is too wide', true],
    ['query exceeds max block range 5000', true],
    ['Range of blocks exceeds 50', true],
    ['query returned more than 10000 results', false],
    ['Query timeout exceeded. Consider reducing your block range.', false],
    ['Response size is larger than 150MB limit', false],
    ['logs count limit exceeded (10000) consider refine/narrow down your query', false],
  ])('%s: limits blocks: %s', (message, limitsBlocks) => {
    expect(read(message)).toMatchObject({ limitsBlocks })
  })

  test('reads what the error says about the range', () => {
    expect(read('block range too large, max range: 30000')?.hint).toEqual({ maxBlocks: 30_000 })
  })

  test('is undefined for a result, for a rejection, and for another error', () => {
    expect(readRangeError({ member: 'result', value: '[]' })).toBeUndefined()
    expect(readRangeError({ status: 503, code: -32603, message: 'range', reason: 'upstream_busy' })).toBeUndefined()
    expect(read('execution reverted: block range too large')).toBeUndefined()
    expect(read('daily request count exceeded, request rate limited')).toBeUndefined()
    expect(readRangeError({ member: 'error', value: '{"message":{}}' })).toBeUndefined()
    expect(
      readRangeError({ member: 'error', value: `{"message":"block range too large${' '.repeat(20_000)}"}` }),
    ).toBeUndefined()
  })
})
