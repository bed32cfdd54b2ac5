import { expect, test } from 'vitest'
import { readExpiry } from './readExpiry.ts'

test.each<[string | undefined, string | null | undefined]>([
  [undefined, undefined],
  ['never', null],
  ['2027-01-31', '2027-01-31T00:00:00.000Z'],
  ['2027-01-31T12:00Z', '2027-01-31T12:00:00.000Z'],
  ['2027-01-31T12:00:30.5+02:00', '2027-01-31T10:00:30.500Z'],
])('parses %s as %s', (text, time) => {
  expect(readExpiry(text)).toBe(time)
})

test.each(['tomorrow', '2027', '2027-13-01', '2027-01-31T12:00', '31.1.2027', ''])('rejects %j', (text) => {
  expect(() => readExpiry(text)).toThrow('--expires must be a date, a time or never')
})
