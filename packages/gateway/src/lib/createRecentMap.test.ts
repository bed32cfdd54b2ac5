import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRecentMap } from './createRecentMap.ts'

describe('createRecentMap', () => {
  test('never exceeds maxEntries, never returns a stale value, and keeps the most recently used half', () => {
    const uses = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 12 }), fc.nat()), { maxLength: 200 })
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 12 }), uses, (most, list) => {
        const map = createRecentMap<number>(most)
        const last = new Map<string, number>()
        // The keys found or set, the most recently used first.
        let recent: string[] = []
        for (const [sets, name, value] of list) {
          const key = `k${name}`
          const found = sets ? undefined : map.get(key)
          if (sets) {
            map.set(key, value)
            last.set(key, value)
          } else if (recent.slice(0, Math.floor(most / 2)).includes(key)) expect(found).toBe(last.get(key))
          else expect([undefined, last.get(key)]).toContain(found)
          if (sets || found !== undefined) recent = [key, ...recent.filter((other) => other !== key)]
          expect(map.size).toBeLessThanOrEqual(Math.min(most, last.size))
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([1, 0, -1, 2.5, Number.NaN])('rejects %s for maxEntries', (most) => {
    expect(() => createRecentMap(most)).toThrow('maxEntries')
  })
})
