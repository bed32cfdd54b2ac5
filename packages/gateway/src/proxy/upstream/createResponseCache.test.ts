import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createResponseCache } from './createResponseCache.ts'

describe('the response cache', () => {
  test('never exceeds its size', () => {
    const maxBytes = 20_000
    const put = fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 2_000 }))
    fc.assert(
      fc.property(fc.array(put, { maxLength: 200 }), (puts) => {
        const cache = createResponseCache(maxBytes)
        for (const [key, size] of puts) {
          cache.set(`key ${key}`, Buffer.alloc(size, key))
          expect(cache.bytes()).toBeLessThanOrEqual(maxBytes)
          const found = cache.get(`key ${key}`)
          if (found !== undefined) expect(found.equals(Buffer.alloc(found.length, key))).toBe(true)
        }
        cache.clear()
        expect(cache.bytes()).toBe(0)
      }),
      { numRuns: 200 },
    )
  })

  test('evicts the least recently used entry', () => {
    const cache = createResponseCache(20_000)
    const value = Buffer.alloc(1_000)
    for (let key = 0; key < 16; key += 1) cache.set(`${key}`, value)
    cache.get('0')
    cache.set('new', value)
    expect([cache.get('0') !== undefined, cache.get('1'), cache.get('new') !== undefined]).toEqual([
      true,
      undefined,
      true,
    ])
  })

  test('does not cache a response that would fill a large part of it', () => {
    const cache = createResponseCache(16_000)
    cache.set('large', Buffer.alloc(1_000))
    expect([cache.get('large'), cache.bytes()]).toEqual([undefined, 0])
  })

  test('copies the bytes', () => {
    const cache = createResponseCache(100_000)
    const value = Buffer.from('abc')
    cache.set('key', value)
    value.fill(0)
    expect(cache.get('key')?.toString()).toBe('abc')
  })
})
