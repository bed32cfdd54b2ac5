import { expect, test } from 'vitest'
import { createSeenHeads } from './createSeenHeads.ts'

test('the head of a key does not go back, and that of another key is its own', () => {
  const heads = createSeenHeads({ monotonic: true, now: () => 0 })
  expect(heads.get('a')).toBeUndefined()
  expect([100, 99, 101, 100].map((head) => heads.record('a', head))).toEqual([100, 100, 101, 101])
  expect(heads.record('b', 90)).toBe(90)
  expect([heads.get('a'), heads.get('b')]).toEqual([101, 90])
})

test('a head that no node has had for ten seconds is forgotten', () => {
  let time = 0
  const heads = createSeenHeads({ monotonic: true, now: () => time })
  const record = (at: number, head: number): number => {
    time = at
    return heads.record('a', head)
  }
  expect([record(0, 100), record(5_000, 100), record(14_999, 20), record(15_000, 20), record(15_001, 19)]).toEqual([
    100, 100, 100, 20, 20,
  ])
})

test('the head of a single node may go back', () => {
  const heads = createSeenHeads({ monotonic: false, now: () => 0 })
  expect([heads.record('a', 100), heads.record('a', 7), heads.get('a')]).toEqual([100, 7, 7])
})
