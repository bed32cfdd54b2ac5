import * as fc from 'fast-check'
import { expect } from 'vitest'
import { readableRuns } from './secretSpellings.ts'

/**
 * Expects that a mask changes a text only if it contains eight consecutive characters of a secret, and then hides all of them.
 *
 * @param hide - The mask.
 * @param key - The secret: at least 40 characters.
 * @param numRuns - How many texts to try.
 */
export function expectPreciseMask(hide: (text: string) => string, key: string, numRuns: number): void {
  const word = fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fc.nat(30), fc.nat(7)).map(([from, length]) => key.slice(from, from + length)) },
    { weight: 1, arbitrary: fc.constantFrom('%25', '\\\\', '%41', '&#x41;', '0x', '==', 'é', '{"a":[1]}') },
    { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
  )
  let unchanged = 0
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), fc.constantFrom(' ', ', ', '!', ' x '), (words, between) => {
      const text = words.join(between)
      const innocent = readableRuns(text, key).length === 0
      if (innocent) unchanged += 1
      if (innocent) expect(hide(text)).toBe(text)
      else expect(readableRuns(hide(text), key)).toEqual([])
    }),
    { numRuns },
  )
  expect(unchanged).toBeGreaterThan(numRuns / 6)
}
