import { expect, test } from 'vitest'
import { findFailure } from './findFailure.ts'
import { KeyrailError } from './keyrailError.ts'

const failure = new KeyrailError('down', { kind: 'unavailable', source: 'service', retryable: true })

test.each([
  ['the failure itself', failure],
  ['an error of an adapter', Object.assign(new Error('HTTP request failed.'), { failure })],
  [
    'an error of a library around it',
    new Error('outer', { cause: new Error('inner', { cause: Object.assign(new Error('x'), { failure }) }) }),
  ],
  ['an error whose cause is the failure', new Error('outer', { cause: failure })],
])('finds the failure of %s', (_, error) => {
  expect(findFailure(error)).toBe(failure)
})

test('finds nothing in another error, in other values, and in causes that form a circle', () => {
  const circle = new Error('circle')
  circle.cause = new Error('inner', { cause: circle })
  for (const other of [new Error('bug'), 'text', null, undefined, circle, { failure: 'unavailable' }])
    expect(findFailure(other)).toBeUndefined()
})
