import fc from 'fast-check'
import { expect, test } from 'vitest'
import { getItems, joinArrays } from './joinArrays.ts'

const join = (...lists: readonly string[]): string =>
  joinArrays(lists.map((list) => getItems(Buffer.from(list)) ?? Buffer.from('not an array'))).toString()

test('joins arrays byte for byte', () => {
  expect(join()).toBe('[]')
  expect(join('[]', '[]')).toBe('[]')
  expect(join('[{"a":1.0}]', '[]', '[{"b":"ü"},{"c":[1, 2]}]')).toBe('[{"a":1.0},{"b":"ü"},{"c":[1, 2]}]')
  expect(join('[ 1 ]', '[\n]', '[ 2, 3 ]')).toBe('[1,2, 3]')
})

test('a value that is no array has no items', () => {
  for (const value of ['null', '{}', '"[]"', '']) expect(getItems(Buffer.from(value))).toBeUndefined()
})

test('joining the parts of a list in any places gives the list', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.array(fc.nat(20)), (list, cuts) => {
      const places = [0, ...cuts.map((cut) => Math.min(cut, list.length)), list.length].sort((a, b) => a - b)
      const parts = places.slice(1).map((end, index) => JSON.stringify(list.slice(places[index], end)))
      expect(join(...parts)).toBe(JSON.stringify(list))
    }),
  )
})
