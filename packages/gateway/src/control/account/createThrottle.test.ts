import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createThrottle } from './createThrottle.ts'

describe('debts', () => {
  test('let a burst pass, then one an interval, and are forgotten', () => {
    let time = 1_000_000
    const debts = createThrottle({ burst: 3, intervalMs: 100, now: () => time })
    for (let at = 0; at < 3; at += 1) {
      expect(debts.waitMs('a')).toBe(0)
      debts.add('a')
    }
    expect(debts.waitMs('a')).toBe(100)
    expect(debts.waitMs('b')).toBe(0)
    time += 40
    expect(debts.waitMs('a')).toBe(60)
    time += 60
    const takeBack = debts.add('a')
    expect(debts.waitMs('a')).toBe(100)
    takeBack()
    expect(debts.waitMs('a')).toBe(0)
    debts.add('a')
    // What is rejected and added all the same makes no longer debt, and taken back no shorter one.
    for (let at = 0; at < 50; at += 1) debts.add('a')
    expect(debts.waitMs('a')).toBe(100)
    debts.add('a')()
    expect(debts.waitMs('a')).toBe(100)
    time += 300
    for (let at = 0; at < 3; at += 1) {
      expect(debts.waitMs('a')).toBe(0)
      debts.add('a')
    }
  })

  test('hold no more than they are told to', () => {
    const debts = createThrottle({ burst: 1, intervalMs: 100, maxKeys: 50, now: () => 0 })
    for (let at = 0; at < 1_000; at += 1) debts.add(`key ${at}`)
    expect(debts.size).toBeLessThanOrEqual(50)
    expect(debts.waitMs('key 999')).toBe(100)
  })

  test('never let more pass than burst and span allow, whatever the times', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 60 }),
        (burst, intervalMs, waits) => {
          let time = 0
          const debts = createThrottle({ burst, intervalMs, now: () => time })
          const passed: number[] = []
          for (const wait of waits) {
            time += wait
            if (debts.waitMs('a') > 0) continue
            debts.add('a')
            passed.push(time)
          }
          passed.forEach((from, first) =>
            passed.slice(first).forEach((to, count) => {
              expect(count + 1).toBeLessThanOrEqual(burst + (to - from) / intervalMs)
            }),
          )
        },
      ),
      { numRuns: 500 },
    )
  })
})
