import { describe, expect, test } from 'vitest'
import { cpuMs } from '../../test/cpuMs.ts'
import { createCacheMemory } from './cacheMemory.ts'

/** A text that takes 1,000 bytes with its key of 3 and the entry itself. */
const text = 'x'.repeat(1_000 - 3 - 64)
const toKey = (n: number): string => String(n).padStart(3, '0')

describe('createCacheMemory', () => {
  test('returns stored texts, and undefined for other keys', () => {
    const memory = createCacheMemory(10_000)
    memory.set('a', '1')
    memory.set('b', '')
    expect([memory.get('a'), memory.get('b'), memory.get('c')]).toEqual(['1', '', undefined])
  })

  test('never exceeds its bound', () => {
    const memory = createCacheMemory(10_000)
    for (let n = 0; n < 500; n++) memory.set(toKey(n), text)
    const held = Array.from({ length: 500 }, (_, n) => n).filter((n) => memory.get(toKey(n)) !== undefined)
    expect(held.length).toBeGreaterThan(4)
    expect(held.length).toBeLessThanOrEqual(10)
    expect(held.at(-1)).toBe(499)
  })

  test('keeps entries that are used, and evicts others', () => {
    const memory = createCacheMemory(10_000)
    memory.set('hot', text)
    memory.set('old', text)
    for (let n = 0; n < 100; n++) {
      memory.set(toKey(n), text)
      expect(memory.get('hot')).toBe(text)
    }
    expect(memory.get('old')).toBeUndefined()
  })

  test('stores no text that is larger than half of it', () => {
    const memory = createCacheMemory(10_000)
    memory.set('a', text)
    memory.set('big', 'x'.repeat(5_000))
    expect(memory.get('big')).toBeUndefined()
    expect(memory.get('a')).toBe(text)
  })

  test('counts two bytes for each character of a text outside Latin-1', () => {
    const memory = createCacheMemory(10_000)
    memory.set('latin', 'é'.repeat(4_000))
    memory.set('other', 'ж'.repeat(4_000))
    expect(memory.get('latin')).toBeDefined()
    expect(memory.get('other')).toBeUndefined()
  })

  test('counts a text once, even if it is set several times', () => {
    const memory = createCacheMemory(10_000)
    memory.set('first', text)
    for (let n = 0; n < 100; n++) memory.set('again', text)
    expect(memory.get('first')).toBe(text)
  })

  test('has a constant cost for each operation when it is full and large', () => {
    const cost = (entries: number): number => {
      const memory = createCacheMemory(entries * 80)
      for (let n = 0; n < 3 * entries; n++) memory.set(`key${n}`, '')
      return cpuMs(() => {
        for (let n = 0; n < 100_000; n++) memory.set(`new${n}`, '')
      })
    }
    const [small = 0, large = 0] = [500, 50_000].map((entries) => Math.min(cost(entries), cost(entries)))
    // A step that visits every entry would cost 100 times as much. The processor's cache explains a few times.
    expect(large).toBeLessThan(20 * Math.max(small, 5))
  })
})
