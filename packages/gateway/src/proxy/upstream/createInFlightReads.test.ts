import { expect, test } from 'vitest'
import { createInFlightReads } from './createInFlightReads.ts'
import type { InFlightReads } from './createInFlightReads.ts'

const ofKey = (keyId: string) => ({ keyId, budget: { left: 100 }, maxResponseBytes: 100, timeoutMs: 10_000 })

/** Asks for a read that never ends; says whether it had to be begun. */
const asks = (inFlightReads: InFlightReads, keyId: string, key = 'read'): boolean => {
  let begun = false
  inFlightReads.carry(key, ofKey(keyId), {
    begin: () => {
      begun = true
      return () => {}
    },
    done: () => {},
  })
  return begun
}

test('a read is joined for as long as it may be, and then begun anew', () => {
  let at = 0
  const inFlightReads = createInFlightReads({ joinableMs: 1_000, now: () => at })
  expect(asks(inFlightReads, 'a')).toBe(true)
  at = 999
  expect(asks(inFlightReads, 'b')).toBe(false)
  at = 1_000
  expect(asks(inFlightReads, 'b')).toBe(true)
  expect(asks(inFlightReads, 'a')).toBe(false)
})

test('a read that will be given up soon is joined by nobody who has more time', () => {
  let at = 0
  const inFlightReads = createInFlightReads({ joinableMs: 2_000, now: () => at })
  const isJoined = (deadlineMs?: number): boolean =>
    inFlightReads.join('read', { ...ofKey('b'), ...(deadlineMs === undefined ? {} : { deadlineMs }) }, () => {}) !==
    undefined
  // It waited for nine of its ten seconds before it began.
  inFlightReads.carry('read', { ...ofKey('a'), deadlineMs: 1_000 }, { begin: () => () => {}, done: () => {} })
  expect([isJoined(), isJoined(2_001), isJoined(2_000)]).toEqual([false, false, true])
  at = 600
  expect([isJoined(2_000), isJoined(800)]).toEqual([false, true])
})

test('however many keys change something, none of them joins a read from before', () => {
  const inFlightReads = createInFlightReads({ joinableMs: 1_000, now: () => 0 })
  asks(inFlightReads, 'reader')
  for (let key = 0; key < 25_000; key += 1) inFlightReads.changed(`key ${key}`)
  expect(inFlightReads.join('read', ofKey('key 0'), () => {})).toBeUndefined()
  expect(inFlightReads.join('read', ofKey('key 9999'), () => {})).toBeUndefined()
  expect(inFlightReads.join('read', ofKey('key 24999'), () => {})).toBeUndefined()
})

test('whoever waits pays for the answer out of its own bytes', () => {
  const inFlightReads = createInFlightReads({ joinableMs: 1_000, now: () => 0 })
  const ends: unknown[] = []
  let finish = (): void => {}
  const value = Buffer.from('12345')
  inFlightReads.carry('read', ofKey('a'), {
    begin: ({ done }) => {
      finish = () => done({ member: 'result', value })
      return () => {}
    },
    done: (end) => ends.push(end),
  })
  const poor = { ...ofKey('b'), budget: { left: 4 } }
  const rich = { ...ofKey('c'), budget: { left: 5 } }
  inFlightReads.join('read', poor, (end) => ends.push('reason' in end ? end.reason : end))
  inFlightReads.join('read', rich, (end) => ends.push(end))
  finish()
  expect(ends).toEqual([{ member: 'result', value }, 'response_too_large', { member: 'result', value }])
  expect([poor.budget.left, rich.budget.left, inFlightReads.size()]).toEqual([4, 0, 0])
})

test('a read ends when the last of those who wait for it leaves, and leaving twice does nothing', () => {
  const inFlightReads = createInFlightReads({ joinableMs: 1_000, now: () => 0 })
  let stopped = 0
  const leaveFirst = inFlightReads.carry('read', ofKey('a'), {
    begin: () => () => {
      stopped += 1
    },
    done: () => {},
  })
  const leaveSecond = inFlightReads.join('read', ofKey('b'), () => {})
  leaveFirst()
  leaveFirst()
  expect([stopped, inFlightReads.size()]).toEqual([0, 1])
  leaveSecond?.()
  expect([stopped, inFlightReads.size()]).toEqual([1, 0])
  expect(asks(inFlightReads, 'c')).toBe(true)
})
