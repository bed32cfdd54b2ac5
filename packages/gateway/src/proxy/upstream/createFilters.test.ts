import { expect, test } from 'vitest'
import { createFilters } from './createFilters.ts'
import type { Filter } from './createFilters.ts'

const filterOf = (keyId: string): Filter => ({ keyId, nodeId: '"0x1"', member: undefined as never })

test('a filter that nobody asks for five minutes is forgotten, and one that is asked is not', () => {
  let at = 0
  const filters = createFilters({ maxPerKey: 10, now: () => at })
  const [asked, left] = [filters.add(filterOf('a')).id, filters.add(filterOf('a')).id]
  for (let minute = 0; minute < 10; minute += 1) {
    expect(filters.find(asked, 'a')).toBeDefined()
    at += 60_000
  }
  expect(filters.find(left, 'a')).toBeUndefined()
  expect(filters.size()).toBe(1)
})

test('forgotten filters leave nothing behind, without being asked for', () => {
  let at = 0
  const filters = createFilters({ maxPerKey: 10, now: () => at })
  for (let key = 0; key < 1_000; key += 1) filters.add(filterOf(`key ${key}`))
  at = 5 * 60_000
  filters.add(filterOf('another'))
  expect(filters.size()).toBe(1)
})

test('the one that makes room is the one unused for longest of the same key', () => {
  const filters = createFilters({ maxPerKey: 2, now: () => 0 })
  const others = filters.add(filterOf('b')).id
  const [first, second] = [filters.add(filterOf('a')).id, filters.add({ ...filterOf('a'), nodeId: '"0x2"' }).id]
  filters.find(first, 'a')
  expect(filters.add(filterOf('a')).dropped?.nodeId).toBe('"0x2"')
  expect([filters.find(first, 'a'), filters.find(second, 'a'), filters.find(others, 'b')].map(Boolean)).toEqual([
    true,
    false,
    true,
  ])
})
