import { describe, expect, test } from 'vitest'
import { createIpLimit } from './createIpLimit.ts'
import { createLookUpLimit } from './createLookUpLimit.ts'
import type { LookUpDecision } from './createLookUpLimit.ts'

const start = (burst = 3) => {
  const clock = { now: 0 }
  const now = (): number => clock.now
  const unknownKeys = createIpLimit({ perSecond: 1, burst, now })
  const lookUps = createLookUpLimit({ unknownKeys, now })
  const running: (() => void)[] = []
  const rejected: number[] = []
  const enter = (ip: string): void =>
    lookUps.enter(ip, (decision: LookUpDecision) => {
      if (decision.isAllowed) running.push(decision.leave)
      else rejected.push(decision.retryAfterMs)
    })
  return { clock, unknownKeys, lookUps, running, rejected, enter }
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
})
