import { expect, test } from 'vitest'
import { createLastWriters, readOwnWritesMs } from './createLastWriters.ts'

test('a key has its last writer for fifteen seconds', () => {
  let at = 0
  const writers = createLastWriters<string>({ now: () => at })
  writers.set('key', 'a')
  writers.set('key', 'b')
  expect([writers.get('key'), writers.get('other')]).toEqual(['b', undefined])
  at = readOwnWritesMs - 1
  expect(writers.get('key')).toBe('b')
  at += 1
  expect(writers.get('key')).toBeUndefined()
})

test('the oldest of 10,000 keys is forgotten for one more', () => {
  const writers = createLastWriters<string>({ now: () => 0 })
  for (let key = 0; key < 10_000; key += 1) writers.set(`key-${key}`, 'a')
  writers.set('key-0', 'b')
  writers.set('one-more', 'a')
  expect(['key-0', 'key-1', 'key-2', 'one-more'].map(writers.get)).toEqual(['b', undefined, 'a', 'a'])
})
