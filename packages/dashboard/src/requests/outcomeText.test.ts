import { expect, test } from 'vitest'
import { outcomeText } from './outcomeText.ts'

test.each<[outcome: string, message: string | null, text: string]>([
  ['succeeded', null, 'Succeeded'],
  ['reverted', 'execution reverted: not the owner', 'Reverted: not the owner'],
  ['reverted', 'execution reverted', 'Reverted'],
  ['reverted', 'out of gas', 'Reverted: out of gas'],
  ['nodeError', 'header not found', 'Node error: header not found'],
  ['nodeError', null, 'Node error'],
  ['rate_limited', 'Too many requests', 'Rejected: rate limited'],
])('%s with the message %s is "%s"', (outcome, message, text) => {
  expect(outcomeText({ outcome, message })).toBe(text)
})
