import { expect, test } from 'vitest'
import { createFairShares } from './createFairShares.ts'
import type { FairShares } from './createFairShares.ts'

const takeAll = (shares: FairShares, name: string | undefined): number => {
  let taken = 0
  while (shares.take(name) !== undefined) taken += 1
  return taken
}

test('a single name gets half, the next name half of the rest, and each name at least one slot while one is free', () => {
  const shares = createFairShares(() => 16)
  expect(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => takeAll(shares, name))).toEqual([8, 4, 2, 1, 1, 0, 0])
})

test('a caller without a name may take all slots', () => {
  const shares = createFairShares(() => 16)
  expect([takeAll(shares, undefined), takeAll(shares, 'a')]).toEqual([16, 0])
})

test('a released slot can be taken again, and a new capacity applies immediately', () => {
  let capacity = 4
  const shares = createFairShares(() => capacity)
  const release = shares.take('a')
  expect([takeAll(shares, 'a'), takeAll(shares, 'b')]).toEqual([1, 1])
  release?.()
  expect(takeAll(shares, 'c')).toBe(1)
  capacity = 100
  expect(takeAll(shares, 'd')).toBe(48)
})
