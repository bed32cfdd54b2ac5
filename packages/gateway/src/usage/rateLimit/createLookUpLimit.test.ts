import { describe, expect, test } from 'vitest'
import { createIpLimit } from './createIpLimit.ts'
import { createLookUpLimit } from './createLookUpLimit.ts'
import type { LookUpDecision } from './createLookUpLimit.ts'

const start = ({ burst = 3, maxWaiting }: { burst?: number; maxWaiting?: number } = {}) => {
  const clock = { now: 0 }
  const now = (): number => clock.now
  const unknownKeys = createIpLimit({ perSecond: 1, burst, now })
  const lookUps = createLookUpLimit({ unknownKeys, ...(maxWaiting === undefined ? {} : { maxWaiting }), now })
  const running: ((isFailed?: boolean) => void)[] = []
  const rejected: number[] = []
  const state = { unavailable: 0 }
  const enter = (ip: string) =>
    lookUps.enter(ip, (decision: LookUpDecision) => {
      if (decision.kind === 'allowed') running.push((isFailed = false) => decision.leave(isFailed))
      else if (decision.kind === 'limited') rejected.push(decision.retryAfterMs)
      else state.unavailable += 1
    })
  return { clock, unknownKeys, lookUps, running, rejected, state, enter }
}

describe('createLookUpLimit', () => {
  test('valid keys behind one IP wait for each other, and are all looked up', () => {
    const { enter, running, rejected, lookUps } = start()
    for (let key = 0; key < 10; key += 1) enter('192.0.2.1')
    expect([running.length, rejected.length]).toEqual([3, 0])
    for (let key = 0; key < 10; key += 1) running[key]?.()
    expect([running.length, rejected.length, lookUps.size]).toEqual([10, 0, 0])
  })

  test('the addresses of an IPv6 /64 have their look-ups together', () => {
    const { enter, running, lookUps } = start()
    for (let host = 1; host <= 10; host += 1) enter(`2001:db8::${host}`)
    expect([running.length, lookUps.size]).toEqual([3, 1])
  })

  test('an IP that sent too many unknown keys has one look-up a second', () => {
    const { enter, running, rejected, unknownKeys, clock, lookUps } = start()
    for (let key = 0; key < 100; key += 1) enter('2001:db8::1')
    for (let key = 0; key < 3; key += 1) {
      unknownKeys.take('2001:db8::2')
      running[key]?.()
    }
    // The fourth is the slow one.
    expect([running.length, rejected.length]).toEqual([4, 96])
    expect(rejected.every((retryAfterMs) => retryAfterMs > 0 && retryAfterMs <= 1_000)).toBe(true)
    unknownKeys.take('2001:db8::1')
    running[3]?.()
    enter('2001:db8::ffff')
    expect(running).toHaveLength(4)
    enter('2001:db8:0:1::1')
    expect(running).toHaveLength(5)
    running[4]?.()
    clock.now += 1_000
    unknownKeys.take('2001:db8::1')
    for (let key = 0; key < 5; key += 1) enter('2001:db8::1')
    expect(running).toHaveLength(6)
    running[5]?.()
    expect(lookUps.size).toBe(0)
  })

  test('1,000 look-ups of an IP wait while the database hangs, and more are rejected', () => {
    const { enter, running, rejected } = start()
    for (let key = 0; key < 100_000; key += 1) enter('192.0.2.1')
    expect([running.length, rejected.length]).toEqual([3, 100_000 - 3 - 1_000])
    expect(new Set(rejected)).toEqual(new Set([1_000]))
    enter('192.0.2.2')
    expect(running).toHaveLength(4)
    while (running.length > 0) running.pop()?.()
    expect(rejected).toHaveLength(100_000 - 3 - 1_000)
  })

  test('requests that are removed take no place in the queue, and are not looked up', () => {
    const { enter, running, rejected, lookUps } = start({ maxWaiting: 2 })
    const removes = Array.from({ length: 5 }, () => enter('192.0.2.1'))
    expect(removes.map((remove) => remove !== undefined)).toEqual([false, false, false, true, true])
    removes[3]?.()
    enter('192.0.2.1')
    expect(rejected).toEqual([])
    enter('192.0.2.1')
    expect(rejected).toHaveLength(1)
    removes[4]?.()
    for (let key = 0; key < running.length; key += 1) running[key]?.()
    expect([running.length, lookUps.size]).toEqual([4, 0])
  })

  test('the requests that wait fail with the first look-up that fails, and later ones are looked up again', () => {
    const { enter, running, rejected, state, lookUps } = start()
    for (let key = 0; key < 10; key += 1) enter('192.0.2.1')
    running[0]?.(true)
    expect([running.length, rejected.length, state.unavailable]).toEqual([3, 0, 7])
    running[1]?.(true)
    running[2]?.(true)
    expect(lookUps.size).toBe(0)
    enter('192.0.2.1')
    expect(running).toHaveLength(4)
  })
})
