import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBreaker } from './createBreaker.ts'
import type { Breaker, SentCall } from './createBreaker.ts'

interface Started {
  readonly breaker: Breaker
  readonly pass: (ms: number) => void
  readonly changes: boolean[]
  readonly doubts: () => number
  /** Calls `confirm` of the last `onDoubt`. */
  readonly confirm: (works: boolean) => void
}
const start = (): Started => {
  let at = 0
  const confirms: ((works: boolean) => void)[] = []
  const changes: boolean[] = []
  const breaker = createBreaker({
    now: () => at,
    onChange: (closed) => changes.push(closed),
    onDoubt: (confirm) => confirms.push(confirm),
  })
  return {
    breaker,
    pass: (ms) => (at += ms),
    changes,
    doubts: () => confirms.length,
    confirm: (works) => confirms.at(-1)?.(works),
  }
}
/** A dot is a success, a letter a failure of that owner's call. Each `x` has a new owner. */
const report = (breaker: Breaker, ends: string): void => {
  for (const [index, end] of [...ends].entries())
    if (end === '.') breaker.succeeded(breaker.sent(false))
    else breaker.failed(breaker.sent(false), end === 'x' ? `owner-${index}` : end)
}
/** Sends the trial that is due. */
const sendTrial = (breaker: Breaker): SentCall => {
  expect(breaker.trialDue()).toBe(true)
  const trial = breaker.sent(true)
  expect(breaker.trialDue()).toBe(false)
  return trial
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

  test('opens only on five failures in a row or ten among the last twenty', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (ends) => {
        const { breaker } = start()
        for (const [index, isSuccess] of ends.entries()) {
          if (isSuccess) breaker.succeeded(breaker.sent(false))
          else breaker.failed(breaker.sent(false), `owner-${index}`)
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
  ])('after %s, most of them failures of two owners: opens only if the confirmation request fails too', (ends) => {
    for (const works of [true, false]) {
      const { breaker, doubts, confirm } = start()
      report(breaker, ends)
      expect([breaker.closed(), doubts() > 0]).toEqual([true, true])
      confirm(works)
      expect(breaker.closed()).toBe(works)
    }
  })

  test('a successful confirmation request clears the failures', () => {
    const { breaker, doubts, confirm } = start()
    report(breaker, 'aaaaa')
    confirm(true)
    report(breaker, 'aaaa')
    expect(doubts()).toBe(1)
    report(breaker, 'a')
    expect([breaker.closed(), doubts()]).toEqual([true, 2])
  })

  test('allows one trial per wait, and doubles the wait after each failed trial, up to thirty seconds', () => {
    const { breaker, pass } = start()
    expect(breaker.trialDue()).toBe(false)
    report(breaker, 'xxxxx')
    expect(breaker.trialDue()).toBe(false)
    for (const [index, waitMs] of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
      pass(waitMs - 1)
      expect(breaker.trialDue()).toBe(false)
      pass(1)
      breaker.failed(sendTrial(breaker), `owner-${index}`)
    }
  })

  test('if trials of one user fail repeatedly, waits longer only if the confirmation request fails too', () => {
    for (const [works, waitsMs] of [
      [true, [1_000, 2_000, 2_000, 2_000]],
      [false, [1_000, 2_000, 4_000, 8_000]],
    ] as const) {
      const { breaker, pass, doubts, confirm } = start()
      report(breaker, 'xxxxx')
      for (const [index, waitMs] of waitsMs.entries()) {
        pass(waitMs - 1)
        expect(breaker.trialDue()).toBe(false)
        pass(1)
        breaker.failed(sendTrial(breaker), 'a')
        expect(doubts()).toBe(index)
        if (index > 0) confirm(works)
      }
    }
  })

  test('allows another trial if one never ends', () => {
    const { breaker, pass } = start()
    report(breaker, 'xxxxx')
    pass(1_000)
    sendTrial(breaker)
    pass(1_000)
    expect(sendTrial(breaker).trial).toBeDefined()
  })

  test('closes after one success and forgets earlier failures', () => {
    const { breaker, changes } = start()
    report(breaker, 'xxxxx.xxxx')
    expect([breaker.closed(), changes]).toEqual([true, [false, true]])
    report(breaker, 'y')
    expect([breaker.closed(), changes]).toEqual([false, [false, true, false]])
  })
})

