import { expect, test } from 'vitest'
import { createFairShares } from './createFairShares.ts'
import type { FairShares } from './createFairShares.ts'

const takeAll = (shares: FairShares, name: string | undefined): number => {
  let taken = 0
  while (shares.take(name) !== undefined) taken += 1
  return taken
}

test('one alone has half, the next half of the rest, and each has one while there is one', () => {
  const shares = createFairShares(() => 16)
  expect(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => takeAll(shares, name))).toEqual([8, 4, 2, 1, 1, 0, 0])
})

test('who has no bound of its own may have all', () => {
  const shares = createFairShares(() => 16)
  expect([takeAll(shares, undefined), takeAll(shares, 'a')]).toEqual([16, 0])
})

test('what is given back may be taken again, and a bound that moves holds at once', () => {
  let most = 4
  const shares = createFairShares(() => most)
  const give = shares.take('a')
  expect([takeAll(shares, 'a'), takeAll(shares, 'b')]).toEqual([1, 1])
  give?.()
  expect(takeAll(shares, 'c')).toBe(1)
  most = 100
  expect(takeAll(shares, 'd')).toBe(48)
})
