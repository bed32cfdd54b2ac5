import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBreaker } from './createBreaker.ts'
import type { Breaker } from './createBreaker.ts'

interface Started {
  readonly breaker: Breaker
  readonly pass: (ms: number) => void
  readonly changes: boolean[]
  readonly doubts: () => number
}
const start = (): Started => {
  let at = 0
  let doubts = 0
  const changes: boolean[] = []
  const breaker = createBreaker({
    now: () => at,
    onChange: (closed) => changes.push(closed),
    onDoubt: () => (doubts += 1),
  })
  return { breaker, pass: (ms) => (at += ms), changes, doubts: () => doubts }
}
/** A dot is an answer, a letter a failure of that owner's call; an x is of another owner each time. */
const report = (breaker: Breaker, ends: string): void => {
  for (const [index, end] of [...ends].entries())
    if (end === '.') breaker.answered()
    else breaker.failed(end === 'x' ? `owner-${index}` : end)
}

describe('the breaker', () => {
  test.each([
    ['xxxx', true],
    ['xxxxx', false],
    ['xxxx.xxxx.xxxx', false],
    ['x.x.x.x.x.x.x.x.x.', true],
    ['x.x.x.x.x.x.x.x.x.x', false],
    ['xxx.................xxx.......', true],
    ['aabbc', false],
    ['a.b.c.a.b.c.a.b.c.a', false],
  ])('after %s is closed: %s', (ends, closed) => {
    const { breaker, doubts } = start()
    report(breaker, ends)
    expect([breaker.closed(), doubts()]).toEqual([closed, 0])
  })

  test('opens on five in a row or ten among the last twenty, and on nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (ends) => {
        const { breaker } = start()
        for (const [index, answered] of ends.entries()) {
          if (answered) breaker.answered()
          else breaker.failed(`owner-${index}`)
          const last = ends.slice(Math.max(0, index - 19), index + 1)
          const five = last.slice(-5)
          const opens = (five.length === 5 && !five.includes(true)) || last.filter((end) => !end).length >= 10
          expect(breaker.closed()).toBe(!opens)
          if (opens) return
        }
      }),
    )
  })

  test.each([
    'aaaaa',
    'aaaab',
    'aaabb',
    'aabbb',
    'abcaaaaa',
    'a.a.a.a.a.a.a.a.a.a',
    'ab.ab.ab.ab.ab',
    'b.c.a.a.a.a.a.a.a.a',
  ])(
    'after %s, too many of them of two owners, is in doubt: it opens only where a question of nobody’s fails too',
    (ends) => {
      for (const works of [true, false]) {
        const { breaker, doubts } = start()
        report(breaker, ends)
        expect([breaker.closed(), doubts() > 0]).toEqual([true, true])
        breaker.confirm(works)
        expect(breaker.closed()).toBe(works)
      }
    },
  )

  test('what a question of nobody’s has excused is forgotten', () => {
    const { breaker, doubts } = start()
    report(breaker, 'aaaaa')
    breaker.confirm(true)
    report(breaker, 'aaaa')
    expect(doubts()).toBe(1)
    report(breaker, 'a')
    expect([breaker.closed(), doubts()]).toEqual([true, 2])
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
      breaker.failed(`owner-${waitMs}-${Math.random()}`)
    }
  })

  test('tries that fail for one owner again and again make the wait longer only where a question of nobody’s fails too', () => {
    for (const [works, waitsMs] of [
      [true, [1_000, 2_000, 2_000, 2_000]],
      [false, [1_000, 2_000, 4_000, 8_000]],
    ] as const) {
      const { breaker, pass, doubts } = start()
      report(breaker, 'xxxxx')
      for (const [index, waitMs] of waitsMs.entries()) {
        pass(waitMs - 1)
        expect(breaker.mayTry()).toBe(false)
        pass(1)
        expect(breaker.mayTry()).toBe(true)
        breaker.failed('a')
        expect(doubts()).toBe(index)
        if (index > 0) breaker.confirm(works)
      }
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
    report(breaker, 'y')
    expect([breaker.closed(), changes]).toEqual([false, [false, true, false]])
  })
})
