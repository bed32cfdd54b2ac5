import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createKeyCache } from './createKeyCache.ts'

describe('createKeyCache', () => {
  test('forget drops all values of a subject and no others', () => {
    const cache = createKeyCache<number>(100)
    cache.set('a', 1, ['user-1', 'app-1'])
    cache.set('b', 2, ['user-1', 'app-2'])
    cache.set('c', 3, ['user-2', 'app-3'])
    cache.forget('app-1')
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([undefined, 2, 3])
    cache.forget('user-1')
    expect([cache.get('b'), cache.get('c'), cache.size]).toEqual([undefined, 3, 1])
    cache.clear()
    expect([cache.get('c'), cache.size]).toEqual([undefined, 0])
  })

  test('never exceeds its bound and retains values in use', () => {
    const cache = createKeyCache<number>(10)
    cache.set('used', -1, ['me'])
    for (let index = 0; index < 1_000; index += 1) {
      cache.set(`name-${index}`, index, [`user-${index % 7}`])
      expect(cache.get('used')).toBe(-1)
      expect(cache.size).toBeLessThanOrEqual(10)
    }
    expect(cache.get('name-0')).toBeUndefined()
  })

  test('after any operations, get returns a value only if none of its subjects was dropped since set', () => {
    expect.hasAssertions()
    const subject = fc.constantFrom('u1', 'u2', 'a1', 'a2')
    const name = fc.constantFrom('k1', 'k2', 'k3', 'k4', 'k5', 'k6')
    const step = fc.oneof(
      fc.record({ do: fc.constant('set' as const), name, subjects: fc.uniqueArray(subject, { maxLength: 2 }) }),
      fc.record({ do: fc.constant('get' as const), name }),
      fc.record({ do: fc.constant('forget' as const), subject }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const cache = createKeyCache<number>(6)
        const model = new Map<string, { value: number; subjects: readonly string[] }>()
        for (const [index, each] of steps.entries())
          if (each.do === 'set') {
            cache.set(each.name, index, each.subjects)
            model.set(each.name, { value: index, subjects: each.subjects })
          } else if (each.do === 'forget') {
            cache.forget(each.subject)
            for (const [key, { subjects }] of model) if (subjects.includes(each.subject)) model.delete(key)
          } else {
            const found = cache.get(each.name)
            expect([undefined, model.get(each.name)?.value]).toContain(found)
          }
      }),
    )
  })

  test.each([0, 1, 1.5, Number.NaN])('rejects a bound of %s', (bound) => {
    expect(() => createKeyCache(bound)).toThrow(new TypeError('maxEntries must be a whole number of 2 or more'))
  })
})
