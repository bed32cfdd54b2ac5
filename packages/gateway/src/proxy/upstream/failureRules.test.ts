import { expect, test } from 'vitest'
import { chooseEnd, decideNext, failureRules } from './failureRules.ts'
import type { AttemptEnd } from './failureRules.ts'

type Kind = AttemptEnd['kind']
const end = (kind: Kind, isRejectedBeforeRun = false): AttemptEnd => ({ kind, isRejectedBeforeRun })

test.each<[Kind, Kind | undefined, ReturnType<typeof decideNext>]>([
  ['result', undefined, 'finish'],
  ['result', 'missingData', 'finish'],
  ['null', undefined, 'next'],
  ['null', 'missingData', 'next'],
  ['null', 'null', 'finish'],
  ['revert', undefined, 'finish'],
  ['invalidRequest', 'null', 'finish'],
  ['missingData', undefined, 'next'],
  ['missingData', 'null', 'next'],
  ['throttled', 'throttled', 'next'],
  ['network', undefined, 'next'],
  ['aborted', undefined, 'finish'],
])('after %s, with %s before, a read: %s', (kind, best, step) => {
  const ends = best === undefined ? undefined : end(best)
  expect(decideNext(end(kind), { best: ends, idempotent: true })).toBe(step)
})

test.each<[Kind, boolean, ReturnType<typeof decideNext>]>([
  ['throttled', true, 'next'],
  ['throttled', false, 'finish'],
  ['network', true, 'next'],
  ['network', false, 'finish'],
  ['invalidRequest', true, 'finish'],
  ['txKnown', false, 'finish'],
])('after %s a write that was rejected before it ran (%s): %s', (kind, isRejected, step) => {
  expect(decideNext(end(kind, isRejected), { best: undefined, idempotent: false })).toBe(step)
})

test.each<[Kind, Kind, Kind]>([
  ['null', 'result', 'result'],
  ['null', 'revert', 'null'],
  ['missingData', 'null', 'null'],
  ['missingData', 'revert', 'revert'],
  ['lagging', 'missingData', 'missingData'],
  ['auth', 'throttled', 'throttled'],
  ['quota', 'timeout', 'timeout'],
  ['network', 'badResponse', 'badResponse'],
])('of %s and %s the caller gets %s', (one, other, best) => {
  expect(chooseEnd(end(one), end(other)).kind).toBe(best)
  expect(chooseEnd(end(other), end(one)).kind).toBe(best)
})

test('of two equal failures the caller gets the first', () => {
  const first = end('throttled')
  expect(chooseEnd(first, end('throttled'))).toBe(first)
})

test('a failure that every node would return does not count against a node', () => {
  const against = Object.entries(failureRules).filter(([, { retry, about }]) => retry === 'never' && about === 'node')
  expect(against).toEqual([])
})
