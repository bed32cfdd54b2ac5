import { expect, test } from 'vitest'
import { createFilters } from './createFilters.ts'
import type { Filter } from './createFilters.ts'

const createFilter = (keyId: string): Filter => ({ keyId, nodeId: '"0x1"', member: undefined as never })

test('a filter expires after five minutes without use', () => {
  let time = 0
  const filters = createFilters({ maxPerKey: 10, now: () => time })
  const [used, unused] = [filters.add(createFilter('a')).id, filters.add(createFilter('a')).id]
  for (let minute = 0; minute < 10; minute += 1) {
    expect(filters.find(used, 'a')).toBeDefined()
    time += 60_000
  }
  expect(filters.find(unused, 'a')).toBeUndefined()
  expect(filters.size()).toBe(1)
})

test('expired filters are removed without a lookup', () => {
  let time = 0
  const filters = createFilters({ maxPerKey: 10, now: () => time })
  for (let key = 0; key < 1_000; key += 1) filters.add(createFilter(`key ${key}`))
  time = 5 * 60_000
  filters.add(createFilter('another'))
  expect(filters.size()).toBe(1)
})

test('one filter too many evicts the least recently used one of the same key', () => {
  const filters = createFilters({ maxPerKey: 2, now: () => 0 })
  const others = filters.add(createFilter('b')).id
  const [first, second] = [filters.add(createFilter('a')).id, filters.add({ ...createFilter('a'), nodeId: '"0x2"' }).id]
  filters.find(first, 'a')
  expect(filters.add(createFilter('a')).dropped?.nodeId).toBe('"0x2"')
  expect([filters.find(first, 'a'), filters.find(second, 'a'), filters.find(others, 'b')].map(Boolean)).toEqual([
    true,
    false,
    true,
  ])
})