// 15.31
describe('a stale call', () => {
  const sendMany = (breaker: Breaker, count = 40): SentCall[] => Array.from({ length: count }, () => breaker.sent(true))
  const failAll = (breaker: Breaker, calls: readonly SentCall[]): void => {
    for (const [index, call] of calls.entries()) breaker.failed(call, `owner-${index}`)
  }

  test('does not make the wait longer if it was in flight when the breaker opened', () => {
    const { breaker, pass } = start()
    const pending = sendMany(breaker)
    failAll(breaker, pending.slice(0, 20))
    expect(breaker.closed()).toBe(false)
    pass(500)
    failAll(breaker, pending.slice(20))
    pass(500)
    sendTrial(breaker)
  })

  test('does not make the wait longer if it was sent while the breaker was open and is not a trial', () => {
    const { breaker, pass } = start()
    report(breaker, 'xxxxx')
    failAll(breaker, sendMany(breaker))
    pass(1_000)
    failAll(
      breaker,
      sendMany(breaker).filter(({ trial }) => trial === undefined),
    )
    pass(1_000)
    expect(breaker.trialDue()).toBe(true)
  })

  test('does not close the breaker if it was sent before the breaker opened', () => {
    const { breaker, changes } = start()
    const early = breaker.sent(false)
    report(breaker, 'xxxxx')
    breaker.succeeded(early)
    expect([breaker.closed(), changes]).toEqual([false, [false]])
    breaker.succeeded(breaker.sent(false))
    expect(breaker.closed()).toBe(true)
  })

  test('does not open the breaker again if it was sent before the upstream recovered', () => {
    const { breaker, pass, changes } = start()
    const before = sendMany(breaker)
    report(breaker, 'xxxxx')
    const duringIt = sendMany(breaker)
    pass(1_000)
    breaker.succeeded(sendTrial(breaker))
    failAll(breaker, [...before, ...duringIt])
    expect([breaker.closed(), changes]).toEqual([true, [false, true]])
  })

  test('counts once if the trial is late and then fails', () => {
    const { breaker, pass } = start()
    report(breaker, 'xxxxx')
    pass(1_000)
    const trial = sendTrial(breaker)
    breaker.failed(trial, 'a')
    breaker.failed(trial, 'b')
    pass(1_999)
    expect(breaker.trialDue()).toBe(false)
    pass(1)
    sendTrial(breaker)
  })

  test('counts once if several late trials fail together', () => {
    const { breaker, pass } = start()
    report(breaker, 'xxxxx')
    const trials = Array.from({ length: 10 }, () => {
      pass(1_000)
      return sendTrial(breaker)
    })
    failAll(breaker, trials)
    pass(2_000)
    expect(breaker.trialDue()).toBe(true)
  })

  test('closes the breaker if a late trial succeeds', () => {
    const { breaker, pass } = start()
    report(breaker, 'xxxxx')
    pass(1_000)
    const trial = sendTrial(breaker)
    breaker.failed(trial, 'a')
    breaker.succeeded(trial)
    expect(breaker.closed()).toBe(true)
  })

  test('changes nothing if `confirm` is called after the breaker opened or closed', () => {
    const { breaker, pass, confirm } = start()
    report(breaker, 'aaaaa')
    report(breaker, 'xxxxx')
    expect(breaker.closed()).toBe(false)
    confirm(false)
    pass(1_000)
    breaker.succeeded(sendTrial(breaker))
    confirm(false)
    expect(breaker.closed()).toBe(true)
  })
})
