import { expect, test } from 'vitest'
import { readRules } from './readRules.ts'

const typed = { errorPercent: '5', latencyMs: ' ', minutes: ' 15', minCalls: '100' }

test('an empty field turns an alert off', () => {
  const { rules, problems } = readRules(typed)
  expect(rules).toEqual({ errorPercent: 5, latencyMs: null, minutes: 15, minCalls: 100 })
  expect(Object.values(problems)).toEqual([undefined, undefined, undefined, undefined])
})

test('says what a field can be', () => {
  expect(readRules({ errorPercent: '101', latencyMs: '1.5', minutes: '4', minCalls: '' }).problems).toEqual({
    errorPercent: 'Must be a whole number from 1 to 100',
    latencyMs: 'Must be a whole number from 1 to 600000',
    minutes: 'Must be a whole number from 5 to 60',
    minCalls: 'Enter a number',
  })
})
