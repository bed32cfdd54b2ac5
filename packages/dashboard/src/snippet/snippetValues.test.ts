import { expect, test } from 'vitest'
import { readValues } from './snippetValues.ts'

test('valid values are accepted for an example, others are reported', () => {
  const account = `0x${'aB'.repeat(20)}`
  expect(readValues(['account', 'block'], { account: ` ${account} `, block: '12' })).toEqual({
    values: { account, block: 12 },
    fixes: {},
  })
  expect(readValues(['contract'], { contract: "0x'); alert(1)" })).toEqual({
    values: {},
    fixes: { contract: 'Must be 0x and 40 hexadecimal digits.' },
  })
  expect(readValues(['block'], { block: '-1' }).fixes.block).toBe('Must be a whole number, 0 or more.')
  // Unknown values are ignored.
  expect(readValues([], { account: 'nobody' })).toEqual({ values: {}, fixes: {} })
  expect(readValues(['block'], { block: '' })).toEqual({ values: {}, fixes: {} })
})
