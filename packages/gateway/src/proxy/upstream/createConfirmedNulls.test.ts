import { expect, test } from 'vitest'
import { createConfirmedNulls } from './createConfirmedNulls.ts'

test('a null is confirmed for a head and those below it', () => {
  const nulls = createConfirmedNulls(10)
  expect(nulls.has('a', 100)).toBe(false)
  nulls.add('a', 100)
  expect([99, 100, 101].map((head) => nulls.has('a', head))).toEqual([true, true, false])
  expect(nulls.has('b', 100)).toBe(false)
})

test('the least recently used are forgotten', () => {
  const nulls = createConfirmedNulls(2)
  for (const key of ['a', 'b', 'a', 'c']) nulls.add(key, 1)
  expect(['a', 'b', 'c'].map((key) => nulls.has(key, 1))).toEqual([true, false, true])
})

test('a long key is not remembered, because it is never looked up again', () => {
  const nulls = createConfirmedNulls(2)
  expect(nulls.has('x'.repeat(600), 1)).toBe(true)
})
