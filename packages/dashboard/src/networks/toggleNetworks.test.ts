import { expect, test } from 'vitest'
import { toggleNetworks } from './toggleNetworks.ts'

test.each([
  ['adds the networks of a chain', [], ['a', 'b'], ['a', 'b']],
  ['adds those that are missing, after the others', ['b', 'c'], ['a', 'b'], ['b', 'c', 'a']],
  ['removes them if all are chosen', ['a', 'c', 'b'], ['a', 'b'], ['c']],
])('%s', (_what, chosen, networks, expected) => {
  expect(toggleNetworks(chosen, networks)).toEqual(expected)
})
