import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBreaker } from './createBreaker.ts'
import type { Breaker } from './createBreaker.ts'

const start = (): { breaker: Breaker; pass: (ms: number) => void; changes: boolean[] } => {
  let at = 0
  const changes: boolean[] = []
  const breaker = createBreaker({ now: () => at, onChange: (closed) => changes.push(closed) })
  return { breaker, pass: (ms) => (at += ms), changes }
}
const report = (breaker: Breaker, ends: string): void => {
  for (const end of ends) breaker.report(end === '.')
}

describe('the breaker', () => {
  test.each([
    ['xxxx', true],
    ['xxxxx', false],
    ['xxxx.xxxx.xxxx', false],
    ['x.x.x.x.x.x.x.x.x.', true],
    ['x.x.x.x.x.x.x.x.x.x', false],
    ['xxx.................xxx.......', true],
  ])('after %s is closed: %s', (ends, closed) => {
    const { breaker } = start()
    report(breaker, ends)
    expect(breaker.closed()).toBe(closed)
  })

  test('opens on five in a row or ten among the last twenty, and on nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (ends) => {
        const { breaker } = start()
        for (const [index, answered] of ends.entries()) {
          breaker.report(answered)
          const last = ends.slice(Math.max(0, index - 19), index + 1)
          const five = last.slice(-5)
          const opens = (five.length === 5 && !five.includes(true)) || last.filter((end) => !end).length >= 10
          expect(breaker.closed()).toBe(!opens)
          if (opens) return
        }
      }),
    )
  })

  test('lets one call through for each wait, which doubles with each failure up to thirty seconds', () => {
    const { breaker, pass } = start()
    expect(breaker.mayTry()).toBe(false)
    report(breaker, 'xxxxx')
    expect(breaker.mayTry()).toBe(false)
    for (const waitMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      pass(waitMs - 1)
      expect(breaker.mayTry()).toBe(false)
      pass(1)
      expect([breaker.mayTry(), breaker.mayTry()]).toEqual([true, false])
      breaker.report(false)
    }
  })

  test('a try whose end is never told does not keep it open for ever', () => {
    const { breaker, pass } = start()
    report(breaker, 'xxxxx')
    pass(1_000)
    expect(breaker.mayTry()).toBe(true)
    pass(1_000)
    expect(breaker.mayTry()).toBe(true)
  })

  test('one good answer closes it, and what was before is forgotten', () => {
    const { breaker, changes } = start()
    report(breaker, 'xxxxx.xxxx')
    expect([breaker.closed(), changes]).toEqual([true, [false, true]])
    report(breaker, 'x')
    expect([breaker.closed(), changes]).toEqual([false, [false, true, false]])
  })
})
